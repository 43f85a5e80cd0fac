#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/scripts/script_support.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

// What programs of scripts do when they run: functions, builtins, the end of a run.
namespace ut = boost::unit_test;

namespace gpufs {

using test::check_outcomes;
using test::Ended;
using test::has;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_language)

// However long it takes until the probes are detached.
BOOST_AUTO_TEST_CASE(a_program_that_calls_exit_does_not_run_again) {
    check_outcomes({
        {"interval:us:20 { @a++; exit(); }", "@a: 1\n"},
        {"interval:us:20 { @a++; if (@a == 3) { exit(); } }", "@a: 3\n"},
        {"interval:us:20 { for ($i : 0..5) { @a++; if (@a == 7) { exit(); } } } end { @b = 1 }",
         "@a: 7\n@b: 1\n"},
    });
}

BOOST_AUTO_TEST_CASE(an_interval_in_hz_runs_so_often_in_a_second) {
    const std::string out =
        test::gpufs(
            {"bt", "-q", "-e",
             "interval:hz:200 { @++; if (@ == 20) { printf(\"%d\\n\", elapsed); exit() } }"})
            .out;
    const std::string first = out.substr(0, out.find('\n'));
    BOOST_TEST_REQUIRE(!first.empty(), out);
    BOOST_TEST(std::stoull(first) > 90'000'000u, out);  // 20 times 5 ms
}

BOOST_AUTO_TEST_CASE(a_constant_takes_the_sign_of_what_it_is_put_beside) {
    check_outcomes({
        {"begin { $a = (uint64)curtask; if (pid == 0) { $a = 0 } print($a > 4096) }", "true\n"},
        {"begin { $a = 0; $a = (uint64)-2; print($a) }", "18446744073709551614\n"},
        {"begin { @a[0] = 0; @a[1] = (uint64)-2 }", "@a[0]: 0\n@a[1]: 18446744073709551614\n"},
        {"begin { @a[1] = (uint64)-2; @a[0] = 0 }", "@a[0]: 0\n@a[1]: 18446744073709551614\n"},
        {"begin { $x = (uint64)-2; print((1 ? $x : 0, 0 ? 0 : $x)) }",
         "(18446744073709551614, 18446744073709551614)\n"},
        {"begin { @k[3] = 1; @k[(uint64)-2] = 2 }", "@k[3]: 1\n@k[18446744073709551614]: 2\n"},
        {"begin { @m = max((uint64)-2); @m = max(5) }", "@m: 18446744073709551614\n"},
        {"begin { @m = min(5); @m = min((uint64)-2) }", "@m: 5\n"},
        {"begin { @s = sum((uint64)-3); @s = sum(1) }", "@s: 18446744073709551614\n"},
        // What may be negative keeps its sign.
        {"begin { @n = 0; @n--; $a = 5; $a = -1; print($a); $d = 0; $d -= 5; print($d) }",
         "-1\n-5\n@n: -1\n"},
    });
}

BOOST_AUTO_TEST_CASE(loops_go_over_averages_but_not_over_statistics) {
    check_outcomes(
        {{"begin { @a[1] = avg(10); @a[1] = avg(20); for ($kv : @a) { print($kv) } clear(@a) }",
          "(1, 15)\n"}});
    BOOST_TEST(test::script_refusal("begin { @s[1] = stats(10); for ($kv : @s) { print($kv) } }") ==
               "stdin:1:39-41: ERROR: @s of type stats has no numbers to go through\n"
               "HINT: print() shows it\n");
}

BOOST_AUTO_TEST_CASE(a_map_that_was_deleted_is_not_shown_at_the_end) {
    check_outcomes({{"begin { @d = 5; delete(@d) }", ""},
                    // The reader comes to it when the value is gone.
                    {"begin { @d = 5; print(@d); delete(@d) }", "@d: 0\n"},
                    {"begin { print(@d); if (pid == 0) { @d = 1 } }", "@d: 0\n@d: 0\n"}});
}

BOOST_AUTO_TEST_CASE(a_scalar_map_without_a_value_is_zero) {
    check_outcomes({
        // At the end, what was emptied is not shown.
        {"begin { @c = count(); @d = 4; print(@c); clear(@c); print(@c); clear(@c); delete(@d); "
         "print(@d) }",
         "@c: 1\n@c: 0\n@d: 0\n"},
        // A script does nothing behind exit().
        {"begin { @m[1] = 2; print(@m); exit(); clear(@m) }", "@m[1]: 2\n@m[1]: 2\n"},
        {"begin { @m[1] = 2; print(@m); print({ exit(); 1 }); clear(@m) }", "@m[1]: 2\n@m[1]: 2\n"},
        {"begin { print(((int64)@m, (int64)@n, @n > 5)); if (pid == 0) { @m = max(1); @n = min(1) "
         "} }",
         "(0, 0, false)\n@m: 0\n@n: 0\n"},
    });
}

