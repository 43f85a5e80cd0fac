#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "base/cat.h"
#include "base/text.h"
#include "cli/scripts/script_support.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/printed_variables.h"
#include "support/run_gpufs.h"

// What scripts know of programs by their debug information: parameters of functions, types, lines.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::has;

std::multiset<std::string> lines_with(const std::string& text, std::string_view begin) {
    std::multiset<std::string> found;
    for (const std::string_view line : lines_of(text))
        if (line.starts_with(begin)) found.emplace(line);
    return found;
}

const std::string& program() {
    static const std::string path = test::Nest::build_file("parameters-O0");
    return path;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_parameters)

// Each function prints what it is given, and so does the script.
BOOST_AUTO_TEST_CASE(parameters_are_what_the_function_was_given) {
    constexpr std::string_view kFunctions[] = {"many",   "mixed",  "crowded", "made",
                                               "linked", "refers", "tight",   "alone"};
    for (const char* const build : {"parameters-O0", "parameters-O2", "parameters-types"}) {
        const std::string file = test::Nest::build_file(build);
        const auto at = [&](const char* function) { return cat("uprobe:", file, ':', function); };
        const Ended ended = test::gpufs(
            {"bt", "-q", "-c", file, "-e",
             cat(at("many"),
                 " { printf(\"script many %d %ld %d %d %u %d %d %ld\\n\", args.a, args.b, args.c, "
                 "args.d, args.e, (int64)args.f, args.g, args.h) } ",
                 at("mixed"),
                 " { printf(\"script mixed %d %d %ld %s %u\\n\", args.a, args.b, args.c, "
                 "str(args.text), args.last) } ",
                 at("crowded"),
                 " { printf(\"script crowded %d %ld %ld\\n\", args.first, args.sixth, args.last) "
                 "} ",
                 at("made"), " { printf(\"script made %d %ld\\n\", args.seed, args.other) } ",
                 at("linked"),
                 " { $n = args.node->next; printf(\"script linked %d %d %u %u %s %d\\n\", "
                 "args.node->value, $n->value, $n->low, $n->high, $n->name, $n->part.inner[1]) "
                 "} ",
                 at("refers"),
                 " { printf(\"script refers %lx %d %d %ld\\n\", args.a, *args.a, args.node->value, "
                 "*args.b) } ",
                 at("tight"),
                 " { $t = *args.bits; printf(\"script tight %lu %d %d\\n\", args.bits.wide, "
                 "args.bits.narrow, $t.last) } ",
                 at("*alone*"),
                 " { printf(\"script alone %d %d\\n\", args.small.count, args.a) }")});
        BOOST_TEST(ended.status == 0, ended.err);
        for (const std::string_view function : kFunctions) {
            std::multiset<std::string> told;
            for (const std::string& line : lines_with(ended.out, cat("script ", function, ' ')))
                told.insert(line.substr(7));
            BOOST_TEST(told.size() == 3u, build);
            BOOST_TEST(told == lines_with(ended.out, cat(function, ' ')),
                       cat(build, '\n', ended.out));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_not_passed_is_not_guessed) {
    const std::string file = test::Nest::build_file("dropped");
    const auto printed = [&](const char* what) {
        return test::gpufs(
            {"bt", "-q", "-c", file, "-e", cat("uprobe:", file, ":dropped { print(", what, ") }")});
    };
    BOOST_TEST(has(printed("args.last").out, "7\n"));
    BOOST_TEST(
        has(printed("args.unused").err, "ERROR: where args.unused is passed is not known\n"));
}

// The same structure by its debug information and by a definition in the script.
BOOST_AUTO_TEST_CASE(bit_fields_of_packed_structures_lie_where_the_compiler_puts_them) {
    const std::string at = cat("uprobe:", program(), ":tight ");
    const std::string definition =
        "struct tight { char before; unsigned long wide : 60; int narrow : 29; char behind; "
        "int last; } __attribute__((packed)) ";
    const std::string prints = " print($t.wide); print($t); exit() }";
    for (const std::string& script :
         {cat(at, "{ $t = *args.bits;", prints),
          cat(definition, at, "{ $t = *((struct tight *)arg0);", prints)}) {
        const Ended ended = test::gpufs({"bt", "-q", "-c", program(), "-e", script});
        BOOST_TEST(has(ended.out,
                       "773738358679819897\n{ .before = 98, .wide = 773738358679819897, .narrow = "
                       "-123456789, .behind = 99, .last = -1 }\n"),
                   ended.out + ended.err);
    }
}

// An opaque handle.
BOOST_AUTO_TEST_CASE(what_has_no_bytes_is_told) {
    BOOST_TEST(
        has(test::script_refusal(cat("uprobe:", program(), ":hands_on { print(*args.handle) }")),
            "ERROR: how large 'struct Opaque' is is not known\n"));
    BOOST_TEST(test::script_refusal("begin { @x = () }") ==
               "stdin:1:9-16: ERROR: a '()' has no bytes to keep in @x\n");
    BOOST_TEST(test::script_refusal("begin { @x[()] = 1 }") ==
               "stdin:1:12-14: ERROR: a '()' has no bytes to be a key of\n");
}

BOOST_AUTO_TEST_CASE(a_name_of_cpp_is_of_all_its_overloads_and_may_be_a_pattern) {
    const auto counted = [&](const char* name) {
        const Ended ended = test::gpufs({"bt", "-q", "-c", program(), "-e",
                                         cat("uprobe:", program(), ":cpp:\"", name,
                                             "\" { @n++ } end { printf(\"hits %d\\n\", @n) }")});
        return ended.out.substr(ended.out.find("hits "), 7);
    };
    BOOST_TEST(counted("ns::choose") == "hits 6\n");
    BOOST_TEST(counted("ns::choose(int)") == "hits 3\n");
    BOOST_TEST(counted("ns::choose*") == "hits 9\n");
    BOOST_TEST(counted("ns::*s") == "hits 3\n");
    const Ended named =
        test::gpufs({"bt", "-q", "-c", program(), "-e",
                     cat("uprobe:", program(), ":cpp:\"ns::choose\" { @[func] = count() }")});
    BOOST_TEST(has(named.out, "@[ns::choose(int)]: 3\n"), named.out);
    BOOST_TEST(has(named.out, "@[ns::choose(char const*)]: 3\n"), named.out);
}

BOOST_AUTO_TEST_CASE(all_parameters_of_a_function_are_a_record) {
    const std::string at = cat("uprobe:", program(), ':');
    const Ended ended =
        test::gpufs({"bt", "-q", "-c", program(), "-e",
                     cat(at, "many { print(args); @[args.f, args.c] = count() } ", at,
                         "linked { print(args.node->part); print(*args.node->next) }")});
    BOOST_TEST(has(ended.out,
                   "{ .a = -1, .b = 2147483648, .c = 97, .d = -4, .e = 5, .f = GREEN, "
                   ".g = -7, .h = 8 }\n"),
               ended.out + ended.err);
    BOOST_TEST(has(ended.out, "{ .inner = [3,4] }\n"), ended.out);
    BOOST_TEST(has(ended.out,
                   ".low = 5, .high = 33, .name = second, .part = { .inner = [1,-3] } "
                   "}\n"),
               ended.out);
    BOOST_TEST(has(ended.out, "@[GREEN, 97]: 3\n"), ended.out);
}

// In front of others, and without a NUL.
BOOST_AUTO_TEST_CASE(a_text_of_a_structure_ends_where_its_array_does) {
    const Ended ended = test::gpufs(
        {"bt", "-q", "-c", program(), "-e",
         cat("struct Cut { long next; int value; short bits; char name[3]; char rest[2][2]; } "
             "uprobe:",
             program(),
             ":linked { $p = (struct Cut *)((struct Cut *)arg0)->next; $s = *$p; $i = 1; "
             "printf(\"%s %d %d %d\\n\", $p->name, strlen($p->name), $p->name == \"sec\", "
             "sizeof($p->name)); print(buf($p->name)); print(strcontains($p->name, \"on\")); "
             "print(($s.name, strlen($s.name), $s.name == \"sec\", $s.name == \"second\")); "
             "print(($p->rest[0], $p->rest[$i], $s.rest[0], $s.rest[$i])); print($s); "
             "@[$p->name] = $s.name; exit() }")});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out,
                   "sec 3 1 3\nsec\nfalse\n(sec, 3, true, false)\n"
                   "(on, d, on, d)\n{ .next = 0, .value = 1, .bits = 269, "
                   ".name = sec, .rest = [on,d] }\n"),
               ended.out);
    BOOST_TEST(has(ended.out, "@[sec]: sec\n"), ended.out);
}

