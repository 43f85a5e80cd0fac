#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/scripts/script_support.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"

// Functions of scripts that compute with texts, ask for settings and for the kernel's types.
namespace ut = boost::unit_test;

namespace gpufs {

using test::check_outcomes;
using test::Ended;
using test::has;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_functions)

BOOST_AUTO_TEST_CASE(texts_are_compared_searched_and_joined) {
    check_outcomes({
        {"begin { $a = str(\"abcdefghij\"); print((memcmp($a, \"abcdefghij\", 10), "
         "memcmp($a, \"abcdefghia\", 10), memcmp($a, \"abz\", 3), memcmp($a, \"abz\", 2))) }",
         "(0, 1, -1, 0)\n"},
        {"begin { print((strstr(comm, \"puf\"), strstr(comm, \"fup\"), strstr(comm, comm))) }",
         "(1, -1, 0)\n"},
        {"begin { print(strcontains(comm, \"puf\")); print(strcontains(comm, \"fup\")) }",
         "true\nfalse\n"},
        {"begin { $two = str_concat(comm, str_concat(\"/\", comm)); print($two); @[$two] = 1 }",
         "gpufs/gpufs\n@[gpufs/gpufs]: 1\n"},
        {"begin { print((strcap(\"abc\"), strcap(comm))) }", "(4, 16)\n"},
        {"begin { $n = 2; $s = \"abcdef\"; print((str($s, 3), str(\"abcdef\", $n), str(comm, 3), "
         "str($s, 0), str(\"abcdef\", 4))); @[str($s, $n)] = 1 }",
         "(ab, a, gp, , abc)\n@[a]: 1\n"},
        {"begin { $s = \"abc\"; if ($s == \"abc\\0d\" && \"abc\" == \"abc\\0d\") { print(1) } }",
         "1\n"},
        {"config = { max_strlen = 64 } begin { print(default_str_length()) }", "64\n"},
    });
}

// The length of str() counts the NUL, since bpftrace 0.23.
BOOST_AUTO_TEST_CASE(a_length_counts_as_in_the_language_of_the_script) {
    const std::string lengths =
        "BEGIN { $n = 2; $s = str(\"abcdef\"); print((str($s, 3), str(\"abcdef\", $n), str($s, 0), "
        "str(\"abcdef\", 4))); exit() }";
    BOOST_TEST(test::gpufs({"bt", "-q", "-e", lengths}).out == "(ab, a, , abc)\n\n\n");
    BOOST_TEST(test::shell(cat("BPFTRACE_LANGUAGE=0.17 $GPUFS bt -q -e '", lengths, "'")).out ==
               "(abc, ab, , abcd)\n\n\n");
}

BOOST_AUTO_TEST_CASE(numbers_of_different_signs_are_divided_as_in_c) {
    check_outcomes({
        {"begin { $a = (uint64)0xffff888000000000; $x = 5; print(($a / $x, $a % $x, $a / 5)); "
         "$n = -7; $m = 2; print(($n / $m, $n % $m)) }",
         "(3689322536414006476, 4, 3689322536414006476)\n(-3, -1)\n"},
    });
    const Ended compared = test::gpufs(
        {"bt", "-q", "-e", "begin { $a = (uint64)1; $x = 5; print(($a > 5, $a > $x)) }"});
    BOOST_TEST(test::has(compared.err,
                         "WARNING: uint64 and int8 are compared as int64: numbers from 2^63 on "
                         "are negative\n"),
               compared.err);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_probe_is_a_text_for_functions) {
    check_outcomes({
        {"begin { print(strcontains(probe, \"egi\")); print(strcontains(probe, \"x\")); "
         "print(str_concat(probe, \"!\")) }",
         "true\nfalse\nbegin!\n"},
    });
}

BOOST_AUTO_TEST_CASE(a_key_may_be_an_element_of_another_map) {
    check_outcomes({
        {"begin { @s[3] = 1; @x[1] = 3; @t = 4; print((has_key(@s, @x[1]), has_key(@s, @t))); "
         "delete(@s, @x[1]); print(has_key(@s, @x[1])); delete(@x[1]); clear(@t); delete(@t) }",
         "(true, false)\nfalse\n"},
    });
}

