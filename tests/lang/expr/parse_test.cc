#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

#include "base/cat.h"
#include "lang/expr/expr.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

namespace data = boost::unit_test::data;
using Kind = ExprNode::Kind;

ExprNode parse(std::string_view text) {
    return parse_expression({"--if", std::string(text)}).root;
}

// The tree with all its parentheses: (a && (b || c)).
std::string shape(const ExprNode& node) {
    if (node.kind == Kind::predicate) return node.predicate.field;
    if (node.kind == Kind::negation) return cat('!', shape(node.terms.at(0)));
    std::string out;
    for (const ExprNode& term : node.terms) {
        if (!out.empty()) out += node.kind == Kind::all_of ? " && " : " || ";
        out += shape(term);
    }
    return cat('(', out, ')');
}

BOOST_AUTO_TEST_SUITE(expr_parse)

struct Shape {
    const char *text, *shape;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
    return out << s.text;
}
const Shape kShapes[] = {
    {"a == 1", "a"},
    {"a == 1 && b == 2", "(a && b)"},
    {"a == 1 || b == 2 && c == 3", "(a || (b && c))"},
    {"a == 1 && b == 2 || c == 3", "((a && b) || c)"},
    {"a == 1 && b == 2 || c == 3 && d == 4", "((a && b) || (c && d))"},
    {"(a == 1 || b == 2) && c == 3", "((a || b) && c)"},
    {"a == 1 && b == 2 && c == 3", "(a && b && c)"},
    {"a == 1 && (b == 2 && c == 3)", "(a && b && c)"},
    {"((a == 1 || b == 2) || c == 3)", "(a || b || c)"},
    {"!a == 1 && b == 2", "(!a && b)"},
    {"!(a == 1 && b == 2)", "!(a && b)"},
    {"!(a == 1) || b == 2", "(!a || b)"},
    {"! ! a == 1", "!!a"},
    {"a&1&&b&2||c~x*", "((a && b) || c)"},
    {"((((a == 1))))", "a"},
    {"\n a\n==\n\t1 &&\n b == 2 ", "(a && b)"},
};
BOOST_DATA_TEST_CASE(and_binds_tighter_than_or_and_not_tightest, data::make(kShapes), c) {
    BOOST_TEST(shape(parse(c.text)) == c.shape);
}

BOOST_AUTO_TEST_CASE(every_operator_is_read) {
    const std::pair<std::string_view, CompareOp> ops[] = {
        {"==", CompareOp::eq},     {"!=", CompareOp::ne},  {"<", CompareOp::lt},
        {"<=", CompareOp::le},     {">", CompareOp::gt},   {">=", CompareOp::ge},
        {"&", CompareOp::bit_and}, {"~", CompareOp::glob},
    };
    for (const auto& [word, op] : ops) {
        BOOST_TEST((parse(cat("a ", word, " 1")).predicate.op == op));
        BOOST_TEST((parse(cat("a", word, "1")).predicate.op == op));
        BOOST_TEST(to_text(op) == word);
    }
}

struct Value {
    const char* text;
    std::uint64_t magnitude;
    bool is_negative;
};
std::ostream& operator<<(std::ostream& out, const Value& v) {
    return out << v.text;
}
const Value kNumbers[] = {
    {"0", 0, false},
    {"-0", 0, false},
    {"42", 42, false},
    {"-42", 42, true},
    {"0x1F", 31, false},
    {"0X1f", 31, false},
    {"-0x10", 16, true},
    {"017", 15, false},
    {"00", 0, false},
    {"18446744073709551615", ~std::uint64_t{0}, false},
    {"0xffffffffffffffff", ~std::uint64_t{0}, false},
    {"01777777777777777777777", ~std::uint64_t{0}, false},
    {"-9223372036854775808", std::uint64_t{1} << 63, true},
};
BOOST_DATA_TEST_CASE(numbers_are_read_in_three_bases, data::make(kNumbers), c) {
    const Literal value = parse(cat("a == ", c.text)).predicate.value;
    BOOST_TEST((value.kind == Literal::Kind::number));
    BOOST_TEST(value.magnitude == c.magnitude);
    BOOST_TEST(value.is_negative == c.is_negative);
    BOOST_TEST(value.text == c.text);
}

