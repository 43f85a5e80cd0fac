#include "bt/compile/compile.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "bt/compile/compiled.h"

// The compiler as a whole: which scripts it takes, and that nothing but mistakes comes out of it.
namespace gpufs::bt {
namespace {

using test::compiled;

// The scripts that the fuzzer begins with.
std::map<std::string, std::string> sample_scripts() {
    std::map<std::string, std::string> scripts;
    for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/corpus/bt_compile"))
        scripts.emplace(file.path().filename().string(), read_file(file.path().string()));
    return scripts;
}

std::string mistakes_in(const std::string& script) {
    try {
        compiled(script, {"7", "text"});
    } catch (const Error& e) {
        return e.hint().empty() ? e.what() : cat(e.what(), "\nhint: ", e.hint());
    }
    return {};
}

// Words and signs of a script, to take one of them for another.
std::vector<std::string> pieces_of(const std::string& script) {
    std::vector<std::string> pieces;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (const char c : script) {
        const bool joins = !pieces.empty() && is_word(c) && is_word(pieces.back().back());
        if (joins)
            pieces.back() += c;
        else
            pieces.emplace_back(1, c);
    }
    return pieces;
}

BOOST_AUTO_TEST_SUITE(bt_compile)

BOOST_AUTO_TEST_CASE(scripts_of_all_subjects_compile) {
    const auto scripts = sample_scripts();
    BOOST_TEST(scripts.size() > 20);
    for (const auto& [name, script] : scripts)
        BOOST_TEST(mistakes_in(script) == "", name << ": " << mistakes_in(script));
}

// A program, or mistakes: any other exception is one of the compiler's own.
BOOST_AUTO_TEST_CASE(a_number_that_a_declared_variable_cannot_have_is_refused) {
    BOOST_TEST(mistakes_in("begin { let $a : int8 = 300; }") ==
               "script:1:25: error: the number 300 is out of the range of int8\n"
               "begin { let $a : int8 = 300; }\n"
               "                        ^~~\n"
               "hint: a cast takes its lower bits: (int8)300");
    BOOST_TEST(mistakes_in("begin { let $a : uint16; $a = -1; }") ==
               "script:1:31: error: the number -1 is out of the range of uint16\n"
               "begin { let $a : uint16; $a = -1; }\n"
               "                              ^~\n"
               "hint: a cast takes its lower bits: (uint16)-1");
    BOOST_TEST(mistakes_in("begin { let $a : uint8 = (uint8)300; $a = 255; $a += 1; }") == "");
}

BOOST_AUTO_TEST_CASE(a_function_s_variables_are_told_as_they_are_written) {
    BOOST_TEST(mistakes_in("fn f($a : int64) : int64 { return \"x\" } begin { print(f(1)) }") ==
               "script:1:28: error: Function f is of type 'int64', cannot return "
               "'string[2]'\n"
               "fn f($a : int64) : int64 { return \"x\" } begin { print(f(1)) }\n"
               "                           ^~~~~~~~~~");
    BOOST_TEST(mistakes_in("fn f($a : int64) : int64 { return $a } begin { print(f(\"x\")) }") ==
               "script:1:56: error: Type mismatch for $a: trying to assign value of type "
               "'string[2]' when variable already contains a value of type 'int64'\n"
               "fn f($a : int64) : int64 { return $a } begin { print(f(\"x\")) }\n"
               "                                                       ^~~");
}

BOOST_AUTO_TEST_CASE(a_function_s_result_is_no_variable_of_its_own) {
    BOOST_TEST(mistakes_in("fn f() : int64 { $result = \"x\"; return 1 } begin { print(f()) }") ==
               "");
    BOOST_TEST(mistakes_in("fn f() : int64 { return print(1) } begin { print(f()) }") ==
               "script:1:18: error: there is no value that f() could return\n"
               "fn f() : int64 { return print(1) } begin { print(f()) }\n"
               "                 ^~~~~~~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(tuples_are_equal_or_not) {
    BOOST_TEST(mistakes_in("begin { print((1, \"a\") < (1, \"b\")) }") ==
               "script:1:15: error: tuples can be compared with == and != only\n"
               "begin { print((1, \"a\") < (1, \"b\")) }\n"
               "              ^~~~~~~~~~~~~~~~~~~");
    BOOST_TEST(mistakes_in("begin { print((1, \"a\") == (1, \"b\")) }") == "");
    BOOST_TEST(mistakes_in("begin { print((1, \"a\") < (1, 2)) }")
                   .starts_with("script:1:15: error: Type mismatch: '(int8,string[2])' cannot be "
                                "compared with '(int8,int8)'\n"));
}

BOOST_AUTO_TEST_CASE(a_declaration_hides_no_variable) {
    BOOST_TEST(mistakes_in("begin { $x = 1; if (1) { let $x = 2; print($x) } }") ==
               "script:1:26: error: Variable $x was already declared. Variable shadowing is not "
               "allowed\n"
               "begin { $x = 1; if (1) { let $x = 2; print($x) } }\n"
               "                         ^~~~~~~~~~");
    BOOST_TEST(mistakes_in("begin { for ($i : 0..3) { for ($i : 0..2) { print($i) } } }") ==
               "script:1:32: error: Loop declaration shadows existing variable: $i\n"
               "begin { for ($i : 0..3) { for ($i : 0..2) { print($i) } } }\n"
               "                               ^~");
    BOOST_TEST(mistakes_in("macro m(x) { let $a = x; { let $a = 2; } $a } begin { print(m(1)) }")
                   .starts_with("script:1:28: error: Variable $a was already declared. "));
    for (const char* fine :
         {"if (1) { let $x = 1 } else { let $x = 2 }", "{ let $x = 1; } let $x = 2; print($x)",
          "for ($i : 0..3) { } for ($i : 0..3) { } $i = 5; print($i)",
          "if (1) { $x = 1 } print($x); if (1) { let $x = 2 }"})
        BOOST_TEST(mistakes_in(cat("begin { ", fine, " }")) == "", fine);
}

BOOST_AUTO_TEST_CASE(what_counts_a_range_is_not_assigned) {
    const std::string said = " is the variable of a loop over a range, which cannot be assigned\n";
    BOOST_TEST(mistakes_in("begin { for ($i : 0..5) { $i += 2; } }") ==
               cat("script:1:27: error: $i", said, "begin { for ($i : 0..5) { $i += 2; } }\n",
                   "                          ^~"));
    for (const char* change : {"$i = 2", "$i++", "--$i"})
        BOOST_TEST(mistakes_in(cat("begin { for ($i : 0..5) { ", change, " } }")).find(said) !=
                       std::string::npos,
                   change);
    BOOST_TEST(mistakes_in("begin { for ($i : 0..5) { print($i) } $i = 2; $i++ }") == "");
}

BOOST_AUTO_TEST_CASE(what_has_no_room_is_told_with_its_place) {
    BOOST_TEST(mistakes_in("let @m = hash(0); begin { @m[1] = 1 }") ==
               "script:1:15: error: a map has at least one entry\n"
               "let @m = hash(0); begin { @m[1] = 1 }\n"
               "              ^");
    std::string many = "begin { ", all;
    for (int i = 0; i < 100; ++i) {
        many += cat("$a", i, " = nsecs; ");
        all += cat("$a", i, ", ");
    }
    const std::string told = mistakes_in(cat(many, "print((", all, "1)) }"));
    BOOST_TEST(told.starts_with("script:1:1: error: the generated code needs "), told);
    BOOST_TEST(told.ends_with("hint: fewer values at a time: maps keep them from probe to probe"),
               told);
}

BOOST_AUTO_TEST_CASE(mistakes_are_told_where_they_are_with_what_helps) {
    BOOST_TEST(mistakes_in("begin { let $a : int9 = 1; }") ==
               "script:1:18: error: Cannot resolve unknown type \"int9\"\n"
               "begin { let $a : int9 = 1; }\n"
               "                 ^~~~\n"
               "hint: did you mean 'int8'?");
    BOOST_TEST(mistakes_in("begin { print(((struct nosuch *)arg0).a); }")
                   .starts_with("script:1:17: error: Cannot resolve unknown type \"nosuch\"\n"
                                "begin { print(((struct nosuch *)arg0).a); }\n"
                                "                ^~~~~~~~~~~~~~~\n"));
    BOOST_TEST(mistakes_in("begin { if (1) { let $q = 1; } print($q); }") ==
               "script:1:38: error: Undefined or undeclared variable: $q\n"
               "begin { if (1) { let $q = 1; } print($q); }\n"
               "                                     ^~\n"
               "hint: it is declared in a block, and ends with it");
    BOOST_TEST(mistakes_in("begin { if (1) { $q = 1; } print($q); }") == "");
    BOOST_TEST(mistakes_in("begin { if (@nosuch + 1) { print(1); } }") ==
               "script:1:13: error: Undefined map: @nosuch\n"
               "begin { if (@nosuch + 1) { print(1); } }\n"
               "            ^~~~~~~");
    BOOST_TEST(mistakes_in("begin { @h = lhist(5, -9223372036854775807, 9223372036854775807, "
                           "1844674407370955161); }")
                   .starts_with("script:1:14: error: lhist() max and step must be less than 2^63 "
                                "together (provided max 9223372036854775807 and step "
                                "1844674407370955161)\n"));
    BOOST_TEST(mistakes_in("begin { printf(\"%d%% %q\", 1, 2); }") ==
               "script:1:9: error: printf: Too many arguments for format string (2 supplied, "
               "1 expected)\n"
               "begin { printf(\"%d%% %q\", 1, 2); }\n"
               "        ^~~~~~~~~~~~~~~~~~~~~~~\n"
               "hint: '%q' is text: values are written by %d, %u, %x, %o, %c, %p, %s and %r");
    BOOST_TEST(mistakes_in("begin { @h = hist(0); @h = hist(5, 2); }") ==
               "script:1:23: error: Type mismatch for @h: trying to assign value of type 'hist_t' "
               "when map already contains a value of type 'hist_t'\n"
               "begin { @h = hist(0); @h = hist(5, 2); }\n"
               "                      ^~~~~~~~~~~~~~~\n"
               "hint: all of a map have the same number of bits");
    BOOST_TEST(mistakes_in("begin { print(ntop(\"::1\")); }") ==
               "script:1:15: error: ntop() expects an integer or array argument, got string[4]\n"
               "begin { print(ntop(\"::1\")); }\n"
               "              ^~~~~~~~~~~\n"
               "hint: pton(\"::1\") is the address of a text");
}

BOOST_AUTO_TEST_CASE(scripts_with_a_piece_in_a_wrong_place_are_refused_or_compile) {
    const char* const kOthers[] = {"1",      "-1",     "\"text\"",     "@",
                                   "@x[1]",  "$a",     "pid",          "comm",
                                   "(1, 2)", "()",     "args",         "curtask",
                                   "print",  "kstack", "printf(\"\")", "0xffffffffffffffff",
                                   "*$p",    "(a=1)",  "ustack",       "nsecs()",
                                   "{ 1 }",  "hist(1)"};
    constexpr std::size_t kStep = 11;
    std::size_t tried = 0;
    for (const auto& [name, script] : sample_scripts()) {
        const std::vector<std::string> pieces = pieces_of(script);
        // The fuzzer tries them all, and more.
        for (std::size_t i = tried % kStep; i < pieces.size(); i += kStep) {
            if (pieces[i] == " ") continue;
            std::string changed;
            for (std::size_t k = 0; k < pieces.size(); ++k)
                changed += k == i ? kOthers[tried % std::size(kOthers)] : pieces[k];
            ++tried;
            try {
                compiled(changed, {"7", "text"});
            } catch (const Error&) {
                // As it should be.
            } catch (const std::exception& e) {
                BOOST_ERROR(cat(name, ": ", e.what(), " of ", changed));
            }
        }
    }
    BOOST_TEST(tried > 150);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