BOOST_AUTO_TEST_CASE(times_are_shown_by_the_clock_that_they_are_of) {
    const Ended ended = test::gpufs(
        {"bt", "-q", "-e",
         "begin { $t = nsecs(sw_tai); @b = nsecs(boot); printf(\"%s %s %s %s\\n\", "
         "strftime(\"%Y%m%d\", nsecs(tai)), strftime(\"%Y%m%d\", $t), strftime(\"%Y%m%d\", @b), "
         "strftime(\"%Y%m%d\", nsecs)); clear(@b); exit() }"});
    const std::string line = ended.out.substr(0, ended.out.find('\n'));
    BOOST_TEST(line.size() == 35u, ended.out + ended.err);
    for (std::size_t at = 9; at < line.size(); at += 9)
        BOOST_TEST(line.substr(at, 8) == line.substr(0, 8), line);
}

BOOST_AUTO_TEST_CASE(a_signal_that_is_none_is_refused) {
    BOOST_TEST(test::script_refusal("begin { signal(65) }", {"--unsafe"}) ==
               "stdin:1:16-18: ERROR: signal() takes a signal\'s name or its number, 1 to 64\n");
}

// A text has all of its bytes where it fits, and is cut where it does not, wherever it is put.
BOOST_AUTO_TEST_CASE(texts_of_the_task_are_cut_where_they_are_too_long) {
    const std::string script =
        "config = { max_strlen = 64 } tracepoint:syscalls:sys_enter_openat "
        "/str(args.filename, 6) == \"/none\"/ { $text = str(args.filename); "
        "printf(\"%s %d\\n\", str(args.filename), 7); print((1, str(args.filename), 2)); "
        "print($text); @keys[str(args.filename), 3] = str(args.filename); "
        "@alone[str(args.filename)] = count(); }";
    for (const std::size_t length : {5u, 62u, 63u, 64u, 65u, 100u}) {
        const std::string path = "/none" + std::string(length - 5, 'x');
        const std::string shown = length < 64 ? path : cat(path.substr(0, 64), "..");
        const Ended run = test::gpufs({"bt", "-q", "-e", script, "-c", cat("/bin/cat ", path)});
        BOOST_TEST(run.out == cat(shown, " 7\n(1, ", shown, ", 2)\n", shown, "\n\n\n@alone[", shown,
                                  "]: 1\n@keys[", shown, ", 3]: ", shown, "\n"));
    }
}

BOOST_AUTO_TEST_CASE(a_script_asks_for_its_settings, *ut::label("pure")) {
    check_outcomes({
        {"config = { max_strlen = 128; stack_mode = perf } begin { print(config().max_strlen); "
         "print(config.stack_mode); print(config().print_maps_on_exit) }",
         "128\nperf\ntrue\n"},
        {"begin { print((kfunc_exist(\"bpf_task_from_pid\"), kfunc_allowed(\"x\"))) }",
         "(false, false)\n"},
    });
    const Ended wrong = test::gpufs({"bt", "-e", "begin { print(config().max_strle) }"});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(wrong.err ==
               "stdin:1:15-33: ERROR: config has no member 'max_strle'\n"
               "begin { print(config().max_strle) }\n"
               "              ~~~~~~~~~~~~~~~~~~\n"
               "HINT: did you mean 'max_strlen'?\n");
    BOOST_TEST(has(test::gpufs({"bt", "-e", "config = { stack_mode = long } begin { }"}).err,
                   "Invalid value for stack_mode: long. Valid values: bpftrace, perf, raw, "
                   "build_id\n"));
}