struct Text {
    const char *text, *value;
    bool is_quoted;
};
std::ostream& operator<<(std::ostream& out, const Text& t) {
    return out << t.text;
}
const Text kTexts[] = {
    {"\"kworker/0:1 x\"", "kworker/0:1 x", true},
    {"'it has \"these\"'", "it has \"these\"", true},
    {"\"it's\"", "it's", true},
    {"\"\"", "", true},
    {"\"a\\b\"", "a\\b", true},
    {"\"a && (b\"", "a && (b", true},
    {"\"12\"", "12", true},
    {"bash", "bash", false},
    {"kworker/0:1", "kworker/0:1", false},
    {"*ba[sz]h?", "*ba[sz]h?", false},
    {"0000:0b:00.0", "0000:0b:00.0", false},
    {"12ab", "12ab", false},
    {"08", "08", false},
    {"0x", "0x", false},
    {"-", "-", false},
    {"--1", "--1", false},
    {"größe", "größe", false},
    {"CPUSET", "CPUSET", false},
};
BOOST_DATA_TEST_CASE(texts_are_quoted_or_bare, data::make(kTexts), c) {
    const Literal value = parse(cat("a == ", c.text)).predicate.value;
    BOOST_TEST((value.kind == Literal::Kind::text));
    BOOST_TEST(value.text == c.value);
    BOOST_TEST(value.is_quoted == c.is_quoted);
}

BOOST_AUTO_TEST_CASE(a_bare_text_ends_at_a_parenthesis_or_a_connective) {
    BOOST_TEST(shape(parse("(a == x)&&b == y||c==z")) == "((a && b) || c)");
    BOOST_TEST(parse("(a == x)").predicate.value.text == "x");
}

BOOST_AUTO_TEST_CASE(suffixes_and_cpu_lists_are_read) {
    const Predicate p = parse("filename.ustring ~ \"/etc/*\"").predicate;
    BOOST_TEST(p.field == "filename");
    BOOST_TEST(p.suffix == "ustring");
    BOOST_TEST(p.suffix_span.begin == 8u);
    BOOST_TEST(p.suffix_span.end == 16u);
    BOOST_TEST(parse("ip.function==schedule").predicate.suffix == "function");
    const Literal cpus = parse("CPU & CPUS{0-3, 7}").predicate.value;
    BOOST_TEST((cpus.kind == Literal::Kind::cpu_list));
    BOOST_TEST(cpus.text == "0-3, 7");
}

BOOST_AUTO_TEST_CASE(spans_cover_what_was_written) {
    const std::string text = "ok == 1 && name ~ \"x y\"";
    const ExprNode root = parse(text);
    const Predicate& p = root.terms.at(1).predicate;
    const auto at = [&](Span s) { return text.substr(s.begin, s.end - s.begin); };
    BOOST_TEST(at(p.field_span) == "name");
    BOOST_TEST(at(p.op_span) == "~");
    BOOST_TEST(at(p.value.span) == "\"x y\"");
}