BOOST_AUTO_TEST_CASE(a_value_is_what_it_was_before_its_key_was_made) {
    check_outcomes({
        {"begin { $x = 7; @m[$x++] = $x }", "@m[7]: 7\n"},
        {"begin { $i = 2; @m[$i] = 1; @m[$i++] += $i }", "@m[2]: 3\n"},
        {"begin { print((@c++, ++@c, @k[5]--, --@k[5], @c)) }",
         "(0, 2, 0, -2, 2)\n@c: 2\n@k[5]: -2\n"},
    });
}

BOOST_AUTO_TEST_CASE(loops_in_loops_have_as_many_turns_as_they_say,
                     *ut::precondition(test::has_helper{BPF_FUNC_loop})) {
    check_outcomes({
        {"begin { for ($i : 0..20) { for ($j : 0..20) { for ($k : 0..20) { @c++; @m = max($i * $j "
         "* "
         "$k) } } } }",
         "@c: 8000\n@m: 6859\n"},
        {"begin { $x = 0; for ($i : 0..100) { for ($j : 0..100) { if ($j == 7) { break; } $x += $j "
         "} "
         "} print($x) }",
         "2100\n"},
        {"begin { for ($i : 0..100) { for ($j : 0..129) { @n[$i] = $j } } print(@n[99]); clear(@n) "
         "}",
         "128\n"},
        {"begin { for ($i : 0..3) { $n = 0; while ($n < 4) { $n++; @c++ } } }", "@c: 12\n"},
    });
}

BOOST_AUTO_TEST_CASE(what_may_take_all_bits_has_no_sign) {
    check_outcomes({
        {"begin { $ip = (uint32)0xc0a80001; $k = $ip << 32; print($k); print($k >> 32) }",
         "13882345855664521216\n3232235521\n"},
        {"begin { $c = (uint32)0xffffffff; print(($c * $c, $c * $c > 5, ~$c)) }",
         "(18446744065119617025, true, 18446744069414584320)\n"},
        {"begin { $s = (uint16)7; print(($s * 8 - 100, -5 * $s, $s << 3)) }", "(-44, -35, 56)\n"},
    });
}

BOOST_AUTO_TEST_CASE(an_index_behind_a_text_is_told) {
    BOOST_TEST(test::script_refusal("begin { $s = \"abc\"; print($s[10]) }") ==
               "stdin:1:30-32: ERROR: the index 10 is out of bounds for array of size 4\n");
    BOOST_TEST(test::script_refusal("begin { print(curtask.comm[20]) }") ==
               "stdin:1:28-30: ERROR: the index 20 is out of bounds for array of size 16\n");
    const Ended ended =
        test::gpufs({"bt", "-q", "-e", "begin { $s = \"abc\"; $j = 8 + rand % 1; print($s[$j]) }"});
    BOOST_TEST(ended.out == "0\n\n\n");
    BOOST_TEST(has(ended.err, "WARNING: Array access out of bounds."), ended.err);
}

BOOST_AUTO_TEST_CASE(a_buffer_has_all_bytes_of_a_text) {
    check_outcomes({{R"(begin { print(buf("a\x00bc", 4)); print(buf("hello\x00\x01", 7)) })",
                     "a\\x00bc\nhello\\x00\\x01\n"}});
    BOOST_TEST(test::script_refusal("begin { print(str(0, -1)) }") ==
               "stdin:1:22-24: ERROR: str() wants a length, not -1\n");
}

BOOST_AUTO_TEST_CASE(a_map_is_declared_as_what_there_is) {
    BOOST_TEST(test::script_refusal("let @l = lru_hash(3); begin { @l[1] = 1 }") ==
               "stdin:1:1-21: ERROR: Invalid bpf map type: lru_hash\n"
               "HINT: one of hash, lruhash, percpuhash, percpulruhash, percpuarray\n");
}

