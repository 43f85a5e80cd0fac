#define BOOST_TEST_DYN_LINK
#include "lang/probe/variable_path.h"

#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

VariablePath parse(const std::string& text) {
    const SourceText source{"probe", text};
    return parse_variable_path(source, {0, text.size()});
}

// "req ->parts [2] .len *": the variable and the steps, in the order in which they are taken.
std::string steps(const std::string& text) {
    using Kind = VariablePath::Step::Kind;
    const VariablePath path = parse(text);
    std::string all = path.variable;
    for (const VariablePath::Step& step : path.steps) {
        const char* mark = step.kind == Kind::member    ? " ."
                           : step.kind == Kind::through ? " ->"
                                                        : "";
        all += step.kind == Kind::element  ? cat(" [", step.number, "]")
               : step.kind == Kind::target ? " *"
                                           : cat(mark, step.name);
    }
    return all;
}

std::string refusal(const std::string& text) {
    try {
        parse(text);
    } catch (const SourceError& e) {
        return cat(e.at().begin, "-", e.at().end, " ", e.message(), "; ", e.hint());
    }
    return "";
}

BOOST_AUTO_TEST_SUITE(lang_probe)

BOOST_AUTO_TEST_CASE(a_path_is_a_variable_and_the_steps_from_it) {
    BOOST_TEST(steps("count") == "count");
    BOOST_TEST(steps("req->parts[2].len") == "req ->parts [2] .len");
    BOOST_TEST(steps("**head.next") == "head .next * *");
    BOOST_TEST(steps("ns::Table::rows[1]->id") == "ns::Table::rows [1] ->id");
}

BOOST_AUTO_TEST_CASE(a_field_is_named_for_the_last_member_unless_it_has_a_name) {
    BOOST_TEST(parse("req->len").field == "len");
    BOOST_TEST(parse("ns::count").field == "count");
    BOOST_TEST(parse("table[1][2]").field == "table_1_2");
    BOOST_TEST(parse("*text").field == "text");
    const VariablePath named = parse("bytes=req->len:u32");
    BOOST_TEST(named.field == "bytes");
    BOOST_TEST(named.type == "u32");
    BOOST_TEST((named.expression_at == Span{6, 14}));
    BOOST_TEST(parse("ns::flags:x8").type == "x8");
    BOOST_TEST(parse("a_name_that_is_longer_than_what_the_kernel_takes").field ==
               "a_name_that_is_longer_than_what");
}

BOOST_AUTO_TEST_CASE(what_reads_registers_and_memory_is_no_path) {
    for (const char* text :
         {"%di", "a=%di", "+0(%si):string", "$retval", "@+0x10", "\\5", "a=-8(%bp)"})
        BOOST_TEST(!is_variable_path(text), text);
    for (const char* text : {"di", "a=req->len", "*text", "ns::flags:x8"})
        BOOST_TEST(is_variable_path(text), text);
}

BOOST_AUTO_TEST_CASE(a_mistake_in_a_path_is_shown_where_it_is) {
    BOOST_TEST(refusal("req->") == "3-5 there is no name of a member behind it; such as req->len");
    BOOST_TEST(refusal("table[i]") == "5-8 an element is named by a number; such as table[3]");
    BOOST_TEST(refusal("table[3") == "5-7 an element is named by a number; such as table[3]");
    BOOST_TEST(refusal("len+1") ==
               "3-5 '+1' is not understood here; write names with '->', '.' and [NUMBER]: "
               "req->parts[2].len");
    BOOST_TEST(refusal("len:") == "3-4 there is no type behind the ':'; such as len:u32");
    BOOST_TEST(refusal("*3") ==
               "1-2 there is no name of a variable here; such as count, req->len or "
               "table[3].name");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