BOOST_AUTO_TEST_CASE(fields_are_listed_once_and_without_those_of_every_event) {
    const Expression e = parse_expression(
        {"--if",
         "b == 1 && (a == 2 || b == 3) && CPU == 1 && common_pid == 4 && COMM == x && c ~ y"});
    BOOST_TEST(fields_of(e) == (std::vector<std::string>{"b", "a", "c"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(equality_is_about_meaning) {
    BOOST_TEST((parse("a==0x10&&b=='x'") == parse(" a == 16 && b == \"x\"")));
    BOOST_TEST((parse("b == x") == parse("b == 'x'")));
    BOOST_TEST(!(parse("a == 1 && b == 2") == parse("b == 2 && a == 1")));
    BOOST_TEST(!(parse("a == 1") == parse("a == -1")));
    BOOST_TEST(!(parse("a == 1") == parse("a == \"1\"")));
    BOOST_TEST(!(parse("a == 1") == parse("a != 1")));
    BOOST_TEST(!(parse("a.ustring == x") == parse("a == x")));
}

BOOST_AUTO_TEST_CASE(cpu_lists_have_numbers_ranges_and_strides) {
    const auto cpus = [](std::string_view list) {
        std::string out;
        const auto found = parse_kernel_cpu_list(list);
        if (!found) return std::string("none");
        for (std::size_t i = 0; i < found->size(); ++i)
            if ((*found)[i]) out += cat(i, ' ');
        return out;
    };
    BOOST_TEST(cpus("0") == "0 ");
    BOOST_TEST(cpus("0-3,7") == "0 1 2 3 7 ");
    BOOST_TEST(cpus(" 7, 1 3,") == "1 3 7 ");
    BOOST_TEST(cpus("0-9:2/4") == "0 1 4 5 8 9 ");
    BOOST_TEST(cpus("5,5-5") == "5 ");
    BOOST_TEST(cpus("8191").size() == 5u);
    for (const char* bad :
         {"", " ", ",", "x", "1-", "-1", "3-1", "8192", "1-2:", "1-2:1", "1-2:3/2", "1-2:0/0",
          "0-3:0/2", "all", "N", "0-N", "1;2", "0x1", "1-2-3"})
        BOOST_TEST(cpus(bad) == "none", bad);
}

// Each mistake, its mark under the text, the message and the hint.
struct Mistake {
    std::string_view text, mark, message, hint;
};
std::ostream& operator<<(std::ostream& out, const Mistake& m) {
    return out << m.text;
}
const Mistake kMistakes[] = {
    {"", "^", "the condition is empty",
     "a condition is FIELD OPERATOR VALUE, for example prev_state == 2"},
    {"   ", "^", "the condition is empty",
     "a condition is FIELD OPERATOR VALUE, for example prev_state == 2"},
    // what is missing
    {"a", "^", "'a' is not compared with anything", "write for example a != 0"},
    {"!a", " ^", "'a' is not compared with anything", "write for example a == 0"},
    {"a.ustring", "^~~~~~~~~", "'a' is not compared with anything",
     "the operators are == != < <= > >= & ~"},
    {"a == 1 && b", "          ^", "'b' is not compared with anything", "write for example b != 0"},
    {"(a)", " ^", "'a' is not compared with anything", "write for example a != 0"},
    {"a ==", "  ^~", "a value is missing after '=='", ""},
    {"a == && b == 1", "  ^~", "a value is missing after '=='", ""},
    {"(a == )", "   ^~", "a value is missing after '=='", ""},
    {"a &", "  ^", "a value is missing after '&'", ""},
    {"a == 1 &&", "       ^~", "a condition is missing after '&&'", ""},
    {"a == 1 || ", "       ^~", "a condition is missing after '||'", ""},
    {"a == 1 && && b == 1", "       ^~", "a condition is missing after '&&'", ""},
    {"a == 1 && || b == 1", "       ^~", "a condition is missing after '&&'", ""},
    {"(a == 1 &&)", "        ^~", "a condition is missing after '&&'", ""},
    {"(&& a == 1)", "^", "a condition is missing after '('", ""},
    {"&& a == 1", "^~", "a condition is missing before '&&'", ""},
    {"|| a == 1", "^~", "a condition is missing before '||'", ""},
    {"!", "^", "a condition is missing after '!'", ""},
    {"()", "^~", "there is no condition in the parentheses", ""},
    {"( )", "^~~", "there is no condition in the parentheses", ""},
    {"a == 1 && ()", "          ^~", "there is no condition in the parentheses", ""},
    {"(a == 1", "^", "this '(' is never closed", "add a ')'"},
    {"(a == 1 && (b == 2)", "^", "this '(' is never closed", "add a ')'"},
    {"((a == 1)", "^", "this '(' is never closed", "add a ')'"},
    {"a == 1)", "      ^", "this ')' closes nothing", ""},
    {"(a == 1))", "        ^", "this ')' closes nothing", ""},
    {")", "^", "this ')' closes nothing", ""},
    {R"(a == "x)", "     ^", "this quote is never closed", R"(add a ")"},
    {R"(a == 'x")", "     ^", "this quote is never closed", "add a '"},
    {R"(a == ""x)", "       ^", "&& or || was expected, not 'x'", ""},
    // the wrong operator
    {"a = 1", "  ^", "'=' is no operator here", "write == to compare"},
    {"a=1", " ^", "'=' is no operator here", "write == to compare"},
    {R"(a =~ "x")", "  ^~", "'=~' is no operator here", "write ~ to compare with a pattern"},
    {R"(a !~ "x")", "  ^~", "'!~' is no operator here", "write !(FIELD ~ PATTERN)"},
    {"a => 1", "  ^~", "'=>' is no operator here", "write >="},
    {"a =< 1", "  ^~", "'=<' is no operator here", "write <="},
    {"a <> 1", "  ^~", "'<>' is no operator here", "write != for 'is not'"},
    {"a is 1", "  ^~", "an operator was expected after 'a', not 'is'",
     "the operators are == != < <= > >= & ~"},
    {"a 1", "  ^", "an operator was expected after 'a', not '1'",
     "the operators are == != < <= > >= & ~"},
    {R"(a "x")", "  ^", R"(an operator was expected after 'a', not '"')",
     "the operators are == != < <= > >= & ~"},
    {"a + 1 == 2", "  ^", "an operator was expected after 'a', not '+'",
     "the operators are == != < <= > >= & ~"},
    {"a ^ 1", "  ^", "an operator was expected after 'a', not '^'",
     "the operators are == != < <= > >= & ~"},
    {"a == 1 | b == 1", "       ^", "'|' is no operator here", "write ||"},
    {"a == 1 & b == 1", "       ^", "'&' cannot join conditions", "write &&"},
    {"a == 1 and b == 1", "       ^~~", "'and' is no operator here", "write &&"},
    {"a == 1 OR b == 1", "       ^~", "'OR' is no operator here", "write ||"},
    {"not a == 1", "^~~", "'not' is no operator here", "write !"},
    {"not (a == 1)", "^~~", "'not' is no operator here", "write !"},
    {"NOT a == 1", "^~~", "'NOT' is no operator here", "write !"},
    {"a === 1", "    ^", "a value was expected after '==', not '='", ""},
    {"a & 3 == 1", "      ^~", "'==' cannot follow an &",
     "FIELD & VALUE is true when any of the bits is set"},
    {"(a & 3) == 1", "        ^~", "'==' cannot follow an &",
     "FIELD & VALUE is true when any of the bits is set"},
    {"1 < a < 3", "^", "a field's name was expected, not '1'", "write a > 1"},
    {"a < 3 < 4", "      ^", "a comparison cannot follow a comparison",
     "join two conditions with &&"},
    {"a == 1 b == 1", "       ^", "&& or || was expected, not 'b'", ""},
    {"a == 1 (b == 1)", "       ^", "&& or || was expected, not '('", ""},
    {"a == 1 ! b == 1", "       ^", "&& or || was expected, not '!'", ""},
    // the wrong order
    {"2 == a", "^", "a field's name was expected, not '2'", "write a == 2"},
    {"2 < a", "^", "a field's name was expected, not '2'", "write a > 2"},
    {"-1 >= a", "^~", "a field's name was expected, not '-1'", "write a <= -1"},
    {R"("x" == a)", "^", R"(a field's name was expected, not '"')", R"(write a == "x")"},
    {"'x' ~ a", "^", "a field's name was expected, not '''", "write a ~ 'x'"},
    {"2", "^", "a field's name was expected, not '2'", "a condition begins with the field's name"},
    {R"("x")", "^", R"(a field's name was expected, not '"')",
     "a condition begins with the field's name"},
    {"2 == 3", "^", "a field's name was expected, not '2'",
     "a condition begins with the field's name"},
    // what does not belong here
    {"a == 1;", "      ^", "&& or || was expected, not ';'", ""},
    {"a == 1 }", "       ^", "&& or || was expected, not '}'", ""},
    {"a == {1}", "     ^", "a value was expected after '==', not '{'",
     "put quotes around a text with spaces or other signs in it"},
    {"$a == 1", "^", "a field's name was expected, not '$'",
     "a field has no '$' in front: retval, arg0"},
    {"@a == 1", "^", "a field's name was expected, not '@'", ""},
    {"ä == 1", "^~", "a field's name was expected, not 'ä'", ""},
    {"a == “x”", "     ^~~", "'“' is no quote here", R"(write " around a text)"},
    {"a == ‘x’", "     ^~~", "'‘' is no quote here", R"(write " around a text)"},
    {"a == my app", "        ^~~", "&& or || was expected, not 'app'",
     "put quotes around a text with spaces or other signs in it"},
    {"a == x;", "      ^", "&& or || was expected, not ';'",
     "put quotes around a text with spaces or other signs in it"},
    {"a == (1)", "     ^", "a value was expected after '==', not '('",
     "put quotes around a text with spaces or other signs in it"},
    {"a == !1", "     ^", "a value was expected after '==', not '!'",
     "put quotes around a text with spaces or other signs in it"},
    {"a ~ !x*", "    ^", "a value was expected after '~', not '!'",
     "put quotes around a text with spaces or other signs in it"},
    {", a == 1", "^", "a field's name was expected, not ','", ""},
    {"a.execname == 1", " ^~~~~~~~~", "'.execname' is unknown behind a field",
     "there are .ustring (text in user memory) and .function (an address)"},
    {"a. == 1", " ^", "'.' is unknown behind a field",
     "there are .ustring (text in user memory) and .function (an address)"},
    {"a.ustring.function == 1", "         ^", "an operator was expected after 'a', not '.'",
     "the operators are == != < <= > >= & ~"},
    {R"(a .ustring == "x")", "  ^", "an operator was expected after 'a', not '.'",
     "the operators are == != < <= > >= & ~"},
    // numbers and CPUs
    {"a == 18446744073709551616", "     ^~~~~~~~~~~~~~~~~~~~",
     "18446744073709551616 does not fit in 64 bits", ""},
    {"a == -9223372036854775809", "     ^~~~~~~~~~~~~~~~~~~~",
     "-9223372036854775809 does not fit in 64 bits", ""},
    {"a == 0x10000000000000000", "     ^~~~~~~~~~~~~~~~~~~",
     "0x10000000000000000 does not fit in 64 bits", ""},
    {"a == CPUS", "     ^~~~", "CPUS needs a list in braces", "for example CPUS{0-3,7}"},
    {"a == CPUS {0}", "     ^~~~", "CPUS needs a list in braces", "for example CPUS{0-3,7}"},
    {"a == CPUS{0", "         ^", "this '{' is never closed", "add a '}'"},
    {"a == CPUS{}", "     ^~~~~~", "'' is not a list of CPUs",
     "write CPUs as numbers and ranges: CPUS{0-3,7}"},
    {"a == CPUS{0-}", "     ^~~~~~~~", "'0-' is not a list of CPUs",
     "write CPUs as numbers and ranges: CPUS{0-3,7}"},
    {"a == CPUS{all}", "     ^~~~~~~~~", "'all' is not a list of CPUs",
     "write CPUs as numbers and ranges: CPUS{0-3,7}"},
    {"a == CPUS{0}1", "            ^", "&& or || was expected, not '1'", ""},
};
BOOST_DATA_TEST_CASE(a_mistake_is_shown_under_the_text, data::make(kMistakes), c) {
    BOOST_CHECK_EXCEPTION(parse(c.text), SourceError, [&](const SourceError& e) {
        BOOST_TEST(e.what() == cat("--if:1:", c.mark.find('^') + 1, ": error: ", c.message, '\n',
                                   c.text, '\n', c.mark));
        BOOST_TEST(e.hint() == c.hint);
        return true;
    });
}

BOOST_AUTO_TEST_CASE(a_mistake_on_a_later_line_is_shown_there) {
    BOOST_CHECK_EXCEPTION(parse("a == 1 &&\n\tb = 2\n"), SourceError, [](const SourceError& e) {
        BOOST_TEST(e.what() ==
                   "--if:2:4: error: '=' is no operator here\n"
                   "\tb = 2\n"
                   "\t  ^");
        return true;
    });
}

BOOST_AUTO_TEST_CASE(a_nul_byte_is_refused) {
    const std::string text("a == \"x\0y\"", 10);
    BOOST_CHECK_THROW(parse(text), SourceError);
}

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "a == 1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

BOOST_AUTO_TEST_CASE(nesting_ends_at_64) {
    BOOST_TEST(shape(parse(nested(64, "(", ")"))) == "a");
    BOOST_TEST(shape(parse(nested(64, "!", ""))).size() == 65u);
    BOOST_TEST(shape(parse(nested(32, "!(", ")"))).size() == 33u);
    const auto is_limit = [](const SourceError& e) {
        const std::string_view what = e.what();
        return what.starts_with("--if:1:65: error: parentheses and ! nest deeper than 64\n");
    };
    BOOST_CHECK_EXCEPTION(parse(nested(65, "(", ")")), SourceError, is_limit);
    BOOST_CHECK_EXCEPTION(parse(nested(65, "!", "")), SourceError, is_limit);
    BOOST_CHECK_EXCEPTION(parse(nested(33, "!(", ")")), SourceError, is_limit);
    BOOST_CHECK_EXCEPTION(parse(std::string(1'000'000, '(')), SourceError, is_limit);
}

// Quadratic work on this would take minutes.
BOOST_AUTO_TEST_CASE(long_conditions_are_read_in_linear_time) {
    std::string text = "a == 1";
    for (int i = test::rounds(100'000); i > 0; --i)
        text += i % 3 == 0 ? " || b ~ x*" : " && (c == 2 && d != 3)";
    BOOST_TEST((parse(text).kind == Kind::any_of));
    BOOST_CHECK_THROW(parse(text + ')'), SourceError);
    BOOST_CHECK_THROW(parse("a == \"" + std::string(1'000'000, 'x')), SourceError);
    BOOST_CHECK_THROW(parse(std::string(1'000'000, ' ')), SourceError);
}

// What a fuzzer would try first: words of the language in any order, and any bytes.
BOOST_AUTO_TEST_CASE(any_text_is_read_or_refused) {
    constexpr std::string_view kWords[] = {
        "a",     "b",   "==",  "!=",   "<=",           "<",         "&",  "~",  "&&", "||",
        "!",     "(",   ")",   "1",    "-1",           "0x",        "08", "\"", "'",  "x*",
        "CPUS{", "}",   "0-3", ",",    ".ustring",     ".function", ".",  " ",  "\n", "=",
        "|",     "and", "not", "\xff", "\xe2\x80\x9c", "$"};
    std::mt19937_64 random(1);
    std::size_t read = 0;
    const std::size_t rounds = test::rounds(20'000);
    for (std::size_t round = 0; round < rounds; ++round) {
        std::string text;
        for (std::size_t n = random() % 12; n > 0; --n) {
            text += kWords[random() % std::size(kWords)];
            if (random() % 2 == 0) text += ' ';
        }
        for (std::size_t n = round % 4 == 0 ? random() % 8 : 0; n > 0; --n)
            text += static_cast<char>(random());
        try {
            parse(text);
            ++read;
        } catch (const SourceError& e) {
            BOOST_TEST(std::string_view(e.what()).starts_with("--if:"));
            BOOST_TEST(e.at().begin <= text.size());
        }
    }
    BOOST_TEST(read > rounds / 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
