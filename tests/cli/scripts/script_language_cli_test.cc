#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "cli/scripts/script_support.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

// Types, expressions, loops and functions of scripts, as they run.
namespace ut = boost::unit_test;

namespace gpufs {

using test::check_outcomes;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts_language)

BOOST_AUTO_TEST_CASE(pointers_move_by_what_they_point_to) {
    check_outcomes({
        {"begin { @ = (int8 *)0x32; @ += 1; }", "@: 0x33\n"},
        {"begin { @ = (uint32 *)0x32; @ -= 1; @++; @++; }", "@: 0x36\n"},
        {"begin { @n = 4; @ = (uint64 *)0x32; @ += @n; }", "@: 0x52\n@n: 4\n"},
        {"begin { $p = (int16 *)0x32; $p++; $p += 2; $p--; print($p) }", "0x36\n"},
        {"struct s { int a; int b; } begin { print((struct s *)16 + 1) }", "0x18\n"},
    });
}

BOOST_AUTO_TEST_CASE(variables_have_addresses) {
    check_outcomes({
        {"begin { $a = 7; $b = &$a; $a = 8; print(*$b) }", "8\n"},
        {"begin { $a = (1, \"two\", 3); print(*(&$a)) }", "(1, two, 3)\n"},
        {"begin { $a = \"hi\"; $b = (int8 *)&$a; printf(\"%c%c\\n\", *$b, *++$b) }", "hi\n"},
        {"struct s { unsigned char a : 1, b : 3; } begin { $n = (uint64)0xb; $s = *(struct s "
         "*)&$n; "
         "print($s) }",
         "{ .a = 1, .b = 5 }\n"},
    });
}

// Room is as the language has it, not as it lies here.
BOOST_AUTO_TEST_CASE(a_declared_variable_keeps_its_type) {
    check_outcomes({
        {"begin { let $a : int8 = 127; $a += 1; print($a); $a = -128; $a--; print($a) }",
         "-128\n127\n"},
        {"begin { let $a : uint16; $a--; print($a); print(sizeof($a)); @ = $a }",
         "65535\n2\n@: 65535\n"},
        {"begin { let $a : uint8 = 250; for ($i : 0..10) { $a++ } print($a); $p = &$a; print(*$p) "
         "}",
         "4\n4\n"},
        {"begin { let $a : int8; $a = (int32)300; print(($a, $a * 2)) }", "(44, 88)\n"},
    });
}

BOOST_AUTO_TEST_CASE(sizes_are_those_of_the_language) {
    check_outcomes({
        {"begin { $x = 1; print(sizeof($x)); $y = 300; print(sizeof($y)) }", "1\n2\n"},
        {"begin { print(sizeof(1 == 1)); print(sizeof(\"abc\")); print(sizeof(pid)) }",
         "1\n4\n4\n"},
        {"begin { $t = ((int8)1, (int16)1, (int32)1); print(sizeof($t)) }", "8\n"},
        {"begin { $t = (1, \"abcdef\", (int64)1, \"abc\"); print(sizeof($t)) }", "24\n"},
        {"begin { $x = 1; $x++; print(sizeof($x)) }", "8\n"},
    });
}

BOOST_AUTO_TEST_CASE(arrays_are_made_of_numbers_and_texts) {
    check_outcomes({
        {"begin { print((int8[])\"hello\") }", "[104,101,108,108,111,0]\n"},
        {"begin { print((uint8[])12345) }", "[57,48]\n"},
        {"begin { print(((uint8[8])0x0102)[1]) }", "1\n"},
        {"begin { $s = \"abc\"; $i = (uint64)pid * 0 + 1; printf(\"%c\\n\", $s[$i]) }", "b\n"},
    });
}

BOOST_AUTO_TEST_CASE(loops_go_over_ranges_that_are_not_known_before) {
    check_outcomes({
        {"begin { for ($i : 0..1000) { if ($i == 500) { break } if ($i % 2) { continue } @ += 1 } "
         "}",
         "@: 250\n"},
        {"begin { $n = pid * 0 + 3; for ($i : 0..$n) { for ($k : 0..$n) { @ += 1; if ($i == 1) { "
         "return } } } @ = 0 }",
         "@: 4\n"},
    });
}