// Two processes count on two CPUs while the map is printed and cleared each millisecond.
BOOST_AUTO_TEST_CASE(what_is_counted_while_a_map_is_cleared_is_in_the_next_print) {
    const std::string work = cat(test::work_binary(), " calls 150000 0");
    for (const char* count : {"@k[pid] = count()", "@k[pid]++", "@k = sum(1)", "@k[pid] += 1"}) {
        const Ended ended =
            test::gpufs({"run", "-e",
                         cat("tracepoint:syscalls:sys_enter_getppid /comm == \"gpufs-work\"/ { ",
                             count, " } interval:ms:1 { print(@k); print(1); clear(@k) }"),
                         "--", "sh", "-c", cat(work, " & ", work, "; wait")});
        long sum = 0;
        for (const std::string_view line : lines_of(ended.out))
            if (line.starts_with("@k"))
                sum += whole_number<long>(line.substr(line.rfind(' ') + 1)).value_or(0);
        BOOST_TEST(sum == 300000, count << ": " << sum << '\n' << ended.err);
    }
}

// Two CPUs never get one number: the value comes from the addition itself.
BOOST_AUTO_TEST_CASE(a_number_that_is_counted_up_is_given_once, *ut::label("pure")) {
    for (const char* script : {"begin { $v = @x++; print($v) }", "begin { print(++@k[pid]) }"})
        BOOST_TEST(test::gpufs({"bt", "-d", "asm", "-e", script}).out.find("atomic_fetch_add") !=
                       std::string::npos,
                   script);
}

BOOST_AUTO_TEST_CASE(a_pointer_to_something_else_is_a_mistake) {
    const std::string types = "struct b { int x; } struct a { int y; } ";
    BOOST_TEST(test::script_refusal(types + "begin { $x = (struct a *)1; $x = (struct b *)2 }") ==
               "stdin:1:69-87: ERROR: Type mismatch for $x: trying to assign value of type 'struct "
               "b *' when variable already contains a value of type 'struct a *'\n");
    check_outcomes(
        {{"struct a { int y; } begin { $x = (void *)1; $x = (struct a *)2; print($x) }", "0x2\n"}});
}

BOOST_AUTO_TEST_CASE(a_probe_has_one_name) {
    check_outcomes({{"i:ms:10 { @[probe] = 1; exit() }", "@[interval:ms:10]: 1\n"},
                    {"p:hz:500 { print(probe); exit() }", "profile:hz:500\n"}});
}

BOOST_AUTO_TEST_CASE(begin_runs_before_all_others) {
    check_outcomes({
        {"begin { @n = 1; } interval:us:20 { @n = @n == 1 ? 2 : 3; exit(); }", "@n: 2\n"},
    });
}

