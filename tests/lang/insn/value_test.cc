#include "lang/insn/value.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

const AsmNames kValueNames{[](const NameUse& use) {
                               if (use.name == "key.pid") return NameMeaning::of_number(4);
                               if (use.name == "sizeof" && use.argument == "key")
                                   return NameMeaning::of_number(24);
                               Relocation later;
                               later.name = use.name;
                               later.kind = Relocation::Kind::parameter;
                               if (use.name == "min_us") return NameMeaning::of_later(later);
                               if (!use.name.starts_with('@')) return NameMeaning{};
                               later.kind = use.argument.empty() ? Relocation::Kind::field_offset
                                                                 : Relocation::Kind::field_size;
                               later.name.erase(0, 1);
                               return NameMeaning::of_later(later);
                           },
                           [] {
                               return std::vector<std::string>{"key.pid", "key.cpu", "min_us"};
                           }};

AsmValue parsed_value(const std::string& text) {
    const SourceText source{"test", text};
    AsmTokens tokens(source, {0, text.size()});
    AsmValue value = parse_asm_value(tokens, kValueNames);
    tokens.expect_end();
    return value;
}
std::string number(const std::string& text) {
    return to_text(parsed_value(text).number);
}
std::string mistake_of_value(const std::string& text) {
    try {
        return cat("is ", number(text));
    } catch (const SourceError& e) {
        return e.hint().empty() ? e.what() : cat(e.what(), "\nhint: ", e.hint());
    }
}

BOOST_AUTO_TEST_SUITE(bpf_value)

