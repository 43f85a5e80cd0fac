#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/cat.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

// Which files the probes of scripts are in: by pattern, by process, in another root, and where
// their variables and their debug information are.
namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;

std::string built(const char* name) {
    return std::filesystem::canonical(test::Nest::build_file(name));
}

// What a script tells of tests/programs/probed.cc while that works on 5.
Ended told_of(test::Nest& probed, const std::string& script) {
    probed.ask("1");  // then it is the program that runs
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "bt", "-p", cat(probed.pid()), "-e", script};
    Child told(setup);
    if (told.wait_for_error("Attached", 60s)) probed.ask("5");
    return told.wait();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts_files)

BOOST_AUTO_TEST_CASE(a_pattern_of_paths_stands_for_files) {
    const test::TempFolder folder;
    const std::string at = folder.path();
    std::filesystem::copy(built("probed"), folder / "moved");
    std::filesystem::copy(built("probed-fixed"), folder / "fixed");
    std::ofstream(folder / "notes") << "no program\n";
    std::ofstream(folder / "work.sh")
        << "for one in moved fixed; do echo 3 | " << at << "/$one; done\n";
    const auto ran = [&](const std::string& script) {
        return test::gpufs({"bt", "-c", cat("sh ", at, "/work.sh"), "-e", script});
    };
    const Ended sums = ran(cat("usdt:", at, "/*:of__forms { @[probe] = sum(arg0) }"));
    BOOST_TEST(test::has(sums.out, cat("@[usdt:", at, "/moved:probed:of__forms]: 7\n")), sums.out);
    BOOST_TEST(test::has(sums.out, cat("@[usdt:", at, "/fixed:probed:of__forms]: 7\n")), sums.out);
    BOOST_TEST(test::has(sums.err, "Attached 2 probes\n"), sums.err);
    const Ended calls = ran(cat("uprobe:", at, "/*d:worker_? { @ = count() }"));
    BOOST_TEST(test::has(calls.out, "\n\n@: 4\n"), calls.out + calls.err);
    const Ended none = ran(cat("uprobe:", at, "/*d:nothing { }"));
    BOOST_TEST(test::has(none.err, cat("ERROR: No matches for uprobe ", at, "/*d:nothing.\n")),
               none.err);
    const Ended listed =
        test::shell(cat("G=$(realpath $GPUFS); cd ", at, "; $G bt -l 'usdt:./m*:probed:of__f*'"));
    BOOST_TEST(listed.out == "usdt:./moved:probed:of__forms\n", listed.err);
}

// A pattern of a static probe's name counts for each that it stands for.
BOOST_AUTO_TEST_CASE(a_pattern_of_names_stands_for_static_probes) {
    const Ended ended =
        test::gpufs({"bt", "-c", "true", "-e", cat("usdt:", built("probed"), ":probed:of__* { }")});
    BOOST_TEST(test::has(ended.err, "Attached 2 probes\n"), ended.err);
    const Ended wrong =
        test::gpufs({"bt", "-e", cat("usdt:", built("probed"), ":probed:passt { }")});
    BOOST_TEST(test::has(wrong.err, "HINT: did you mean 'probed:passed'?\n"), wrong.err);
}

BOOST_AUTO_TEST_CASE(a_process_has_its_files) {
    test::Nest probed({built("probed")});
    for (const char* file : {"", "*"}) {
        const Ended one =
            told_of(probed, cat("usdt:", file,
                                ":probed:dozen { printf(\"%d %d %d %d\\n\", arg0, arg9, "
                                "arg10, arg11); exit() }"));
        BOOST_TEST(one.out == "0 9 10 5\n\n\n", one.err);
    }
    const Ended function = told_of(probed, "uprobe:*:worker_a { printf(\"%d\\n\", arg0); exit() }");
    BOOST_TEST(function.out == "5\n\n\n", function.err);
    const Ended unknown = told_of(probed, "usdt::probed:none { exit() }");
    BOOST_TEST(test::has(unknown.err, "ERROR: No matches for usdt :none.\n"), unknown.err);
    const Ended nobodys = test::gpufs({"bt", "-e", "usdt::probed:dozen { exit() }"});
    BOOST_TEST(test::has(nobodys.err,
                         "ERROR: a probe of programs needs the path of a program or a library\n"),
               nobodys.err);
    const Ended listed =
        test::gpufs({"bt", "-l", "-e", "uprobe:*:worker_? { exit() }", "--pid", cat(probed.pid())});
    BOOST_TEST(listed.out == cat("uprobe:", built("probed"), ":worker_a\nuprobe:", built("probed"),
                                 ":worker_b\n"),
               listed.err);
}