BOOST_AUTO_TEST_CASE(what_every_script_finds_defined) {
    check_outcomes({
        {"begin { assert(1 < 2, \"no\"); print(is_err(-2)); print(is_err(0)); }", "true\nfalse\n"},
        {"begin { @[1, 2] = 5; $v = 0; print(find(@, (1, 2), $v)); print($v); "
         "print(find(@, (2, 2), $v)); clear(@) }",
         "true\n5\nfalse\n"},
        {"struct s { int a; int b; } begin { print(container_of(16, struct s, b)) }", "0xc\n"},
        {"begin { print(has_cpid()) }", "false\n"},
        // One of the script's own goes before it.
        {"macro is_err(x) { x + 1 } begin { print(is_err(1)) }", "2\n"},
    });
    const test::Ended failed =
        test::gpufs({"bt", "-q", "-e", "begin { assert(1 > 2, \"one is less\"); print(1) }"});
    BOOST_TEST(failed.status == 1);
    BOOST_TEST(failed.out == "\n\n");
    BOOST_TEST(failed.err ==
               "stdlib/base.bt:6:5-37: ERROR: assert failed: one is less\n"
               "stdin:1:9-37: ERROR: expanded from\n"
               "begin { assert(1 > 2, \"one is less\"); print(1) }\n"
               "        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

BOOST_AUTO_TEST_CASE(what_is_known_before_the_run_decides_what_is_compiled) {
    check_outcomes({
        {"begin { $s = \"x\"; if comptime is_str($s) { print(1) } else { print($s + 1) } }", "1\n"},
        {"begin { if comptime (is_integer(pid) && is_unsigned_integer(pid)) { print(2) } }", "2\n"},
        {"begin { print((is_ptr(curtask), is_array(1), is_literal(3), is_literal(pid))) }",
         "(true, false, true, false)\n"},
        {"begin { static_assert(sizeof(1) == 1, \"never\"); print(3) }", "3\n"},
        {"begin { if comptime (1 > 2) { fail(\"not compiled\") } print(4) }", "4\n"},
    });
    BOOST_TEST(test::script_refusal("begin { static_assert(1 > 2, \"one is less\") }") ==
               "stdin:1:9-44: ERROR: one is less\n");
    BOOST_TEST(test::script_refusal("begin { fail(\"so it is\") }") ==
               "stdin:1:9-25: ERROR: so it is\n");
    BOOST_TEST(test::script_refusal("begin { if comptime (pid > 2) { print(1) } }") ==
               "stdin:1:22-29: ERROR: the condition is not known before the program runs\n");
}

BOOST_AUTO_TEST_CASE(a_difference_is_signed) {
    check_outcomes({
        {"begin { $b = (uint64)1 - (uint64)2; print(($b, $b < 0)) }", "(-1, true)\n"},
    });
}

BOOST_AUTO_TEST_CASE(enumerators_of_the_kernel_have_their_names,
                     *ut::precondition(test::has_types)) {
    check_outcomes({
        {"begin { printf(\"%s %d\\n\", PIDTYPE_SID, PIDTYPE_SID); print(PIDTYPE_SID); "
         "print(sizeof(PIDTYPE_SID)) }",
         "PIDTYPE_SID 3\nPIDTYPE_SID\n8\n"},
        {"begin { print(curtask->sched_info.pcount >= 0); print((ksym(0) == ksym(0))) }",
         "true\ntrue\n"},
    });
}

// What a predicate read is not read again, unless it is something else by then.
BOOST_AUTO_TEST_CASE(the_body_sees_what_it_wrote_and_other_keys_than_the_predicate) {
    check_outcomes({
        {"begin { @x[1] = 5 } interval:ms:10 /@x[1] == 5/ "
         "{ for ($i : 0..@x[1]++) { } print(@x[1]); clear(@x); exit() }",
         "6\n"},
        // Once, however many tasks come until exit() is taken up.
        {"config = { print_maps_on_exit = 0 } "
         "begin { for ($i : 0..500) { @m[$i] = 111 } @m[9999999] = 7 } "
         "tracepoint:sched:sched_switch /cpu == 0 && !@done && @m[args.next_prio] == 111/ "
         "{ @done = 1; $r = (next_prio = 9999999); print(@m[$r.next_prio]); exit() }",
         "7\n"},
    });
}

BOOST_AUTO_TEST_CASE(tasks_have_an_id_in_each_namespace) {
    check_outcomes({
        {"begin { print((pid == pid(curr_ns), tid == tid(curr_ns))) }", "(true, true)\n"},
    });
    BOOST_TEST(test::script_refusal("begin { print(pid(other)) }") ==
               "stdin:1:19-24: ERROR: Invalid PID namespace mode: other\n"
               "HINT: init or curr_ns\n");
}

BOOST_AUTO_TEST_CASE(one_mistake_does_not_hide_those_of_other_kinds) {
    BOOST_TEST(test::script_refusal("begin { print($a); @x = $b; print(@x); print(nosuch); "
                                    "print(@y) }") ==
               "stdin:1:15-17: ERROR: Undefined or undeclared variable: $a\n"
               "stdin:1:25-27: ERROR: Undefined or undeclared variable: $b\n"
               "stdin:1:46-52: ERROR: Unknown identifier: 'nosuch'\n"
               "stdin:1:61-63: ERROR: Undefined map: @y\n");
}

BOOST_AUTO_TEST_CASE(headers_are_those_of_the_kernel_and_of_c_or_files) {
    BOOST_TEST(test::script_refusal("#include <no/such.h>\nbegin { }") ==
               "stdin:1:1-21: ERROR: 'no/such.h' file not found\n"
               "HINT: it is looked for beside the script, and where -I says\n");
    BOOST_TEST(test::script_refusal("#include \"nosuch.h\"\nbegin { }") ==
               "stdin:1:1-20: ERROR: 'nosuch.h' file not found\n"
               "HINT: it is looked for beside the script, and where -I says\n");
    check_outcomes(
        {{"#include <linux/nosuch.h>\n#include <errno.h>\nbegin { print(EPERM) }", "1\n"}});
}

BOOST_AUTO_TEST_CASE(options_may_be_negative_numbers) {
    BOOST_TEST(
        test::gpufs({"bt", "-q", "-e", "begin { print((getopt(\"a\", -1), getopt(\"b\", 1))) }",
                     "--", "--b=-7"})
            .out == "(-1, -7)\n\n\n");
}

// In a program that is compared with what 0.17 printed.
BOOST_AUTO_TEST_CASE(a_script_may_mean_what_it_meant_to_bpftrace_0_17) {
    const auto outcome = [](const std::string& script) {
        return test::shell("BPFTRACE_LANGUAGE=0.17 $GPUFS bt -q -e '" + script + "'").out;
    };
    BOOST_TEST(outcome("begin { @ = (int32 *)32; @++ }") == "\n\n@: 36\n");
    BOOST_TEST(outcome("begin { $x = 1; print((sizeof($x), sizeof(1 == 1), 2 > 1)) }") ==
               "(8, 8, 1)\n\n\n");
    BOOST_TEST(outcome("begin { $u = (uint64)1; printf(\"%d %d\\n\", $u > -1, $u < 2) }") ==
               "0 1\n\n\n");
    BOOST_TEST(outcome("begin { $a = (int64)-9; $b = (int64)1; "
                       "printf(\"%d %d %d\\n\", $a > ($b || $b), $a > ($b == 1), $a > !$b) }") ==
               "0 0 1\n\n\n");
    BOOST_TEST(outcome("begin { @ = count(); clear(@) }") == "\n\n@: 0\n");
    BOOST_TEST(
        outcome("begin { if (pid == 0) { @n = count(); @x = 1; @y = (1, 2); @s = sum(1) } }") ==
        "\n\n@n: 0\n");
    BOOST_TEST(outcome("begin { @ = stats(-4); @a[1] = avg(5) }") ==
               "\n\n@: count 1, average -4, total -4\n\n@a[1]: 5\n\n");
    BOOST_TEST(
        outcome("begin { @s[1] = stats(10); @s[2] = stats(5); print(@s, 1, 2); clear(@s) }") ==
        "@s[2]: count 1, average 5, total 5\n@s[1]: count 1, average 10, total 10\n\n\n\n");
    BOOST_TEST(outcome("begin { @ = hist(1 << 40) }") ==
               cat("\n\n@:\n[2G, 4G)               1 |", std::string(52, '@'), "|\n\n"));
    BOOST_TEST(outcome("begin { @ = lhist(5, 0, 10, 1) }") ==
               cat("\n\n@:\n[5, 6)                 1 |", std::string(52, '@'), "|\n\n"));
    BOOST_TEST(outcome("begin { @ = lhist(9, 0, 10, 3) }") ==
               cat("\n\n@:\n[10, ...)              1 |", std::string(52, '@'), "|\n\n"));
    BOOST_TEST(outcome("begin { print((config.max_strlen, config.str_trunc_trailer)) }") ==
               "(64, )\n\n\n");
    const test::Ended attached =
        test::shell("BPFTRACE_LANGUAGE=0.17 $GPUFS bt -k -e 'begin { @[1] = 1; delete(@[2]) }'");
    BOOST_TEST(attached.out == "Attaching 1 probe...\n\n\n@[1]: 1\n");
    BOOST_TEST(attached.err ==
               "stdin:1:26-30: WARNING: Failed to map_delete_elem: No such file or directory "
               "(-2)\n"
               "begin { @[1] = 1; delete(@[2]) }\n"
               "                         ~~~~\n");
    BOOST_TEST(test::script_refusal("config = { language = \"0.17\"; } tracepoint:no:such { }") ==
               "stdin:1:33-51: ERROR: tracepoint not found: no:such\n"
               "HINT: 'gpufs list' has the events of this kernel\n");
    BOOST_TEST(test::script_refusal("config = { language = \"0.18\"; } begin { }") ==
               "stdin:1:12-29: ERROR: language is newest or 0.17, not 0.18\n");
}

BOOST_AUTO_TEST_CASE(constants_that_do_not_fit_are_refused) {
    const auto wraps = [](const std::string& text) {
        return test::script_refusal(cat("begin { print(", text, ") }")) ==
               cat("stdin:1:15-", 15 + text.size(),
                   ": ERROR: unable to fold literals due to overflow or underflow\n"
                   "HINT: the result does not fit in 64 bits\n");
    };
    for (const char* text :
         {"0xffffffffffffffff + 1", "9223372036854775807 * 2", "1 << 64", "1 >> 64",
          "0x8000000000000000 + -1", "0xffffffffffffffff * 0xffffffffffffffff"})
        BOOST_TEST(wraps(text), text);
    BOOST_TEST(test::script_refusal("begin { print(18446744073709551616) }") ==
               "stdin:1:15-35: ERROR: the number 18446744073709551616 does not fit in 64 bits\n");
    check_outcomes({{"begin { print((-9223372036854775808, 9223372036854775808 - 1, "
                     "0x8000000000000000 << 1, 1 << 62)) }",
                     "(-9223372036854775808, 9223372036854775807, 0, 4611686018427387904)\n"},
                    {"config = { language = \"0.17\" } BEGIN { printf(\"%ld\\n\", "
                     "0x7fffffffffffffff + 1); exit(); }",
                     "-9223372036854775808\n"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