BOOST_AUTO_TEST_CASE(expressions_have_the_values_that_C_gives_them) {
    struct {
        const char *text, *value;
    } const cases[] = {
        {"1+2*3", "7"},
        {"(1+2)*3", "9"},
        {"7-2-1", "4"},
        {"100/7/2", "7"},
        {"-7/2", "-3"},
        {"-7%3", "-1"},
        {"1<<4|3", "19"},
        {"0xff&(0x3c|1)", "61"},
        {"~0", "-1"},
        {"~~5", "5"},
        {"-(3)", "-3"},
        {"--3", "3"},
        {"5*-2", "-10"},
        {"(1<<3)-1", "7"},
        {"0x10^0x1", "17"},
        {"0x80000000>>31", "1"},
        {"1<<63", "9223372036854775808"},
        {"0xffffffffffffffff", "18446744073709551615"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615-1", "18446744073709551614"},
        {"0XfF", "255"},
        {"key.pid+1", "5"},
        {"sizeof(key)*2", "48"},
        {" ( 2 ) ", "2"},
    };
    for (const auto& [text, value] : cases) BOOST_TEST(number(text) == value, text);
}

BOOST_AUTO_TEST_CASE(neighbours_that_C_and_LLVM_group_differently_want_parentheses) {
    for (const char* text :
         {"1<<2+1", "1+2<<1", "1+2&3", "1|2+3", "1&2|3", "1^2&3", "2*3<<1", "1<<2*3"})
        BOOST_TEST(mistake_of_value(text).find("this needs parentheses") != std::string::npos,
                   text);
    for (const char* text : {"1+2*3", "1*2|3", "1<<2|3", "1<<2&3", "1*2+3", "1+(2<<1)", "6/2*3"})
        BOOST_CHECK_NO_THROW(parsed_value(text));
    BOOST_TEST(mistake_of_value("4+1<<2") ==
               "test:1:4: error: this needs parentheses\n"
               "4+1<<2\n"
               "   ^~\n"
               "hint: C and LLVM's assembler would group it differently");
}

BOOST_AUTO_TEST_CASE(a_name_that_is_known_later_may_move_by_a_number) {
    const AsmValue field = parsed_value("@next_pid + 4*2 - 1");
    BOOST_TEST_REQUIRE(field.later.has_value());
    BOOST_TEST((field.later->kind == Relocation::Kind::field_offset));
    BOOST_TEST(field.later->name == "next_pid");
    BOOST_TEST(to_text(field.number) == "7");
    BOOST_TEST(field.later_span.end == 9u);
    const AsmValue other_way = parsed_value("8 + min_us");
    BOOST_TEST((other_way.later->kind == Relocation::Kind::parameter));
    BOOST_TEST(to_text(other_way.number) == "8");
    BOOST_TEST((parsed_value("@comm(size)").later->kind == Relocation::Kind::field_size));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_known_later_may_not_be_computed_with) {
    BOOST_TEST(mistake_of_value("2 * min_us") ==
               "test:1:5: error: 'min_us' is not known yet and cannot be combined by '*'\n"
               "2 * min_us\n"
               "    ^~~~~~\n"
               "hint: it may stand alone, or with a number added to it");
    for (const char* text : {"-min_us", "~min_us", "5 - min_us", "min_us + min_us", "@a & 3"})
        BOOST_TEST(mistake_of_value(text).find("is not known yet") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(mistakes_are_shown_where_they_are) {
    struct {
        const char *text, *message;
    } const cases[] = {
        {"1 +", "test:1:4: error: expected a number, found the end of the line\n1 +\n   ^"},
        {"(1 + 2", "test:1:7: error: expected ')', found the end of the line\n(1 + 2\n      ^"},
        {"7 7", "test:1:3: error: expected the end of the line, found '7'\n7 7\n  ^"},
        {"1/(2-2)", "test:1:3: error: division by zero\n1/(2-2)\n  ^~~~~"},
        {"5 % 0", "test:1:5: error: division by zero\n5 % 0\n    ^"},
        {"1 << 64", "test:1:6: error: a shift moves by 0 to 63 bits\n1 << 64\n     ^~"},
        {"-8 >> 1",
         "test:1:4: error: a negative number is not shifted right\n-8 >> 1\n   ^~\n"
         "hint: C keeps its sign and LLVM's assembler does not; divide instead"},
        {"0xffffffffffffffff + 1",
         "test:1:1: error: the value does not fit 64 bits\n0xffffffffffffffff + 1\n"
         "^~~~~~~~~~~~~~~~~~~~~~"},
        {"-0xffffffffffffffff",
         "test:1:1: error: the value does not fit 64 "
         "bits\n-0xffffffffffffffff\n^~~~~~~~~~~~~~~~~~~"},
        {"0xffffffffffffffff * 0xffffffffffffffff",
         "test:1:20: error: the value does not fit 64 bits\n"
         "0xffffffffffffffff * 0xffffffffffffffff\n                   ^"},
        {"0x10000000000000000",
         "test:1:1: error: '0x10000000000000000' does not fit 64 bits\n0x10000000000000000\n"
         "^~~~~~~~~~~~~~~~~~~"},
        {"12ab", "test:1:1: error: '12ab' is neither a number nor a name\n12ab\n^~~~"},
        {"0x5ll",
         "test:1:1: error: '0x5ll' is neither a number nor a name\n0x5ll\n^~~~~\n"
         "hint: a blank belongs in front of 'll'"},
        {"0x", "test:1:1: error: '0x' is neither a number nor a name\n0x\n^~"},
        {"010",
         "test:1:1: error: '010' begins with 0\n010\n^~~\n"
         "hint: LLVM would read it as octal; write it in decimal or with 0x"},
        {"r2 + 1", "test:1:1: error: 'r2' is a register; a number belongs here\nr2 + 1\n^~"},
        {"key.pd",
         "test:1:1: error: no constant is named 'key.pd'\nkey.pd\n^~~~~~\n"
         "hint: did you mean 'key.pid'?"},
        {"sizeof(val)",
         "test:1:1: error: no constant is named 'sizeof(val)'\nsizeof(val)\n^~~~~~~~~~~"},
        {"1 + @", "test:1:5: error: expected a field's name behind '@'\n1 + @\n    ^"},
    };
    for (const auto& [text, message] : cases) BOOST_TEST(mistake_of_value(text) == message);
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused_and_long_chains_are_not) {
    BOOST_CHECK_NO_THROW(parsed_value(std::string(64, '(') + "1" + std::string(64, ')')));
    BOOST_TEST(mistake_of_value(std::string(100000, '(')).find("too many parentheses") !=
               std::string::npos);
    BOOST_TEST(number(std::string(100000, '-') + "1") == "1");
    std::string sum = "0";
    for (int i = 0; i < 10000; ++i) sum += "+1";
    BOOST_TEST(number(sum) == "10000");
}

BOOST_AUTO_TEST_CASE(tokens_know_their_places_and_comments_end_them) {
    const SourceText source{"test", "  if r1 s>>= \"a b\" @pid ; words # more\nnext"};
    AsmTokens tokens(source, {0, source.text.size()});
    BOOST_TEST(tokens.next().span.begin == 2u);
    BOOST_TEST(tokens.next().text == "r1");
    BOOST_TEST(tokens.next().text == "s");
    BOOST_TEST(tokens.peek().glued);
    BOOST_TEST(tokens.next().text == ">>=");
    const AsmToken text = tokens.next();
    BOOST_TEST((text.kind == AsmToken::Kind::text));
    BOOST_TEST(text.text == "a b");
    BOOST_TEST(tokens.text_of(text.span) == "\"a b\"");
    BOOST_TEST(tokens.next().text == "@pid");
    BOOST_TEST(tokens.text_of(tokens.comment()) == " words # more");
    BOOST_TEST(tokens.next().text == "next");
    BOOST_TEST(tokens.at_end());
}

BOOST_AUTO_TEST_CASE(a_quote_must_be_closed_in_its_line) {
    BOOST_TEST(mistake_of_value("\"abc") ==
               "test:1:1: error: this quote is never closed\n\"abc\n^");
    BOOST_TEST(mistake_of_value("\"abc\\\"") ==
               "test:1:1: error: this quote is never closed\n\"abc\\\"\n^");
    BOOST_TEST(mistake_of_value("\"abc\\") ==
               "test:1:1: error: this quote is never closed\n\"abc\\\n^");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