// The path that the process knows leads to another file for us, or to none.
BOOST_AUTO_TEST_CASE(a_process_has_a_root_of_its_own) {
    const test::TempFolder folder;
    const std::string at = folder.path();
    test::Nest probed({"unshare", "-m", "sh", "-c",
                       cat("mount -t tmpfs none ", at, " && cp ", built("probed"), ' ', at,
                           "/there && exec ", at, "/there")});
    const Ended told =
        told_of(probed, cat("uprobe:", at, "/there:worker_a { printf(\"%d\\n\", arg0); exit() }"));
    BOOST_TEST(told.out == "5\n\n\n", told.err);
    const Ended without =
        test::gpufs({"bt", "-e", cat("uprobe:", at, "/there:worker_a { exit() }")});
    BOOST_TEST(test::has(without.err, cat("ERROR: there is no file '", at, "/there'\n")),
               without.err);
}

// Where the file is loaded to any address, the probe tells where that is.
BOOST_AUTO_TEST_CASE(a_variable_is_where_the_file_is_loaded) {
    for (const char* name : {"probed", "probed-fixed"})
        for (const char* probe : {"uprobe:", "usdt:"}) {
            test::Nest probed({built(name)});
            const std::string place = cat(
                probe, built(name), *probe == 'u' && probe[1] == 'p' ? ":worker_a" : ":of__forms");
            const Ended told =
                told_of(probed, cat(place, " { print(*uaddr(\"counted\")); exit() }"));
            BOOST_TEST(told.out == "7\n\n\n", cat(place, ": ", told.err));
        }
    const Ended at_return = test::gpufs(
        {"bt", "-e",
         cat("uretprobe:", built("probed"), ":worker_a { print(uaddr(\"counted\")) }")});
    BOOST_TEST(test::has(at_return.err, "is loaded to any address, which a return does not tell"),
               at_return.err);
    const Ended at_begin = test::gpufs({"bt", "-e", "begin { print(uaddr(\"main\")) }"});
    BOOST_TEST(test::has(at_begin.err, "uaddr() is for the probes of programs"), at_begin.err);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_function_is_a_text_for_functions) {
    test::Nest probed({built("probed")});
    const Ended told = told_of(probed, cat("uprobe:", built("probed"),
                                           ":worker_a { print(strlen(func)); "
                                           "print(str_concat(func, \"!\")); exit() }"));
    BOOST_TEST(told.out == "8\nworker_a!\n\n\n", told.err);
}

BOOST_AUTO_TEST_CASE(debug_files_lie_where_the_user_says) {
    const test::TempFolder folder;
    const std::string at = folder.path();
    const Ended made = test::shell(cat("cd ", at, " && mkdir apart && cp ", built("parameters-O0"),
                                       " all && objcopy --only-keep-debug all apart/bare.debug && "
                                       "objcopy --strip-debug all bare && rm all"));
    BOOST_TEST_REQUIRE(made.status == 0, made.err);
    const std::string script = cat("uprobe:", at, "/bare:many");
    for (const std::string& folders :
         {cat(at, "/apart"), cat("/nowhere:", at, "/apart"), std::string("apart")}) {
        const Ended listed = test::gpufs({"bt", "-lv", script, "--debuginfo", folders});
        BOOST_TEST(test::has(listed.out, "    int a\n"), listed.out + listed.err);
    }
    const Ended other = test::shell(cat("GPUFS_DEBUGINFO=", at, "/apart $GPUFS bt -lv ", script));
    BOOST_TEST(test::has(other.out, "    int a\n"), other.out + other.err);
    const Ended none = test::gpufs({"bt", "-lv", script});
    BOOST_TEST(none.out == cat(script, '\n'), none.err);
}

// It stops at once, however many commands wait and whatever they cause.
BOOST_AUTO_TEST_CASE(a_flood_of_commands_can_be_stopped) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "bt", "--unsafe", "-e",
                  "tracepoint:sched:sched_switch { system(\"echo one\") } end { print(\"end\") }"};
    Child flood(setup);
    BOOST_TEST_REQUIRE(flood.wait_for_output("one\none\none\none\n", 60s));
    flood.send(SIGINT);
    const Ended ended = flood.wait();
    BOOST_TEST(test::has(ended.out, "\nend\n"));
    BOOST_TEST(test::has(ended.err, " commands of system(), the run was ended"), ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
