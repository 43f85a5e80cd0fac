#include "lang/probe/argument.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr ProbeSide kInProgram{true, false, false}, kAtReturn{true, true, false},
    kInKernel{false, false, false}, kInsideKernel{false, false, true};

std::vector<ProbeArgument> parse_all(const std::string& text, ProbeSide side) {
    std::vector<Span> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        words.push_back({at, end});
        at = end + 1;
    }
    return parse_probe_arguments({"probe", text}, words, side);
}

ProbeArgument parse_argument(const std::string& text, ProbeSide side = kInProgram) {
    return parse_all(text, side).at(0);
}

// The message with its caret, and the hint.
std::string refusal_of(const std::string& text, ProbeSide side = kInProgram) {
    try {
        parse_all(text, side);
    } catch (const SourceError& e) {
        return cat(e.what(), e.hint().empty() ? "" : "\nhint: ", e.hint());
    }
    return "nothing is wrong";
}

bool has_piece(const std::string& text, const std::string& piece) {
    return text.find(piece) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(probe_arguments)

BOOST_AUTO_TEST_CASE(an_argument_is_a_name_a_fetch_and_a_type) {
    const ArgumentParts parts = split_argument("name=+0(+8(%dx)):string");
    BOOST_TEST(parts.name == "name");
    BOOST_TEST(parts.fetch == "+0(+8(%dx))");
    BOOST_TEST(parts.type == "string");
    BOOST_TEST(parts.fetch_at == 5u);
    BOOST_TEST(parts.type_at == 17u);
    const ArgumentParts bare = split_argument("%di");
    BOOST_TEST(bare.name == "");
    BOOST_TEST(bare.fetch == "%di");
    BOOST_TEST(bare.type == "");
}

BOOST_AUTO_TEST_CASE(a_fetch_is_taken_apart_from_its_inside) {
    using From = Fetch::From;
    const Fetch nested = parse_argument("a=+0x10(-8($stack)):s32").fetch;
    BOOST_TEST((nested.from == From::stack_address));
    BOOST_TEST_REQUIRE(nested.steps.size() == 2u);
    BOOST_TEST(nested.steps[0].offset == -8);
    BOOST_TEST(nested.steps[1].offset == 16);
    BOOST_TEST(parse_argument("a=+u0($stack):u8").fetch.steps.at(0).is_user);
    BOOST_TEST((parse_argument("a=$stack12").fetch.from == From::stack_word));
    BOOST_TEST(parse_argument("a=$stack12").fetch.number == 12);
    BOOST_TEST((parse_argument("a=\\-0x10:s32").fetch.from == From::constant));
    BOOST_TEST(parse_argument("a=\\-0x10:s32").fetch.number == -16);
    BOOST_TEST((parse_argument("a=$retval", kAtReturn).fetch.from == From::result));
    BOOST_TEST((parse_argument("a=$arg2", kInKernel).fetch.from == From::argument));
    BOOST_TEST((parse_argument("a=@+0x3040:s32").fetch.from == From::memory));
    BOOST_TEST((parse_argument("filp->f_flags", kInKernel).fetch.from == From::typed));
}

BOOST_AUTO_TEST_CASE(without_a_name_or_a_type_it_has_the_kernels) {
    const auto arguments = parse_all("$stack $comm", kInProgram);
    BOOST_TEST(arguments.at(0).field.name == "arg1");
    BOOST_TEST(arguments.at(0).field.type == "x64");
    BOOST_TEST(arguments.at(1).field.name == "arg2");
    BOOST_TEST(arguments.at(1).field.holds_text());
}

BOOST_AUTO_TEST_CASE(what_the_kernel_would_refuse_is_shown_where_it_is) {
    BOOST_TEST(refusal_of("a=$stack b=%nope")
                   .starts_with("probe:1:13: error: 'nope' is no register of this machine\n"
                                "a=$stack b=%nope\n"
                                "            ^~~~\n"
                                "hint: this machine has "));
    BOOST_TEST(refusal_of("a=$stack:u31") ==
               "probe:1:10: error: 'u31' is no type of a probe's field\n"
               "a=$stack:u31\n"
               "         ^~~\n"
               "hint: did you mean 'u32'?");
    BOOST_TEST(refusal_of("a=$stack:string") ==
               "probe:1:10: error: 'string' is read from memory\n"
               "a=$stack:string\n"
               "         ^~~~~~\n"
               "hint: where $stack has its address: +0($stack):string");
    BOOST_TEST(refusal_of("a=$comm:u8") ==
               "probe:1:9: error: $comm is a text, not u8\n"
               "a=$comm:u8\n"
               "        ^~\n"
               "hint: $comm alone, or $comm:string");
    BOOST_TEST(refusal_of("a=+0($stack):u8[65]") ==
               "probe:1:14: error: an array has at most 64 elements\n"
               "a=+0($stack):u8[65]\n"
               "             ^~~~~~");
    BOOST_TEST(refusal_of("a=$retval") ==
               "probe:1:3: error: $retval is there only when a function returns\n"
               "a=$retval\n"
               "  ^~~~~~~\n"
               "hint: a probe at the return begins with 'r': 'r FUNCTION …'");
    BOOST_TEST(refusal_of("a=$retvl", kAtReturn) ==
               "probe:1:3: error: '$retvl' is no variable of a probe\n"
               "a=$retvl\n"
               "  ^~~~~~\n"
               "hint: did you mean '$retval'?");
    BOOST_TEST(refusal_of("a=+8(+(%x)") ==
               "probe:1:6: error: '+(%x' reads no memory\n"
               "a=+8(+(%x)\n"
               "     ^~~~\n"
               "hint: write OFFSET(FETCH), such as +8(%di)");
    BOOST_TEST(refusal_of("a=+z($stack)") ==
               "probe:1:3: error: '+z' is no offset\n"
               "a=+z($stack)\n"
               "  ^~\n"
               "hint: such as +8 or -0x10");
    for (const char* twice : {"+-8", "--8"})
        BOOST_TEST(refusal_of(cat("a=", twice, "($stack)"))
                       .starts_with(cat("probe:1:3: error: '", twice, "' is no offset\n")));
    BOOST_TEST(refusal_of("a=\\--5").starts_with("probe:1:3: error: '\\--5' is no constant\n"));
    BOOST_TEST(refusal_of("a=\\-9223372036854775808")
                   .starts_with("probe:1:3: error: '\\-9223372036854775808' is no constant\n"));
    BOOST_TEST(refusal_of("a=$stack a=$stack1") ==
               "probe:1:10: error: there is an argument 'a' already\n"
               "a=$stack a=$stack1\n"
               "         ^~~~~~~~~");
    BOOST_TEST(refusal_of("common_pid=$stack") ==
               "probe:1:1: error: 'common_pid' is a field of every such event\n"
               "common_pid=$stack\n"
               "^~~~~~~~~~\n"
               "hint: take another name");
    BOOST_TEST(refusal_of("9a=$stack") ==
               "probe:1:1: error: '9a' cannot name an argument\n"
               "9a=$stack\n"
               "^~\n"
               "hint: letters, digits and '_', with no digit first");
    BOOST_TEST(refusal_of("a=") ==
               "probe:1:1: error: 'a=' reads nothing\n"
               "a=\n"
               "^~\n"
               "hint: write NAME=FETCH:TYPE, such as bytes=%dx:u64");
}

BOOST_AUTO_TEST_CASE(what_only_the_kernel_has_is_refused_in_a_program) {
    BOOST_TEST(refusal_of("a=$stack:symbol") ==
               "probe:1:10: error: 'symbol' names places in the kernel\n"
               "a=$stack:symbol\n"
               "         ^~~~~~\n"
               "hint: in a program, x64 shows the address");
    BOOST_TEST(has_piece(refusal_of("a=$arg1"),
                         "the kernel knows the arguments of its own functions only"));
    BOOST_TEST(
        has_piece(refusal_of("a=@jiffies"), "does not know the names of a program's variables"));
    BOOST_TEST(refusal_of("a=$arg1", kInKernel) == "nothing is wrong");
    BOOST_TEST(refusal_of("a=@jiffies:u64", kInKernel) == "nothing is wrong");
    BOOST_TEST(refusal_of("a=$stack:symbol", kInKernel) == "nothing is wrong");
    BOOST_TEST(has_piece(refusal_of("a=$arg1", kInsideKernel),
                         "arguments are known only where the function begins"));
    BOOST_TEST(has_piece(refusal_of("a=@+16", kInKernel), "the kernel has no file"));
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(a_registers_other_names_lead_to_the_kernels) {
    BOOST_TEST(
        refusal_of("a=%rdi") ==
        "probe:1:4: error: 'rdi' is no register of this machine\n"
        "a=%rdi\n"
        "   ^~~\n"
        "hint: the kernel calls the whole register %di; a type takes its lower part: %di:u32");
    BOOST_TEST(parse_argument("a=%di").fetch.name == "di");
    BOOST_TEST(has_piece(refusal_of("a=$arg3"), "$arg3 is %dx"));
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