BOOST_AUTO_TEST_CASE(types_of_the_program_come_before_those_of_the_kernel) {
    const std::string at = cat("uprobe:", program(), ":linked ");
    const auto printed = [&](const std::string& script) {
        return test::gpufs({"bt", "-q", "-c", program(), "-e", script}).out;
    };
    BOOST_TEST(has(printed(at + "{ print((((struct Node *)arg0)->value, sizeof(struct Node))) }"),
                   "(101, 32)\n"));
    BOOST_TEST(has(printed("struct Node { long other; int number; } " + at +
                           "{ print((((struct Node *)arg0)->number, sizeof(struct Node))) }"),
                   "(101, 16)\n"));
}

BOOST_AUTO_TEST_CASE(a_probe_is_at_a_line_of_a_source) {
    const std::string lines = test::Nest::build_file("variables/gcc-O0-pie");
    const auto line = test::line_with("climb");
    const Ended ended =
        test::gpufs({"bt", "-q", "-c", lines, "-e",
                     cat("uprobe:", lines, "@variables.c:", line,
                         " { @hits = count() } uprobe:", lines, ":climb { @calls = count() }")});
    // The program calls it with 0, 1 and 2.
    BOOST_TEST(has(ended.out, "@calls: 6\n"), ended.out + ended.err);
    BOOST_TEST(has(ended.out, "@hits: 6\n"), ended.out);
}