// Without bpf_loop() the verifier goes through all turns, and there may be any number of them.
constexpr const char* kLoopToValue =
    "begin { @n = 5; for ($i : 1..@n) { printf(\"%d\", $i); @n += 1 } printf(\"\\n\") }";

BOOST_AUTO_TEST_CASE(the_end_of_a_range_may_be_any_number,
                     *ut::precondition(test::has_helper{BPF_FUNC_loop})) {
    check_outcomes({{kLoopToValue, "1234\n@n: 9\n"}});
}

BOOST_AUTO_TEST_CASE(a_range_that_may_have_any_end_is_refused_with_the_kernel_that_takes_it,
                     *ut::precondition(test::lacks_helper{BPF_FUNC_loop})) {
    BOOST_TEST(test::script_refusal(kLoopToValue) ==
               "stdin:1:1-1: ERROR: the kernel's verifier refused this\n"
               "HINT: this kernel goes through all turns of a loop in advance; Linux 5.17 or later "
               "does not\n");
}

BOOST_AUTO_TEST_CASE(what_needs_a_helper_that_the_kernel_lacks_names_it,
                     *ut::precondition(test::lacks_helper{BPF_FUNC_for_each_map_elem})) {
    BOOST_TEST(test::script_refusal("begin { @[1] = 1; for ($x : @) { print($x) } }") ==
               "stdin:1:19-45: ERROR: this kernel's programs of this kind cannot call "
               "bpf_for_each_map_elem\n"
               "HINT: Linux 5.13 or later\n");
}

BOOST_AUTO_TEST_CASE(loops_over_maps_lie_in_each_other_and_in_macros,
                     *ut::precondition(test::has_helper{BPF_FUNC_for_each_map_elem})) {
    check_outcomes({
        {"begin { @a[1] = 1; @a[2] = 2; @b[1] = 1; @b[2] = 1; for ($x : @a) { for ($y : @b) { @n "
         "+= "
         "$x.1 * $y.1 } } clear(@a); clear(@b) }",
         "@n: 6\n"},
        {"macro total(@m) { let $sum = 0; for ($kv : @m) { $sum += $kv.1 } $sum } begin { @a[1] = "
         "5; @b[2] = 7; print((total(@a), total(@b))); clear(@a); clear(@b) }",
         "(5, 7)\n"},
    });
}

BOOST_AUTO_TEST_CASE(blocks_and_choices_have_values) {
    check_outcomes({
        {"begin { @ = { let $a = 100; avg($a) }; }", "@: 100\n"},
        {"begin { $x = 1; print(if ($x) { if ($x > 1) { 2 } else { 3 } } else { 4 }) }", "3\n"},
        {"macro sign(x) { if (x < 0) { -1 } else if (x > 0) { 1 } else { 0 } } begin { "
         "print((sign(-5), sign(5), sign(0))) }",
         "(-1, 1, 0)\n"},
        {"macro say(@m, x) { if (x) { @m = 1 } else { print(2) } } begin { say(@, pid) }",
         "@: 1\n"},
    });
}

// The clock is a map, so that the intervals are known.
BOOST_AUTO_TEST_CASE(a_function_need_not_have_a_result) {
    check_outcomes({
        {"fn g($a : int64) : void { if ($a == 4) { return; } print($a); } begin { g(3); g(4); }",
         "3\n"},
    });
}

BOOST_AUTO_TEST_CASE(operands_are_read_in_order) {
    check_outcomes({
        {"begin { $a = 1; print($a + $a++); print($a + { $a = 5; 1 }); print($a) }", "2\n3\n5\n"},
        {"begin { $a = 1; print($a == $a++); print($a < { $a = 0; 3 }) }", "true\ntrue\n"},
        {"begin { $a = 3; @[$a, $a++] = 1 }", "@[3, 3]: 1\n"},
        {"begin { $a = \"b\"; print($a == { $a = \"c\"; \"b\" }); @[$a, { $a = \"d\"; $a }] = 1 }",
         "true\n@[c, d]: 1\n"},
        {"begin { @s = \"b\"; print(@s == { @s = \"c\"; \"b\" }) }", "true\n@s: c\n"},
        {"begin { $a = 2; $a += $a++; print($a); $a *= { $a = 7; 2 }; print($a) }", "4\n8\n"},
        {"begin { $a = (1, 2); print(($a, { $a = (3, 4); 5 })) }", "((1, 2), 5)\n"},
    });
}

