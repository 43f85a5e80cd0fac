#include "bt/parse/parse.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "bt/syntax/ast_text.h"
#include "bt/syntax/constant.h"
#include "support/cases.h"

namespace gpufs::bt {
namespace {

// A header as there are many: what it declares, and most of what it defines, no script needs.
constexpr const char* kRealHeader = R"(#pragma once
#include <pthread.h>
#ifdef __cplusplus
extern "C" {
#endif
#define DELIM ':'
#define QUOTE '"'  // one
#define LOGF(fmt, ...) fprintf(stderr, fmt, ##__VA_ARGS__)
#define LOGG(args...) LOGF(args)
#define APOS don't
struct conn { int fd; };
enum st { ST_A = 'a', ST_NEWLINE = '\n', ST_QUOTE = '\'', ST_TWO = 'ab', ST_DELIM = DELIM };
int conn_open(const char *host);
extern int debug_level;
static const int max = 5, less[] = { 1, 2 }, *none = 0;
_Static_assert(sizeof(struct conn) == 4, "4 bytes");
static inline int fd_of(struct conn *c) {
    if (c->fd == '}') LOGF("{ %d", c->fd);
#ifdef NO
    {
#endif
kprobe:
    return c->fd;
}
struct conn *other(struct conn *a, int b) { return b ? a : 0; }
void said(const char *format, ...) __attribute__((format(printf, 1, 2)));
__attribute__((noreturn)) void die(void);
own_t *config(own_t let), *import(void);
__BEGIN_DECLS
OWN_API(int) open_it(void), close_it(void);
OWN_DEFINE(x)
OWN_API(int) letters[4], more_letters; OWN_API(int) OWN_NAME(f) (int);
OWN_DEFINE(y) { return 1; }
OWN_API(char *) named __attribute__((unused));
OWN_API struct more { char name[IFNAMSIZ]; void (*(*find)(int))(void); };
enum casts { MINUS = (__u64)-32, LOW = (unsigned char)300, BOTH = (MINUS + 33) << 4 };
#define LONG "\
/* no comment ' */\
"
#if __has_attribute(packed) || __GNUC_PREREQ(4, 3)
wrong
#endif
__END_DECLS
typedef int callback_t(int, void *);
#if DELIM == ':'
struct last { callback_t *back; char size[sizeof(int) * 'c']; };
#endif
#ifdef __cplusplus
}
#endif
)";

// What the cases import.
std::optional<SourceText> read_imported(const std::string& name) {
    if (name == "lib.bt")
        return SourceText{
            name, "#define FOUR 4\nmacro twice(x) { x; x }\nEND { late }\n#define LATE 9\n"};
    if (name == "lib.h") return SourceText{name, "struct s { int a; };\n"};
    if (name == "some/b.bt") return SourceText{name, "macro second() { first() }\nEND { b }\n"};
    if (name == "some/a.bt" || name == "./some/a.bt")
        return SourceText{name, "macro first() { 1 }\nEND { a }\n"};
    if (name == "some/c.h") return SourceText{name, "struct c { int a; };\n"};
    if (name == "real.h") return SourceText{name, kRealHeader};
    if (name == "probes.h")
        return SourceText{name,
                          "BEGIN { 1 }\nkprobe:f { 1 }\nlet @m = hash(2);\n5 x;\nint f(int) {\n"};
    if (name == "wrong.bt") return SourceText{name, "BEGIN { 1 2 }\n"};
    return std::nullopt;
}

ParseInput input_of(std::string text) {
    ParseInput input;
    input.source = {"t.bt", std::move(text)};
    input.arguments = {"7", "kprobe:f"};
    input.read = read_imported;
    input.list = [](const std::string& name) -> std::optional<std::vector<std::string>> {
        if (name != "some" && name != "some/") return std::nullopt;
        return std::vector<std::string>{"README", "a.bt", "b.bt", "c.h", "d"};
    };
    return input;
}

// The tree of a script, or all that is wrong with it, as text.
std::string told(const ParseInput& input) {
    try {
        return ast_text(parse(input));
    } catch (const UsageError& e) {
        return cat(e.what(), e.hint().empty() ? "" : "\nhint: ", e.hint(), '\n');
    }
}

void check_cases(const std::string& path, std::size_t least) {
    const std::vector<test::Case> cases = test::read_cases(path);
    BOOST_TEST(cases.size() >= least);
    for (const test::Case& one : cases) BOOST_TEST_CONTEXT(one.title) {
            ParseInput input = input_of(one.text);
            if (one.title.find("option") != std::string::npos)
                input.arguments.insert(input.arguments.end(), {"--verbose", "--count=3"});
            input.has_btf = one.title.ends_with("with BTF");
            BOOST_TEST(told(input) == one.said);
        }
}

std::string repeated(std::string_view text, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += text;
    return out;
}

BOOST_AUTO_TEST_SUITE(bt_syntax)

BOOST_AUTO_TEST_CASE(every_construct_has_its_place_in_the_tree) {
    check_cases("tests/data/bt/syntax.txt", 70);
}

BOOST_AUTO_TEST_CASE(every_mistake_of_a_script_is_told_at_once_with_place_and_hint) {
    check_cases("tests/data/bt/mistakes.txt", 35);
}

BOOST_AUTO_TEST_CASE(of_very_many_mistakes_the_first_are_told_and_the_others_counted) {
    std::string text, shown;
    for (int i = 1; i <= 5'000; ++i) {
        text += "kprob:f { }\n";
        if (i <= 20)
            shown += cat("t.bt:", i,
                         ":1: error: Invalid probe type: kprob\nkprob:f { }\n^~~~~\n"
                         "hint: did you mean 'kprobe'?\n");
    }
    BOOST_TEST(told(input_of(text)) ==
               shown + "and 980 more mistakes; the rest was not looked at\n");
}

BOOST_AUTO_TEST_CASE(lines_may_end_as_on_other_systems) {
    BOOST_TEST(told(input_of("#define A 1 + \\\r\n  2\r\nBEGIN {\r\n  $x = A;\r\n}\r\n")) ==
               "probe\n"
               "  BEGIN 'BEGIN'\n"
               "  =\n"
               "    $x\n"
               "    +\n"
               "      integer 1\n"
               "      integer 2\n");
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_skipped) {
    const std::string tree = "probe\n  BEGIN 'BEGIN'\n  integer 1\n";
    BOOST_TEST(told(input_of("\xef\xbb\xbf"
                             "BEGIN { 1 }")) == tree);
    BOOST_TEST(told(input_of("\xef\xbb\xbf#!/usr/bin/env bt\nBEGIN { 1 }")) == tree);
    BOOST_TEST(told(input_of("\xef\xbb\xbf#define A 1\nBEGIN { A }")) == tree);
}

BOOST_AUTO_TEST_CASE(names_are_defined_in_front_of_the_script) {
    ParseInput input =
        input_of("#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)\nBEGIN { 1 }\n#endif\n");
    input.defines = {{"LINUX_VERSION_CODE", "0x60100"}};
    BOOST_TEST(told(input) == "probe\n  BEGIN 'BEGIN'\n  integer 1\n");
}

BOOST_AUTO_TEST_CASE(options_are_arguments_where_the_script_asks_for_none) {
    ParseInput input = input_of("BEGIN { $1; $# }");
    input.arguments = {"--verbose"};
    BOOST_TEST(told(input) == "probe\n  BEGIN 'BEGIN'\n  $1 \"--verbose\"\n  $# 1\n");
}

BOOST_AUTO_TEST_CASE(places_are_those_of_the_whole_expression) {
    const std::string text = "BEGIN { $x = (int8)a->b[1] + f(2); }";
    const Script script = parse(input_of(text));
    const Stmt& statement = *script.probes.at(0).body.at(0);
    const auto part = [&](SourceRef at) {
        return text.substr(at.span.begin, at.span.end - at.span.begin);
    };
    BOOST_TEST(part(statement.at) == "$x = (int8)a->b[1] + f(2)");
    const Expr& sum = *statement.value;
    BOOST_TEST(part(sum.at) == "(int8)a->b[1] + f(2)");
    const Expr& cast = *sum.operands.at(0);
    BOOST_TEST(part(cast.at) == "(int8)a->b[1]");
    BOOST_TEST(part(cast.operands.at(0)->at) == "a->b[1]");
    BOOST_TEST(part(sum.operands.at(1)->at) == "f(2)");
    BOOST_TEST(script.sources.at(0).text == text);
}

BOOST_AUTO_TEST_CASE(numbers_from_2_to_the_63rd_on_have_no_sign) {
    const auto value = [](const std::string& text) {
        const Script script = parse(input_of("BEGIN { $x = " + text + "; }"));
        return constant_value(*script.probes.at(0).body.at(0)->value,
                              [](const Expr&) { return std::optional<std::int64_t>(-5); })
            .value();
    };
    BOOST_TEST(value("0xffffffffffffffff > 1") == 1);
    BOOST_TEST(value("1 >= 0xffffffffffffffff") == 0);
    BOOST_TEST(value("2 < 0x8000000000000000") == 1);
    BOOST_TEST(value("0xffffffffffffffff <= 0xffffffffffffffff") == 1);
    BOOST_TEST(value("18446744073709551615 / 2") == INT64_MAX);
    BOOST_TEST(value("18446744073709551615 % 10") == 5);
    BOOST_TEST(value("18446744073709551615 >> 4") == 0x0fff'ffff'ffff'ffff);
    BOOST_TEST(value("(0xfffffffffffffffe + 1) / 3") == 0x5555'5555'5555'5555);
    BOOST_TEST(value("-7 / 2") == -3);
    BOOST_TEST(value("-7 >> 1") == -4);
    BOOST_TEST(value("-1 < 1") == 1);
    BOOST_TEST(value("nosuch % 3") == -2);
    BOOST_TEST(value("-0x8000000000000000 / -1") == INT64_MIN);
    BOOST_TEST(told(input_of("#if 0xffffffffffffffff > 1\nBEGIN { 1 }\n#endif\n")) ==
               "probe\n  BEGIN 'BEGIN'\n  integer 1\n");
}

BOOST_AUTO_TEST_CASE(depth_is_bounded) {
    const auto first_of = [](const std::string& text) {
        const std::string said = told(input_of(text));
        const std::size_t begin = said.find("error: ");
        return said.substr(begin, said.find('\n', begin) - begin);
    };
    const std::string deep = "error: more than 200 levels are nested here";
    const std::string high = "error: more than 600 operators are chained here";
    BOOST_TEST(first_of("BEGIN { $x = " + std::string(300, '(') + "1" + std::string(300, ')') +
                        " }") == deep);
    BOOST_TEST(first_of("BEGIN { $x = " + std::string(300, '!') + "1 }") == deep);
    BOOST_TEST(first_of("BEGIN " + std::string(300, '{') + std::string(300, '}')) == deep);
    BOOST_TEST(first_of("BEGIN { $x = 1" + repeated(" + 1", 4'000) + " }") == high);
    BOOST_TEST(first_of("BEGIN { $x = $a" + repeated(".b", 4'000) + " }") == high);
    BOOST_TEST(first_of("#define F(x) x\nBEGIN { " + repeated("F(", 300) + "1" +
                        std::string(150, ')') + " }") ==
               "error: more than 64 uses of #define are nested here");
    const auto chain = [&](int levels) {
        std::string defines;
        for (int i = 1; i < levels; ++i) defines += cat("#define D", i, " D", i - 1, "\n");
        return gpufs::cat("#define D0\n", defines, "BEGIN { 1 D", levels - 1, " }");
    };
    BOOST_TEST(told(input_of(chain(64))) == "probe\n  BEGIN 'BEGIN'\n  integer 1\n");
    BOOST_TEST(first_of(chain(65)) == "error: more than 64 uses of #define are nested here");
    std::string macros = "macro m0(x) { x }\n";
    for (int i = 1; i < 900; ++i) macros += cat("macro m", i, "(x) { m", i - 1, "(x) + 1 }\n");
    BOOST_TEST(first_of(macros + "BEGIN { m899(1) }") ==
               "error: more than 600 levels are nested here with what macros stand for");
}

BOOST_AUTO_TEST_CASE(what_stands_for_too_much_is_refused) {
    std::string defines, macros;
    for (int i = 1; i < 40; ++i) {
        defines += cat("#define D", i, " D", i - 1, " + D", i - 1, "\n");
        macros += cat("macro m", i, "(x) { m", i - 1, "(x) + m", i - 1, "(x) }\n");
    }
    const std::string hint =
        "hint: 200000 words are enough, with what #define and macros stand for\n";
    BOOST_TEST(told(input_of(defines + "BEGIN { D39 }")) ==
               cat("t.bt:40:9: error: the script is too long\nBEGIN { D39 }\n        ^~~\n", hint));
    BOOST_TEST(told(input_of(macros + "macro m0(x) { x } BEGIN { m39(1) }")).ends_with(hint));
    BOOST_TEST(told(input_of("BEGIN { " + repeated("$x = 1; ", 1'000'000))).ends_with(hint));
}

// Much that makes no sense ends in mistakes, soon and without much memory.
BOOST_AUTO_TEST_CASE(nonsense_ends_in_mistakes, *boost::unit_test::label("long")) {
    constexpr std::size_t kBytes = 200'000;
    for (const std::string_view part : {"(",
                                        "[",
                                        "{",
                                        "}",
                                        "{}",
                                        "}{",
                                        "/",
                                        "/*",
                                        "\"",
                                        "$",
                                        "@a[",
                                        "#if 1\n",
                                        "#if 0\n",
                                        "\n#",
                                        "!",
                                        "1?",
                                        "a(",
                                        "(a=",
                                        "(int)",
                                        "typeof(",
                                        "struct a{",
                                        "enum{",
                                        "kprobe:f,",
                                        "kprob:f,",
                                        "BEGIN { x y }\n",
                                        "#include <a>\n",
                                        "\\",
                                        "\xff",
                                        "comptime ",
                                        "if",
                                        "static f(){",
                                        "int x'",
                                        "import \"a\";"}) {
        BOOST_TEST_CONTEXT(part) {
            for (const char* front : {"", "BEGIN {", "BEGIN /"})
                BOOST_TEST(told(input_of(front + repeated(part, kBytes))).find("error: ") !=
                           std::string::npos);
            ParseInput header = input_of("#include \"self.h\"");
            header.read = [&](const std::string& name) {
                return SourceText{name, repeated(part, kBytes)};
            };
            BOOST_TEST(told(header).find("error: ") != std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