// With DWARF of all forms, and in all places.
BOOST_AUTO_TEST_CASE(inlined_functions_are_frames_of_their_own) {
    const auto inside = test::line_with("doubled"), call = test::line_with("doubles");
    for (const char* form :
         {"gcc-O0-pie", "gcc-O2-dwarf4", "gcc-O2-split", "gcc-O2-split4", "gcc-O2-package",
          "gcc-O2-apart", "gcc-O2-packed", "gcc-O2-lto", "clang-O2-split", "clang-O3-static"}) {
        BOOST_TEST_CONTEXT(form) {
            const std::string lines = test::Nest::build_file(cat("variables/", form));
            const auto stacks = [&](const std::string& config) {
                return test::gpufs({"bt", "-q", "-c", lines, "-e",
                                    cat(config, "uprobe:", lines, "@variables.c:", inside,
                                        " { print(ustack(1)); print(ustack(perf, 1)); exit() }")})
                    .out;
            };
            const std::string out = stacks("");
            BOOST_TEST(
                has(out, cat("        [inlined] twice@variables.c:", inside, "\n        work")),
                out);
            BOOST_TEST(has(out, cat("@variables.c:", call, "\n")), out);
            BOOST_TEST(has(out, " twice (inlined)\n\t"), out);
            BOOST_TEST(has(out, cat(" (", std::filesystem::canonical(lines).string(), ")\n")), out);
            const std::string plain = stacks("config = { show_debug_info = 0 } ");
            BOOST_TEST(has(plain, "        work"), plain);
            BOOST_TEST(!has(plain, "inlined"), plain);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_debug_information_does_not_tell_is_refused) {
    const std::string at = cat("uprobe:", program());
    const auto refusal = [&](const std::string& rest) {
        const std::string told = test::script_refusal(at + rest);
        return told.substr(told.find("ERROR"));
    };
    BOOST_TEST(refusal(":many { print(args.zz) }") ==
               cat("ERROR: there is no argument 'zz' at ", at,
                   ":many\nHINT: its arguments are a, b, c, d, e, f, g, h\n"));
    BOOST_TEST(refusal(":mixed { print(args.real) }") ==
               "ERROR: args.real cannot be read: it is no integer and no pointer\n");
    BOOST_TEST(
        refusal("@parameters.cc:1 { print(1) }")
            .starts_with(
                "ERROR: line 1 of 'parameters.cc' has no code\nHINT: the next line with code is "));
    BOOST_TEST(refusal("@zz.cc:1 { print(1) }") ==
               cat("ERROR: '", program(), "' is not made of a source 'zz.cc'\n"));
    const std::string bare = test::Nest::build_file("statements");
    BOOST_TEST(has(test::script_refusal(cat("uprobe:", bare, ":main { print(args.argc) }")),
                   "debug information"));
}

BOOST_AUTO_TEST_CASE(parameters_are_listed) {
    BOOST_TEST(test::gpufs({"bt", "-lv", cat("uprobe:", program(), ":linked")}).out ==
               cat("uprobe:", program(), ":linked\n    const struct Node* node\n"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