BOOST_AUTO_TEST_CASE(what_gpufs_does_not_have_is_refused_with_the_reason, *ut::label("pure")) {
    const auto refusal = [](const std::string& script) {
        return test::gpufs({"bt", "-e", script}).err;
    };
    BOOST_TEST(refusal("begin { $x = skboutput(\"a\", 1, 1, 1) }") ==
               "stdin:1:14-37: ERROR: Unknown function: skboutput\n"
               "begin { $x = skboutput(\"a\", 1, 1, 1) }\n"
               "             ~~~~~~~~~~~~~~~~~~~~~~~\n"
               "HINT: gpufs writes no packets to files: print what is wanted of them\n");
    BOOST_TEST(has(refusal("begin { print(path(1)) }"),
                   "ERROR: path() can only be used with fentry, fexit and iter\n"));
    BOOST_TEST(has(refusal("begin { print(socket_cookie(1)) }"),
                   "ERROR: socket_cookie() can only be used with fentry and fexit\n"));
    BOOST_TEST(has(refusal("bench:a { }"),
                   "ERROR: Invalid probe type: bench\nbench:a { }\n~~~~~\n"
                   "HINT: it is for bpftrace's own tests, which gpufs does not run\n"),
               refusal("bench:a { }"));
    BOOST_TEST(has(refusal("asyncwatchpoint:0x1000:8:w { }"),
                   "ERROR: gpufs cannot set watchpoints while the program runs\n"));
    BOOST_TEST(has(refusal("iter:task:/sys/fs/bpf/x { }"), "an iterator cannot be pinned"));
    BOOST_TEST(has(refusal("begin { print(kstack(build_id)) }"),
                   "the kernel's code has no build ids: build_id is for ustack\n"));
}

BOOST_AUTO_TEST_CASE(files_are_included_from_folders_and_in_front, *ut::label("pure")) {
    const Ended ended = test::shell(
        "d=$(mktemp -d); mkdir $d/h; echo '#define ANSWER 42' > $d/h/own.h; "
        "$GPUFS bt -q -I $d/h --include own.h -e 'begin { print(ANSWER) }'; "
        "$GPUFS bt -q -I $d/h -e '#include <own.h>\nbegin { print(ANSWER + 1) }'; "
        "$GPUFS bt -q --include errno.h -e 'begin { print(strerror(EPERM)) }'; rm -r $d");
    BOOST_TEST(ended.out == "42\n\n\n43\n\n\nOperation not permitted\n\n\n", ended.err);
    const Ended absent = test::gpufs({"bt", "--include", "own.h", "-e", "begin { }"});
    BOOST_TEST(absent.status == 2);
    BOOST_TEST(absent.err ==
               "--include:1:1-17: ERROR: 'own.h' file not found\n"
               "#include \"own.h\"\n"
               "~~~~~~~~~~~~~~~~\n"
               "HINT: it is looked for beside the script, and where -I says\n");
}

BOOST_AUTO_TEST_CASE(a_header_may_declare_what_no_script_uses, *ut::label("pure")) {
    const Ended ended = test::shell(
        "d=$(mktemp -d); cat > $d/real.h <<'END'\n"
        "int conn_open(const char *host); struct conn { int fd; };\n"
        "extern int level;\n#define DELIM ':'\n#define LOGF(fmt, ...) printf(fmt, __VA_ARGS__)\n"
        "static inline int fd_of(struct conn *c) { LOGF(\"}\", c); return c->fd; }\n"
        "enum st { ST_A = 'a' };\n"
        "struct all { char a[sizeof(struct conn)]; char b[sizeof(struct list_head)]; };\nEND\n"
        "cat > $d/r.bt <<'END'\n#include \"real.h\"\n#define APOS don't\n"
        "begin { print((sizeof(struct conn), sizeof(struct all), (int64)ST_A)); exit() }\nEND\n"
        "$GPUFS bt -q $d/r.bt; echo 'begin { print(1) }' > $d/real.h; "
        "$GPUFS bt -q $d/r.bt 2>&1 | sed \"s,^.*real,real,\" | head -4; rm -r $d");
    BOOST_TEST(ended.out ==
                   "(4, 20, 97)\n\n\n"
                   "real.h:1:1-6: ERROR: 'begin' begins no definition\n"
                   "begin { print(1) }\n~~~~~\n"
                   "HINT: a header is in C: probes and macros stand in the script\n",
               ended.err);
}

