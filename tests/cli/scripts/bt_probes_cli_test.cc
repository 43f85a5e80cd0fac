#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/cat.h"
#include "base/hex.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

// Probes of scripts: which there are, when they run, in which order.
namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;

Child::Setup script_of(const std::string& text) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "bt", "-e", text};
    return setup;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts_probes)

BOOST_AUTO_TEST_CASE(probes_of_a_signal_run_when_it_comes) {
    Child script(
        script_of("self:signal:SIGUSR1 { printf(\"first,\") } "
                  "self:signal:SIGUSR1 { printf(\"second\\n\"); @n++; if (@n == 2) { "
                  "exit() } }"));
    BOOST_TEST_REQUIRE(script.wait_for_error("Attached 2 probes", 60s));
    script.send(SIGUSR1);
    BOOST_TEST_REQUIRE(script.wait_for_output("second\n", 60s));
    script.send(SIGUSR1);
    const Ended ended = script.wait();
    BOOST_TEST(ended.out == "first,second\nfirst,second\n\n\n@n: 2\n", ended.err);
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(missing_probes_may_be_all_there_are_of_a_block) {
    const std::string missing = cat("uprobe:", test::Nest::build_file("nest"),
                                    ":nofunction, uprobe:/no/file:f, tracepoint:no:such { } ");
    const auto run = [&](const std::string& what, const std::string& rest) {
        return test::gpufs({"bt", "-q", "-e",
                            cat("config = { missing_probes = \"", what, "\" } ", missing, rest)});
    };
    const Ended ignored = run("ignore", "begin { print(1) }");
    BOOST_TEST(ignored.out == "1\n\n\n");
    BOOST_TEST(ignored.err == "");
    const Ended warned = run("warn", "begin { print(1) }");
    BOOST_TEST(warned.out == "1\n\n\n");
    BOOST_TEST(test::has(warned.err, "No matches for tracepoint no:such. Skipping."), warned.err);
    BOOST_TEST(test::has(warned.err, "has no function 'nofunction'"), warned.err);
    BOOST_TEST(run("error", "begin { print(1) }").status == 2);
    const Ended none = run("ignore", "");
    BOOST_TEST(none.status == 2);
    BOOST_TEST(none.err == "ERROR: No probes to attach\n");
}

BOOST_AUTO_TEST_CASE(an_address_without_a_symbol_is_probed_where_that_is_allowed) {
    const std::string probe =
        cat("uprobe:", test::Nest::build_file("nest"), ":0x10 { } begin { print(1) }");
    const Ended refused = test::gpufs({"bt", "-q", "-e", probe});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(test::has(refused.err, "--unsafe probes it"), refused.err);
    const Ended dry = test::gpufs({"bt", "-q", "--unsafe", "--dry-run", "-e", probe});
    BOOST_TEST(dry.status == 0, dry.err);
    BOOST_TEST(test::has(dry.err, "WARNING: no symbol has this address"), dry.err);
}

BOOST_AUTO_TEST_CASE(sigusr1_prints_all_maps) {
    Child script(script_of("begin { @a = 5; @b[1] = 6 } interval:s:60 { exit() }"));
    BOOST_TEST_REQUIRE(script.wait_for_error("Attached 2 probes", 60s));
    script.send(SIGUSR1);
    BOOST_TEST_REQUIRE(script.wait_for_output("@a: 5\n@b[1]: 6\n", 60s));
    script.send(SIGINT);
    const Ended ended = script.wait();
    BOOST_TEST(ended.out == "@a: 5\n@b[1]: 6\n\n\n@a: 5\n@b[1]: 6\n", ended.err);
    BOOST_TEST(ended.status == 0);
}

// Each by its own name, not by the pattern's.
BOOST_AUTO_TEST_CASE(the_name_of_a_probe_is_whole) {
    const std::string file = test::Nest::build_file("parameters-O0"),
                      at = cat("uprobe:", file, ':');
    const Ended ended = test::gpufs(
        {"bt", "-q", "-c", file, "-e", cat(at, "ma?y,", at, "mi* { @[probe] = count() }")});
    BOOST_TEST(test::has(ended.out, cat("@[", at, "many]: 3\n")), ended.out + ended.err);
    BOOST_TEST(test::has(ended.out, cat("@[", at, "mixed]: 3\n")), ended.out);
}

// What looks for the command in the folders of $PATH is not the command.
BOOST_AUTO_TEST_CASE(a_commands_system_calls_are_its_own) {
    const Ended ended =
        test::gpufs({"bt", "-q", "-c", "true", "-e",
                     "tracepoint:syscalls:sys_enter_execve /pid == cpid/ { @[kstack(1)] = count(); "
                     "@calls = count() }"});
    BOOST_TEST(test::has(ended.out, "@calls: 1\n"), ended.out + ended.err);
    // Frames of the probe itself are not among those that are asked for.
    BOOST_TEST(test::has(ended.out, "@[\n        "), ended.out);
}

BOOST_AUTO_TEST_CASE(other_signals_have_no_probes) {
    const Ended ended = test::gpufs({"bt", "-e", "self:signal:SIGHUP { }"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "stdin:1:13-19: ERROR: there are no probes of the signal 'SIGHUP'\n"
               "self:signal:SIGHUP { }\n"
               "            ~~~~~~\n"
               "HINT: SIGUSR1 and SIGUSR2 have some\n");
}

// One probe at two places, where the compiler keeps the arguments elsewhere.
BOOST_AUTO_TEST_CASE(static_probes_have_their_arguments) {
    const std::string command = cat(test::work_binary(), " steps 3 2");
    const std::string place = cat("usdt:", test::work_binary(), ":gpufs_work:step");
    const Ended told = test::gpufs(
        {"bt", "-q", "-c", command, "-e",
         cat(place, " { printf(\"%d %s %d\\n\", arg0, str(arg1), arg2); @[arg2] = sum(arg0) }")});
    BOOST_TEST(told.out ==
                   "1 one place 7\n0 one place 7\n-1 one place 7\n100 another 7\n101 another 7\n"
                   "\n\n@[7]: 201\n",
               told.err);
    const Ended many = test::gpufs({"bt", "-q", "-e", cat(place, " /arg3 > 0 && arg0 == 1/ { }")});
    BOOST_TEST(test::has(many.err, "ERROR: the probe has 3 arguments, from arg0 on\n"), many.err);
}

// What a script tells of tests/programs/probed.cc while that works on 3 and 4.
Ended told_of_probed(const std::string& program, const std::string& script) {
    const test::TempFolder folder;
    std::ofstream(folder / "work.sh") << "printf '3\\n4\\n' | " << program << " >/dev/null\n";
    return test::gpufs({"bt", "-q", "-c", cat("sh ", (folder / "work.sh").string()), "-e", script});
}

BOOST_AUTO_TEST_CASE(the_name_of_a_static_probe_is_whole) {
    const std::string file = std::filesystem::canonical(test::Nest::build_file("probed"));
    const Ended told = told_of_probed(file, cat("usdt:", file, ":of__f* { @[probe] = count() }"));
    BOOST_TEST(test::has(told.out, cat("@[usdt:", file, ":probed:of__forms]: ")),
               told.out + told.err);
}

BOOST_AUTO_TEST_CASE(a_function_of_cpp_has_its_readable_name) {
    const std::string file = std::filesystem::canonical(test::Nest::build_file("probed"));
    const Ended told =
        told_of_probed(file, cat("uprobe:", file, ":cpp:\"shop::Till::add\" { @ = sum(arg1) }"));
    BOOST_TEST(told.out == "\n\n@: 7\n", told.err);
    const Ended of_several = told_of_probed(
        file, cat("uprobe:", file, ":cpp:\"shop::twice(long, char const*)\" { @ = sum(args.n) }"));
    BOOST_TEST(of_several.out == "\n\n@: 7\n", of_several.err);
}

// Variables that the program has by their addresses, wherever it is loaded.
BOOST_AUTO_TEST_CASE(static_probes_have_global_variables) {
    for (const char* name : {"probed", "probed-fixed"}) {
        const std::string file = std::filesystem::canonical(test::Nest::build_file(name));
        const Ended told =
            told_of_probed(file, cat("usdt:", file, ":probed:of__forms { @ = sum(arg0) }"));
        BOOST_TEST(told.out == "\n\n@: 14\n", told.err);
    }
}

BOOST_AUTO_TEST_CASE(a_probe_of_a_program_is_within_a_function) {
    const auto refusal = [](const std::string& where) {
        const Ended ended = test::gpufs(
            {"bt", "-q", "-e", cat("uprobe:", test::work_binary(), ":", where, " { exit() }")});
        return ended.err.substr(0, ended.err.find('\n'));
    };
    const std::string address = cat("0x", std::string(2, 'a'));
    BOOST_TEST(test::has(refusal(address),
                         cat("ERROR: Could not resolve address: ", test::work_binary(), ":0xaa")),
               refusal(address));
    BOOST_TEST(test::has(refusal("main+1000000"),
                         "ERROR: Offset outside the function bounds ('main' size is "),
               refusal("main+1000000"));
    // The address of main, as the file has it.
    const Ended found =
        test::shell(cat("W=", test::work_binary(),
                        "; $GPUFS bt -q -c \"$W calls 1 1\" -e \"uprobe:$W:0x$(nm $W | sed -n "
                        "'s/ T main$//p') { @ = count() }\""));
    BOOST_TEST(found.out == "\n\n@: 1\n", found.err);
}

// Of this process; a variable of the kernel's would do as well, but its address may be hidden.
BOOST_AUTO_TEST_CASE(memory_is_watched) {
    static volatile std::uint64_t watched = 0;
    const std::string address = hex(reinterpret_cast<std::uintptr_t>(&watched));
    Child::Setup setup = script_of(cat("watchpoint:", address, ":8:w { @ = count() }"));
    setup.argv.insert(setup.argv.end(), {"-p", cat(::getpid())});
    Child child(setup);
    if (!child.wait_for_error("Attached", std::chrono::seconds(20))) {
        const Ended refused = child.wait();
        BOOST_TEST((test::has(refused.err, "the machine has no such watchpoint") ||
                    test::has(refused.err, "watchpoints of this machine do not fire")),
                   refused.err);
        return;
    }
    for (int i = 0; i < 10; ++i) watched = watched + 1;
    child.send(SIGINT);
    const Ended ended = child.wait();
    BOOST_TEST(ended.out == "\n\n@: 10\n", ended.err);
}

// Programs at one place of a file, and at one event of software, the kernel runs in the other order
// than they are attached in.
BOOST_AUTO_TEST_CASE(probes_of_one_place_run_in_the_order_of_the_script) {
    const std::string places[] = {cat("uprobe:", test::work_binary(), ":main"),
                                  cat("uretprobe:", test::work_binary(), ":main"),
                                  "software:page-faults:1", "rawtracepoint:sys_enter",
                                  "tracepoint:raw_syscalls:sys_enter"};
    for (const std::string& place : places) {
        const auto probe = [&](int n) {
            return cat(place, " /pid == cpid && @n == ", n, "/ { printf(\"", n, "\"); @n = ", n + 1,
                       " } ");
        };
        BOOST_TEST_CONTEXT(place) {
            const Ended ended =
                test::gpufs({"bt", "-q", "-c", cat(test::work_binary(), " calls 1 1"), "-e",
                             cat("begin { @n = 0 } ", probe(0), probe(1), probe(2), place,
                                 " /pid == cpid && @n == 3/ { printf(\".\"); @n = 9 }")});
            BOOST_TEST(ended.out == "012.\n\n@n: 9\n", ended.err);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_program_knows_the_kind_of_its_probe_and_the_mode_of_the_cpu) {
    BOOST_TEST(test::gpufs({"bt", "-q", "-e",
                            "begin { print((probetype, usermode)) } "
                            "tracepoint:sched:sched_switch { @[probetype, usermode] = 1; exit() }"})
                   .out == "(special, 1)\n\n\n@[tracepoint, 0]: 1\n");
    const Ended sampled =
        test::gpufs({"bt", "-q", "-c", cat(test::work_binary(), " spin 300 1"), "-e",
                     "profile:hz:999 /pid == cpid/ { @[probetype] = "
                     "sum(usermode) }"});
    BOOST_TEST(sampled.out.starts_with("\n\n@[profile]: "), sampled.err);
    BOOST_TEST(!test::has(sampled.out, ": 0\n"));
}

BOOST_AUTO_TEST_CASE(the_probes_of_a_script_are_listed) {
    const std::string line =
        "'interval:ms:10 { } software:faults:1,tracepoint:sched:sched_swit* { "
        "} begin { }' > /tmp/gpufs-listed.bt";
    const Ended ended = test::shell(
        cat("echo ", line, "; $GPUFS bt -l /tmp/gpufs-listed.bt; rm /tmp/gpufs-listed.bt"));
    BOOST_TEST(ended.out ==
               "interval:ms:\nsoftware:faults:\ntracepoint:sched:sched_switch\nBEGIN\n");
    BOOST_TEST(ended.err == "");
    const Ended absent = test::gpufs({"bt", "-l", "nonexistent.bt"});
    BOOST_TEST(absent.out == "");
    BOOST_TEST(absent.err ==
               "WARNING: It appears that 'nonexistent.bt' is a filename but the file does not "
               "exist. Treating 'nonexistent.bt' as a search pattern.\n");
    BOOST_TEST(test::gpufs({"bt", "-l", "\\n"}).err ==
               "ERROR: invalid character used in search expression\n"
               "HINT: a name, in which * ? [...] stand for others\n");
}

BOOST_AUTO_TEST_CASE(raw_tracepoints_are_named_alone_or_with_what_they_are_of) {
    for (const char* name : {"sched_switch", "vmlinux:sched_switch", "sched:sched_switch",
                             "vmlinu*:sched_swit*", "sys_enter", "raw_syscalls:sys_*"})
        BOOST_TEST_CONTEXT(name) {
            const Ended ended =
                test::gpufs({"bt", "-q", "-c", "true", "-e",
                             cat("rawtracepoint:", name, " { printf(\"hit\\n\"); exit() }")});
            BOOST_TEST(ended.status == 0, ended.err);
            BOOST_TEST(ended.out.starts_with("hit\n"), ended.out);
        }
    const Ended missing = test::gpufs({"bt", "-e", "rawtracepoint:nosuch:sys_exit { exit() }"});
    BOOST_TEST(missing.err ==
               "stdin:1:1-30: ERROR: No matches for rawtracepoint nosuch:sys_exit.\n"
               "rawtracepoint:nosuch:sys_exit { exit() }\n"
               "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
