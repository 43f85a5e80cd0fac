#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "cli/scripts/script_support.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;

// What the script prints that is all of a `begin`, up to the two empty lines at the end, and its
// maps behind them.
std::string printed(const std::string& body) {
    const Ended ended = test::gpufs({"bt", "-q", "-e", cat("begin { ", body, " exit() }")});
    BOOST_TEST_CONTEXT(body) {
        BOOST_TEST(ended.status == 0, ended.err);
    }
    return ended.out;
}

struct Script {
    const char* body;
    const char* out;
};

boost::test_tools::assertion_result has_cgroups(ut::test_unit_id) {
    boost::test_tools::assertion_result result =
        file_exists("/sys/fs/cgroup/unified/cgroup.controllers") ||
        file_exists("/sys/fs/cgroup/cgroup.controllers");
    if (!result) result.message() << "needs control groups of version 2";
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts)

BOOST_AUTO_TEST_CASE(a_script_prints_what_it_says) {
    const Script scripts[] = {
        {"printf(\"%d %s %x\\n\", -3, \"abc\", 255);", "-3 abc ff\n\n\n"},
        {"printf(\"%-6s|%6s|%05d\\n\", \"ab\", \"cd\", 42);", "ab    |    cd|00042\n\n\n"},
        {"print((1, \"two\", (3, 4)));", "(1, two, (3, 4))\n\n\n"},
        {"print(1 == 1 ? \"yes\" : \"no\");", "yes\n\n\n"},
        {"print(-7 / 2); print(7 % 4); print(1 << 4 | 1);", "-3\n3\n17\n\n\n"},
        {"$x = 5; $x += 2; print($x++); print(++$x);", "7\n9\n\n\n"},
        {"if (1 > 2) { print(1) } else if (2 > 1) { print(2) } else { print(3) }", "2\n\n\n"},
        {"$i = 0; while ($i < 5) { $i++; if ($i == 2) { continue } if ($i == 4) { break } "
         "print($i) }",
         "1\n3\n\n\n"},
        {"for ($i : 2..5) { printf(\"%d,\", $i) } unroll(3) { printf(\"u\") }", "2,3,4,uuu\n\n"},
        {"print(sizeof(uint32)); print((uint8)300);", "4\n44\n\n\n"},
        {"print(strlen(\"ab\\0cd\"));", "2\n\n\n"},
        {"print(strlen(\"four\")); print(strcontains(\"needle in hay\", \"in\"));",
         "4\ntrue\n\n\n"},
        {"print(strncmp(\"abcd\", \"abce\", 3)); print(\"abc\" == \"abd\");", "0\nfalse\n\n\n"},
        {"print(buf(\"hi\", 2));", "hi\n\n\n"},
        {"print(ntop(0x0100007f)); print(bswap((uint16)0x1234));", "127.0.0.1\n13330\n\n\n"},
        {"print(comm == \"gpufs\"); print(pid == tid);", "true\ntrue\n\n\n"},
        {"print(comm(pid)); print((comm(0), comm(0x7fffffff)));", "gpufs\n(swapper, )\n\n\n"},
    };
    for (const Script& script : scripts) {
        BOOST_TEST_CONTEXT(script.body) {
            BOOST_TEST(printed(script.body) == script.out);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_control_group_has_its_path, *ut::precondition(has_cgroups)) {
    const std::string own = read_file("/proc/self/cgroup");
    const auto at = own.find("0::/");
    BOOST_REQUIRE(at != own.npos);
    const std::string path = own.substr(at + 3, own.find('\n', at) - at - 3);
    BOOST_TEST(printed("print(cgroup_path(cgroup));") == cat("unified:", path, "\n\n\n"));
    BOOST_TEST(printed("print(cgroup_path(1 << 60));") == "\n\n\n");
}

BOOST_AUTO_TEST_CASE(maps_are_printed_at_the_end_by_name) {
    const Script scripts[] = {
        {"@b = 2; @a = \"text\";", "\n\n@a: text\n@b: 2\n"},
        {"@[1, \"x\"] = 5; @[2, \"y\"] = 4;", "\n\n@[2, y]: 4\n@[1, x]: 5\n"},
        {"@c = count(); @c = count();", "\n\n@c: 2\n"},
        {"@n = @n + 1; @k[1] = @k[1] - 2; @x = @y; @y = (@x + 1) % 5;",
         "\n\n@k[1]: -2\n@n: 1\n@x: 0\n@y: 1\n"},
        {"@s = sum(3); @s = sum(-5);", "\n\n@s: -2\n"},
        {"@min = min(-3); @min = min(5); @max = max(-3); @max = max(5);",
         "\n\n@max: 5\n@min: -3\n"},
        {"@avg = avg(2); @avg = avg(5);", "\n\n@avg: 3\n"},
        {"@st = stats(2); @st = stats(4);", "\n\n@st: { .count = 2, .average = 3, .total = 6 }\n"},
        {"@x++; @x += 5; @x--;", "\n\n@x: 5\n"},
        {"@d[1] = 1; @d[2] = 2; delete(@d, 1); print(has_key(@d, 2));", "true\n\n\n@d[2]: 2\n"},
        {"@p = count(); print(@p); clear(@p);", "@p: 1\n\n\n"},
    };
    for (const Script& script : scripts) {
        BOOST_TEST_CONTEXT(script.body) {
            BOOST_TEST(printed(script.body) == script.out);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_script_goes_through_its_maps_and_counts_their_elements,
                     *ut::precondition(test::has_helper{BPF_FUNC_for_each_map_elem})) {
    const Script scripts[] = {
        {"@d[1] = 1; @d[2] = 2; delete(@d, 1); print(len(@d));", "1\n\n\n@d[2]: 2\n"},
        {"@m[1] = 10; @m[2] = 20; $sum = 0; for ($kv : @m) { $sum += $kv.1 } print($sum); "
         "clear(@m);",
         "30\n\n\n"},
        {"@l[1] = 1; @l[2] = 2; $n = len(@l); if ($n > 1) { print($n) } clear(@l);", "2\n\n\n"},
    };
    for (const Script& script : scripts) {
        BOOST_TEST_CONTEXT(script.body) {
            BOOST_TEST(printed(script.body) == script.out);
        }
    }
}

BOOST_AUTO_TEST_CASE(histograms_have_the_slots_of_bpftrace) {
    BOOST_TEST(printed("@h = hist(-1); @h = hist(0); @h = hist(1); @h = hist(6); @h = hist(6);") ==
               "\n\n@h:\n"
               "(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
               "[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
               "[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
               "[2, 4)                 0 |                                                    |\n"
               "[4, 8)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
               "\n");
    BOOST_TEST(printed("@l = lhist(3, 0, 10, 5); @l = lhist(10, 0, 10, 5);") ==
               "\n\n@l:\n"
               "[0, 5)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
               "[5, 10)                0 |                                                    |\n"
               "[10, ...)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
               "\n");
}

BOOST_AUTO_TEST_CASE(histograms_have_all_slots_of_64_bits) {
    const std::string lowest = printed("@h = hist(-9223372036854775807 - 1);"),
                      highest = printed("@h = hist(9223372036854775807);"),
                      finest = printed("@h = hist(9223372036854775807, 5);");
    BOOST_TEST(lowest.starts_with("\n\n@h:\n(..., 0) "), lowest);
    BOOST_TEST(highest.starts_with("\n\n@h:\n[4E, 8E) "), highest);
    BOOST_TEST(finest.find("1 |@@@") != std::string::npos, finest);
}

BOOST_AUTO_TEST_CASE(histograms_are_emptied) {
    BOOST_TEST(printed("@h = hist(5); clear(@h);") == "\n\n");
    BOOST_TEST(printed("@h = hist(5); zero(@h);") == "\n\n@h:\n\n");
    BOOST_TEST(test::script_refusal("begin { @h = hist(5); delete(@h) }") ==
               "stdin:1:30-32: ERROR: delete() expects a map of single values; @h is hist_t\n"
               "HINT: clear(@h) empties it\n");
    BOOST_TEST(test::script_refusal("begin { @h[1] = lhist(5, 0, 9, 1); print(has_key(@h, 1)) }") ==
               "stdin:1:50-52: ERROR: has_key() expects a map of single values; @h is lhist_t\n");
}

BOOST_AUTO_TEST_CASE(values_that_the_predicate_has_read_are_those_of_their_time) {
    const Ended ended = test::gpufs(
        {"bt", "-q", "-e",
         "begin { @s[1] = 5; @s[2] = 6; }"
         "interval:ms:1 /@s[1] && @s[2] > 5/ {"
         "  print((@s[1], @s[2])); @s[1] = 7; print(@s[1]); delete(@s[1]); print((@s[1], @s[2]));"
         "  clear(@s); exit() }"});
    BOOST_TEST(ended.out == "(5, 6)\n7\n(0, 6)\n\n\n", ended.err);
}

BOOST_AUTO_TEST_CASE(events_are_counted_exactly) {
    constexpr int kCalls = 1000;
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "bt", "-e",
                  "tracepoint:syscalls:sys_enter_getppid /pid == $1/ { @[probe] = count() }",
                  std::to_string(::getpid())};
    Child script(setup);
    BOOST_TEST_REQUIRE(script.wait_for_error("Attached 1 probe", 60s));
    for (int i = 0; i < kCalls; ++i) ::syscall(SYS_getppid);
    script.send(SIGINT);
    const Ended ended = script.wait();
    BOOST_TEST(ended.out == "\n\n@[tracepoint:syscalls:sys_enter_getppid]: 1000\n", ended.err);
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(a_script_ends_with_the_last_process_that_it_looks_at) {
    for (const char* const command : {"run", "bt"}) {
        Child::Setup sleeper;
        sleeper.argv = {"sleep", "1000"};
        Child first(sleeper), last(sleeper);
        const std::string pid = cat(last.pid());
        Child::Setup setup;
        setup.argv = {test::gpufs_binary(),
                      command,
                      "-p",
                      pid,
                      "-e",
                      "begin { printf(\"ready\\n\") } interval:s:1000 { exit() }"};
        if (command == std::string("run"))
            setup.argv.insert(setup.argv.begin() + 2, {"-p", cat(first.pid())});
        Child script(setup);
        BOOST_TEST_REQUIRE(script.wait_for_output("ready\n", 60s));
        first.send(SIGKILL);
        first.wait();
        last.send(SIGKILL);
        last.wait();
        const Ended ended = script.wait();
        BOOST_TEST(ended.status == 0);
        BOOST_TEST(ended.err.ends_with("ended\n"), ended.err);
        const Ended gone = test::gpufs({command, "-p", pid, "-e", "begin { @ = 1 }"});
        BOOST_TEST(gone.status == 1);
        BOOST_TEST(test::has(gone.err, cat("there is no process ", pid)), gone.err);
    }
}

BOOST_AUTO_TEST_CASE(a_script_chooses_the_exit_status) {
    for (const char* const command : {"run", "bt"}) {
        const auto status = [&](const char* text) {
            return test::gpufs({command, "-e", text}).status;
        };
        BOOST_TEST(status("begin { exit() }") == 0);
        BOOST_TEST(status("begin { exit(3) }") == 3);
        // Also where the ring has no room to say so.
        BOOST_TEST(status("begin { for ($i : 0..100000) { printf(\"%60d\\n\", $i) } exit(5) }") ==
                   5);
        BOOST_TEST(status("begin { exit(-1) }") == 255);
        BOOST_TEST(status("begin { exit(258) }") == 2);
    }
}

BOOST_AUTO_TEST_CASE(a_script_runs_with_the_options_of_gpufs) {
    const Ended ended =
        test::gpufs({"run", "-e", "interval:ms:10 { @n++; if (@n == 3) { exit() } }"});
    BOOST_TEST(ended.out == "\n\n@n: 3\n", ended.err);
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(all_mistakes_are_told_with_their_places) {
    const Ended ended = test::gpufs({"bt", "-e", "begin { print($y); print(nosuch); }"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "stdin:1:15-17: ERROR: Undefined or undeclared variable: $y\n"
               "begin { print($y); print(nosuch); }\n"
               "              ~~\n"
               "stdin:1:26-32: ERROR: Unknown identifier: 'nosuch'\n"
               "begin { print($y); print(nosuch); }\n"
               "                         ~~~~~~\n");
    const Ended field =
        test::gpufs({"bt", "-e", "tracepoint:sched:sched_switch { print(args.prev_pidd) }"});
    BOOST_TEST(field.status == 2);
    BOOST_TEST(test::has(field.err, "HINT: did you mean 'prev_pid'?"), field.err);
    const Ended unsafe = test::gpufs({"bt", "-e", "begin { system(\"true\") }"});
    BOOST_TEST(unsafe.status == 2);
    BOOST_TEST(test::has(unsafe.err, "system() is an unsafe function being used in safe mode"),
               unsafe.err);
}

BOOST_AUTO_TEST_CASE(a_command_of_a_script_has_the_usual_signals_and_ends_with_the_script) {
    const auto running = [](const std::string& command, const std::string& form) {
        Child::Setup setup;
        setup.argv = {test::gpufs_binary(), "bt", "--unsafe", "-q", "-f", form, "-e"};
        setup.argv.push_back(cat("begin { system(\"", command, "\"); exit() }"));
        return setup;
    };
    // Where SIGPIPE is ignored, yes(1) says that its output is closed.
    const Ended piped = Child(running("yes | head -n 2", "text")).wait();
    BOOST_TEST(piped.out == "y\ny\n\n\n");
    BOOST_TEST(piped.err == "");
    const Ended json = Child(running("echo one; echo two", "json")).wait();
    BOOST_TEST(json.out == "{\"type\": \"syscall\", \"data\": \"one\\ntwo\\n\"}\n");
    // What stays in the background is not waited for.
    const Ended left = Child(running("sleep 600 2>/dev/null & echo $!", "text")).wait();
    BOOST_TEST_REQUIRE(left.status == 0, left.err);
    BOOST_TEST(::kill(std::stoi(left.out), SIGKILL) == 0);
    // A command that has nothing to say ends with the script.
    Child silent(running("echo $$; exec sleep 600", "text"));
    BOOST_TEST_REQUIRE(silent.wait_for_output("\n", 60s));
    silent.send(SIGTERM);
    BOOST_TEST(::kill(std::stoi(silent.wait().out), 0) == -1);
    // So does one that never stops talking.
    Child::Setup talking = running("echo begins >&2; yes", "text");
    talking.stdout_file = "/dev/null";
    Child talks(talking);
    BOOST_TEST_REQUIRE(talks.wait_for_error("begins", 60s));
    talks.send(SIGTERM);
    BOOST_TEST(talks.wait().err == "begins\n");
}

// A traced process may have chosen the path.
BOOST_AUTO_TEST_CASE(cat_does_not_wait_for_a_pipe) {
    const test::TempFolder folder;
    const std::string pipe = folder / "pipe";
    BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    BOOST_TEST(printed(cat("cat(\"", pipe, "\");")) == "\n\n");
}

BOOST_AUTO_TEST_CASE(a_script_comes_through_a_pipe) {
    const test::TempFolder folder;
    const std::string pipe = folder / "pipe";
    BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const Ended ended =
        test::shell(cat("echo 'begin { print(7); exit() }' >", pipe, " & $GPUFS run ", pipe));
    BOOST_TEST(ended.out == "7\n\n\n", ended.err);
}

// As Debian's threadsnoop and ssllatency have them.
BOOST_AUTO_TEST_CASE(a_kept_script_does_without_functions_that_this_library_lacks) {
    const std::string text = "uprobe:libc:getppid,\nuprobe:libc:no_such_function { @ = count() }\n";
    const test::TempFile script(text, ".bt");
    const Ended ended = test::gpufs({"run", script.path(), "--dry-run"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.starts_with("uprobe_0: uprobe libc:getppid, "), ended.out);
    BOOST_TEST(ended.err.starts_with(cat(script.path(), ":2:1: left out, because '")), ended.err);
    BOOST_TEST(ended.err.ends_with("' has no function 'no_such_function'\n"), ended.err);
    BOOST_TEST(test::gpufs({"bt", "--no-warnings", "--dry-run", script.path()}).err == "");
    const Ended typed = test::gpufs({"run", "--dry-run", "-e", text});
    BOOST_TEST(typed.status == 2);
    BOOST_TEST(test::has(typed.err, "-e:2:1: error: '"), typed.err);
}

BOOST_AUTO_TEST_CASE(functions_that_went_into_libc_are_found_by_their_old_library) {
    const Ended ended =
        test::gpufs({"run", "--dry-run", "-e", "uprobe:libpthread:pthread_create { exit() }"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out.starts_with("uprobe_0: uprobe libpthread:pthread_create, "), ended.out);
}

BOOST_AUTO_TEST_CASE(json_has_an_object_a_line) {
    const Ended ended = test::gpufs(
        {"bt", "-q", "-f", "json", "-e", "begin { printf(\"a\\n\"); @x[1] = 2; exit() }"});
    BOOST_TEST(ended.out ==
               "{\"type\": \"printf\", \"data\": \"a\\n\"}\n"
               "{\"type\": \"map\", \"data\": {\"@x\": {\"1\": 2}}}\n");
}

BOOST_AUTO_TEST_CASE(arguments_of_a_script_are_its_own) {
    const Ended ended =
        test::gpufs({"bt", "-q", "-e", "begin { printf(\"%d %s %d\\n\", $1, str($2), $#); exit() }",
                     "12", "word"});
    BOOST_TEST(ended.out == "12 word 2\n\n\n", ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