BOOST_AUTO_TEST_CASE(a_folder_s_scripts_and_headers_are_imported, *ut::label("pure")) {
    const Ended ended = test::shell(
        "d=$(mktemp -d); mkdir -p $d/sub/deep; echo 'begin { print(\"b\") }' > $d/sub/b.bt; "
        "echo 'begin { print(\"a\") }' > $d/sub/a.bt; echo 'no script' > $d/sub/README; "
        "echo 'struct own { long a, b; };' > $d/sub/own.h; "
        "echo 'import \"sub\"; import \".\"; begin { print(sizeof(struct own)); exit() }' > "
        "$d/s.bt; "
        "$GPUFS bt -q $d/s.bt; echo 'import \"sub/deep\"; begin { exit() }' > $d/t.bt; "
        "$GPUFS bt -q $d/t.bt; echo 'import \"none\"; begin { exit() }' > $d/u.bt; "
        "$GPUFS bt -q $d/u.bt 2>&1 | grep -o 'ERROR.*'; rm -r $d");
    BOOST_TEST(ended.out == "a\nb\n16\n\n\n\n\nERROR: there is no file 'none' to import\n",
               ended.err);
}

BOOST_AUTO_TEST_CASE(stacks_are_told_by_build_ids) {
    const Ended ended = test::shell(
        "W=$(command -v true); $GPUFS bt -q -c $W -e 'tracepoint:syscalls:sys_enter_exit_group "
        "/pid == cpid/ { print(ustack(build_id, 1)); exit() }'");
    // Of the C library, whose name and place differ: 20 bytes, and an offset.
    const auto line = lines_of(ended.out).at(1);
    BOOST_TEST(line.size() > 43u, ended.out);
    BOOST_TEST(line.substr(0, 40).find_first_not_of("0123456789abcdef") == line.npos, ended.out);
    BOOST_TEST(line.substr(40, 3) == " 0x", ended.out);
}

BOOST_AUTO_TEST_CASE(len_is_how_many_frames_a_stack_shows) {
    const std::string program = test::Nest::build_file("variables/gcc-O0-pie");
    const Ended ended = test::gpufs(
        {"bt", "-q", "-c", program, "-e",
         cat("uprobe:", program,
             ":climb /arg0 == 0 && @hits++ == 2/ { $three = ustack(3); @two = ustack(2); "
             "print(ustack(raw)); printf(\"%d frames\\n\", len(ustack)); "
             "print((len($three), len(@two))); clear(@two); exit() }")});
    const std::string& out = ended.out;
    const auto is_frame = [](std::string_view line) {
        return line.size() > 5 && line.find_first_not_of("0123456789abcdef") == line.npos;
    };
    const auto frames = std::ranges::count_if(lines_of(out), is_frame);
    // climb() three times, main() and what called that.
    BOOST_TEST(frames >= 5, cat(out, ended.err));
    BOOST_TEST(has(out, cat('\n', frames, " frames\n(3, 2)\n")), out);
    BOOST_TEST(has(test::gpufs({"bt", "-q", "-e",
                                "tracepoint:sched:sched_switch { print(len(kstack(1))); exit() }"})
                       .out,
                   "1\n"));
    BOOST_TEST(test::script_refusal("begin { print(len(7)) }") ==
               "stdin:1:15-21: ERROR: call to len() expects a map, ustack, or kstack\n");
    BOOST_TEST(test::script_refusal("begin { @x = 1; print(len(@x)) }") ==
               "stdin:1:27-29: ERROR: call to len() expects a map with explicit keys (non-scalar "
               "map)\n");
}

BOOST_AUTO_TEST_CASE(a_path_that_is_no_cgroup_is_refused) {
    BOOST_TEST(test::script_refusal("begin { print(cgroupid(\"/proc\")) }") ==
               "stdin:1:24-31: ERROR: Failed to retrieve the id of cgroup '/proc'\n"
               "HINT: it is to be a directory of the cgroup2 file system, or a path below its "
               "mount\n");
}