BOOST_AUTO_TEST_CASE(time_series_have_a_value_for_each_interval) {
    const std::string script =
        "begin { @ts = (uint64)100ms; $i = 0; while ($i < 4) { %; @ts += 50ms; $i++ } clear(@ts); "
        "}";
    const auto series = [&](const std::string& assigned, const std::string& form) {
        test::Child::Setup setup;
        std::string text = script;
        text.replace(text.find('%'), 1, assigned);
        setup.argv = {test::gpufs_binary(), "bt", "-q", "-f", form, "-e", text};
        setup.environment.push_back("BPFTRACE_DUMMY_TS_MAP=@ts");
        test::Child child(setup);
        const test::Ended ended = child.wait();
        BOOST_TEST(ended.status == 0, ended.err);
        return ended.out;
    };
    const auto in_json = [](std::string_view first, std::string_view second) {
        return cat(R"({"type": "tseries", "data": {"@": [{"interval_start":)",
                   R"("1970-01-01 00:00:00.100000000","value":)", first,
                   R"(},{"interval_start":"1970-01-01 00:00:00.200000000","value":)", second,
                   "}]}}\n");
    };
    BOOST_TEST(series("@ = tseries($i, 100ms, 2)", "json") == in_json("1", "3"));
    BOOST_TEST(series("@ = tseries(-$i, 100ms, 2, \"min\")", "json") == in_json("-1", "-3"));
    BOOST_TEST(series("@ = tseries($i, 100ms, 2, \"max\")", "json") == in_json("1", "3"));
    BOOST_TEST(series("@ = tseries($i, 100ms, 2, \"sum\")", "json") == in_json("1", "5"));
    BOOST_TEST(series("@ = tseries(2 * $i, 100ms, 2, \"avg\")", "json") == in_json("1", "5"));
    BOOST_TEST(series("@ = tseries($i, 100ms, 2); clear(@)", "json") == "");
    BOOST_TEST(test::has(series("@[\"k\"] = tseries($i, 100ms, 1)", "text"), "@[k]:\n"));
}

BOOST_AUTO_TEST_CASE(texts_are_searched_up_to_their_ends) {
    check_outcomes({
        {"begin { $s = \"foobar\"; $p = \"bar\"; print(strcontains($s, $p)) }", "true\n"},
        {"begin { $p = \"baz\"; print(strcontains(\"foobar\", $p)) }", "false\n"},
        {"begin { $s = \"hello\\0world\"; print(strcontains($s, \"world\")) }", "false\n"},
        {"begin { $p = \"wo\\0x\"; print(strcontains(\"hello world\", $p)) }", "true\n"},
        {"begin { print(strcontains(\"hello\", \"lo\\0x\")); print(strcontains(\"a\", \"\")) }",
         "true\ntrue\n"},
    });
}

BOOST_AUTO_TEST_CASE(the_number_of_elements_is_a_number,
                     *ut::precondition(test::has_helper{BPF_FUNC_for_each_map_elem})) {
    check_outcomes({
        {"begin { @[1] = 1; @[2] = 2; $n = len(@); if ($n > 1) { print($n) } clear(@) }", "2\n"},
    });
}

BOOST_AUTO_TEST_CASE(what_a_probe_is_has_a_name_and_a_mode) {
    check_outcomes({
        {"begin { print((probetype, usermode)); print(probetype == probetype()) }",
         "(special, 1)\ntrue\n"},
    });
}

BOOST_AUTO_TEST_CASE(records_have_their_fields_in_any_order) {
    check_outcomes({
        {"begin { $r = (a=1, b=\"x\"); $r = (b=\"yy\", a=2); print($r) }", "{ .a = 2, .b = yy }\n"},
        {"begin { print((a=1, b=2) == (b=2, a=1)) }", "true\n"},
    });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