BOOST_AUTO_TEST_CASE(the_scripts_own_texts_are_printed_as_they_are) {
    const std::string red = "\x1b[31m";
    const Ended ended = test::gpufs(
        {"bt", "-q", "-e",
         "begin { @n = 1; print(\"\\033[31mred\"); $held = \"\\033[31mheld\"; print($held); "
         "printf(\"%s%s|\\n\", @n > 0 ? \"\\033[31m\" : \"\", $held); clear(@n) }"});
    BOOST_TEST(ended.out == cat(red, "red\n\\x1b[31mheld\n", red, "\\x1b[31mheld|\n\n\n"));
}

BOOST_AUTO_TEST_SUITE(types, *ut::precondition(test::has_types))

BOOST_AUTO_TEST_CASE(the_kernels_types_are_listed) {
    const Ended whole = test::gpufs({"bt", "-lv", "struct list_head,union sigval"});
    BOOST_TEST(whole.out ==
                   "vmlinux: struct list_head {\n\tstruct list_head *next;\n"
                   "\tstruct list_head *prev;\n};\n"
                   "vmlinux: union sigval {\n\tint sival_int;\n\tvoid *sival_ptr;\n};\n",
               whole.err);
    const Ended names = test::gpufs({"bt", "-l", "struct list_hea*"});
    BOOST_TEST(names.out == "struct list_head\n", names.err);
    const Ended hooks = test::gpufs({"bt", "-lv", "struct file_operations"});
    BOOST_TEST(has(hooks.out, "\tint (*open)(struct inode *, struct file *);\n"), hooks.out);
    const Ended words = test::gpufs({"bt", "-lv", "enum pid_type"});
    BOOST_TEST(words.out.starts_with("vmlinux: enum pid_type {\n\tPIDTYPE_PID = 0,\n"), words.out);
    BOOST_TEST(test::gpufs({"bt", "-l", "struct gpufs_has_none"}).out == "");
}

boost::test_tools::assertion_result iterators_name_files(ut::test_unit_id) {
    boost::test_tools::assertion_result yes(running_kernel() >= KernelVersion{5, 12, 0});
    yes.message() << "needs bpf_d_path in iterators: Linux 5.12 or later";
    return yes;
}
BOOST_AUTO_TEST_CASE(an_iterator_goes_through_files, *ut::precondition(iterators_name_files)) {
    const Ended files = test::gpufs(
        {"bt", "-q", "-e",
         cat("iter:task_file /ctx.task.pid == ", ::getpid(),
             " && ctx.fd == 0/ { printf(\"%d %s\\n\", ctx.fd, path(ctx.file.f_path)); }")});
    if (has(files.err, "this machine forbids fentry, fexit and iterators")) return;
    BOOST_TEST(files.out.starts_with("0 /"), cat(files.out, files.err));
}

BOOST_AUTO_TEST_CASE(an_iterator_goes_through_the_tasks) {
    const std::string self = cat(::getpid());
    const std::string comm(trim(read_file("/proc/self/comm")));
    const Ended ended = test::gpufs(
        {"bt", "-q", "-e",
         "begin { print(\"first\") } iter:task { @tasks++; if (ctx.task.pid == $1) { "
         "printf(\"%s %d\\n\", ctx.task.comm, ctx.task.tgid) } } end { print(\"last\") }",
         self});
    if (has(ended.err, "this machine forbids fentry, fexit and iterators")) return;
    BOOST_TEST_REQUIRE(ended.status == 0, ended.err);
    BOOST_TEST(ended.out.starts_with(cat("first\n", comm, ' ', self, "\nlast\n\n\n@tasks: ")),
               ended.out);
    BOOST_TEST(!has(ended.out, "@tasks: 1\n"));
    const Ended many = test::gpufs({"bt", "-q", "-e", "iter:task { print(ctx.task.pid); exit() }"});
    BOOST_TEST(lines_of(many.out).size() == 3u, many.out);
    const Ended none = test::gpufs({"bt", "-e", "iter:gpufs_none { }"});
    BOOST_TEST(none.err ==
               "stdin:1:1-16: ERROR: No matches for iter gpufs_none.\n"
               "iter:gpufs_none { }\n"
               "~~~~~~~~~~~~~~~\n"
               "HINT: 'gpufs bt -l iter:*' lists those of this kernel\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
