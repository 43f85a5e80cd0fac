#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/diagnostics.h"
#include "bt/compile/compile.h"
#include "bt/compile/compiled.h"
#include "bt/infer/infer.h"
#include "bt/parse/parse.h"
#include "bt/types/typed.h"
#include "bt/types/types_text.h"
#include "lang/insn/program_text.h"

// What each pass makes of a script, as `gpufs bt -d` shows it.
namespace gpufs::bt {
namespace {

constexpr const char* kScript =
    "tracepoint:sched:sample /args.number > 5/ {\n"
    "  $twice = args.number * 2;\n"
    "  @n[comm] = count();\n"
    "  @last = $twice;\n"
    "}\n";

Script sample_script(const char* text = kScript) {
    ParseInput input;
    input.source = {"script", text};
    return parse(input);
}

Compiled with_stages(const char* text = kScript) {
    const Script script = sample_script(text);
    test::SampleWorld world = test::world_with_event();
    CompileOptions options;
    options.keeps_stages = true;
    return compile(script, world, options);
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bt_passes)

BOOST_AUTO_TEST_CASE(the_types_of_maps_variables_and_expressions) {
    const Script script = sample_script();
    test::SampleWorld world = test::world_with_event();
    Diagnostics mistakes;
    const TypeTable table(script, world, mistakes);
    const Typed typed = infer_types(script, world, table, {}, mistakes);
    mistakes.throw_if_any();
    BOOST_TEST(types_text(script, typed) ==
               "@n[string[16]]: count_t, 4096 elements\n"
               "@last: int64, 4096 elements\n"
               "tracepoint:sched:sample\n"
               "  $twice: int64\n"
               "    args.number > 5: bool\n"
               "    args.number: int32\n"
               "    $twice: int64\n"
               "    args.number * 2: int64\n"
               "    args.number: int32\n"
               "    comm: string[16]\n"
               "    count(): count_t\n"
               "    @last: int64\n"
               "    $twice: int64\n");
}

BOOST_AUTO_TEST_CASE(the_code_before_registers_are_assigned) {
    const std::string ir = with_stages().ir_text;
    BOOST_TEST(ir.starts_with("tracepoint_0:\n    t0 = r1\n"), ir);
    BOOST_TEST(ir.find("map_update_elem") != std::string::npos, ir);
    BOOST_TEST(ir.find(" = @last\n") != std::string::npos, ir);
    BOOST_TEST(has_line(ir, "    *(u64 *)(slot0 + 8) = 0"), ir);
    BOOST_TEST(has_line(ir, "    exit"), ir);
}

BOOST_AUTO_TEST_CASE(an_element_is_read_only_where_its_value_is_asked_for) {
    const auto looks_up = [](const char* text) {
        return with_stages(text).ir_text.find("map_lookup_elem") != std::string::npos;
    };
    // Where two places add to it, a function looks it up.
    BOOST_TEST(!looks_up("tracepoint:sched:sample { @[pid]++; --@[tid]; }"));
    const std::string text =
        with_stages("tracepoint:sched:sample { $before = @[pid]++; @last = $before; }").ir_text;
    BOOST_TEST(text.find("call fetch.") != text.npos, text);
}

// How often the last program of a script looks an element up.
std::size_t lookups_of(const std::string& script) {
    const std::string text = program_text(with_stages(script.c_str()).program);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("# map_lookup_elem", at)) != text.npos; ++at) ++count;
    return count;
}

BOOST_AUTO_TEST_CASE(what_the_predicate_has_read_is_not_looked_up_again) {
    const auto after = [](const std::string& predicate, const std::string& body,
                          const std::string& key = "tid") {
        return lookups_of("begin { @s[" + key + "] = 1; } tracepoint:sched:sample /" + predicate +
                          "/ { " + body + " }");
    };
    BOOST_TEST(after("@s[tid]", "@last = nsecs - @s[tid]; delete(@s[tid]);") == 1);
    BOOST_TEST(after("@s[tid, 1] > 5 && cpu == 2", "if (@s[tid, 1] > 7) { print(@s[tid, 1]); }",
                     "tid, 1") == 1);
    BOOST_TEST(after("@s[args.number]", "@s[args.number] = @s[args.number] + 1;", "(int32)1") == 1);
    BOOST_TEST(after("!@s[tid]", "$a = @s[tid]; @s[tid] = $a;") == 1);

    // Another element; one of another time; and one that may be something else by then.
    BOOST_TEST(after("@s[tid]", "@last = @s[pid];") == 2);
    BOOST_TEST(after("@s[nsecs]", "@last = @s[nsecs];", "nsecs") == 2);
    BOOST_TEST(after("@s[tid]", "@s[pid] = 1; @last = @s[tid];") == 2);
    BOOST_TEST(after("@s[tid]", "delete(@s[tid]); @last = @s[tid];") == 2);
    BOOST_TEST(after("@s[tid]", "if (cpu) { delete(@s[tid]); } @last = @s[tid];") == 2);
    // What the predicate may have left out.
    BOOST_TEST(after("cpu || @s[tid]", "@last = @s[tid];") == 2);
    BOOST_TEST(after("(cpu && @s[tid]) == 0", "@last = @s[tid];") == 2);
    BOOST_TEST(after("cpu ? @s[tid] : 1", "@last = @s[tid];") == 2);
    // Loops come back.
    BOOST_TEST(after("@s[tid]", "while (@s[tid] < 9) { @s[tid] = 10; }") == 2);
    BOOST_TEST(after("@s[tid]", "unroll (2) { @last = @s[tid]; @s[tid] = 3; }") == 3);
}

BOOST_AUTO_TEST_CASE(slots_of_a_histogram_without_keys_are_an_array) {
    const auto type_of = [](const char* text) {
        return with_stages(text).program.find_map("@h")->type;
    };
    BOOST_TEST(type_of("tracepoint:sched:sample { @h = hist(args.number); }") ==
               BPF_MAP_TYPE_ARRAY);
    BOOST_TEST(type_of("tracepoint:sched:sample { @h[pid] = hist(1); }") == BPF_MAP_TYPE_HASH);
    // What was taken away or zeroed is not what never was.
    BOOST_TEST(type_of("tracepoint:sched:sample { @h = hist(1); clear(@h) }") == BPF_MAP_TYPE_HASH);
    BOOST_TEST(type_of("tracepoint:sched:sample { @h = hist(1); zero(@h) }") == BPF_MAP_TYPE_HASH);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_a_key_alone_is_not_copied) {
    const std::string ir = with_stages(
                               "tracepoint:sched:sample { @[comm] = count(); } "
                               "tracepoint:other:sample_event { @[comm] = count(); }")
                               .ir_text;
    BOOST_TEST(ir.find("slot1") == std::string::npos, ir);
}

BOOST_AUTO_TEST_CASE(a_name_is_written_where_it_is_to_be) {
    const auto sent = [](const char* text) { return program_text(with_stages(text).program); };
    // In a record, behind the number in front; its id has the bytes up to the number.
    const std::string text =
        sent("tracepoint:sched:sample { printf(\"%d %s %d\", pid, comm, args.number); }");
    BOOST_TEST(text.starts_with("tracepoint_0: tracepoint sched:sample\n"
                                "    r6 = r1\n"
                                "    r0 = record0\n"
                                "    *(u64 *)(r10 - 40) = r0\n"
                                "    call 14  # get_current_pid_tgid\n"
                                "    r0 >>= 32\n"
                                "    *(u64 *)(r10 - 32) = r0\n"
                                "    r1 = r10\n"
                                "    r1 += -24\n"
                                "    r2 = 16\n"
                                "    call 16  # get_current_comm\n"
                                "    r0 = @number(r6)\n"),
               text);
    // In a part of a key; of fewer bytes than it has, it is copied.
    BOOST_TEST(
        has_line(sent("tracepoint:sched:sample { @[pid, comm] = count(); }"), "    r1 += -24"));
    BOOST_TEST(has_line(sent("tracepoint:sched:sample { @[(string[8])comm] = count(); }"),
                        "    call 16  # get_current_comm"));
}

BOOST_AUTO_TEST_CASE(a_histogram_takes_no_operations_that_change_nothing) {
    const std::string text =
        program_text(with_stages("tracepoint:sched:sample { @ = hist(args.number); }").program);
    for (const char* const idle : {" -= 0\n", " &= 0\n", " <<= 0\n", " += 0\n"})
        BOOST_TEST(text.find(idle) == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(the_instructions_with_the_names_that_loading_resolves) {
    const char* const script =
        "tracepoint:sched:sample { @n[pid] = count(); @n[tid] = count(); @last = args.number; }";
    const std::string text = program_text(with_stages(script).program);
    BOOST_TEST(text.starts_with("tracepoint_0: tracepoint sched:sample\n"), text);
    BOOST_TEST(has_line(text, "add.@n:"), text);
    BOOST_TEST(text.find("    call add.@n\n") != std::string::npos, text);
    BOOST_TEST(text.find(" = @last\n") != std::string::npos, text);
    BOOST_TEST(has_line(text, "    exit"), text);
}

BOOST_AUTO_TEST_CASE(a_text_that_is_sent_is_read_in_one_piece) {
    const std::string text = program_text(
        with_stages("tracepoint:sched:sample { printf(\"%s\", str(args.text)); }").program);
    // On the stack, as nothing else is there; of a byte more than it has, as one without an end is
    // cut; and what lies behind its end is not cleared.
    BOOST_TEST(text.starts_with("tracepoint_0: tracepoint sched:sample\n"
                                "    r6 = r1\n"
                                "    r0 = record0\n"
                                "    *(u64 *)(r10 - 272) = r0\n"
                                "    r3 = @text(r6)\n"
                                "    r1 = r10\n"
                                "    r1 += -264\n"
                                "    r2 = 257\n"
                                "    call 115  # probe_read_kernel_str\n"
                                "    r2 = r10\n"
                                "    r2 += -272\n"
                                "    r1 = r6\n"
                                "    r3 = 264\n"
                                "    call send\n"),
               text);
}

BOOST_AUTO_TEST_CASE(large_values_lie_on_the_stack_where_all_of_them_fit) {
    const auto has_frame = [](const char* text) {
        return with_stages(text).program.find_subprogram("claim_frame") != nullptr;
    };
    BOOST_TEST(!has_frame("tracepoint:sched:sample { @[str(args.text)] = count(); }"));
    // One after the other they share bytes.
    BOOST_TEST(
        !has_frame("tracepoint:sched:sample { printf(\"%s\", str(args.text)); "
                   "printf(\"%s\", str(args.text)); }"));
    BOOST_TEST(
        has_frame("tracepoint:sched:sample { @[str(args.text), str(args.text)] = count(); }"));
    // What it calls needs room, too.
    BOOST_TEST(has_frame("tracepoint:sched:sample { @[str(args.text), kstack] = count(); }"));
}

BOOST_AUTO_TEST_CASE(many_bytes_are_cleared_by_one_call) {
    const std::string text = program_text(
        with_stages("tracepoint:sched:sample { @[str(args.text)] = count(); }").program);
    BOOST_TEST(has_line(text, "    r3 = zeros"), text);
    BOOST_TEST(has_line(text, "    call 113  # probe_read_kernel"), text);
}

BOOST_AUTO_TEST_CASE(what_is_added_to_a_value_without_a_key_is_added_at_its_address) {
    BOOST_TEST(program_text(with_stages("tracepoint:sched:sample { @ = count(); }").program) ==
               "tracepoint_0: tracepoint sched:sample\n"
               "    r0 = @\n"
               "    r2 = 1\n"
               "    lock *(u64 *)(r0 + 0) += r2\n"
               "    r0 = 0\n"
               "    exit\n");
    const auto has_calls = [](const char* text) {
        return program_text(with_stages(text).program).find("    call ") != std::string::npos;
    };
    BOOST_TEST(!has_calls("tracepoint:sched:sample { @ = sum(args.number); @++; @n = 2; }"));
    BOOST_TEST(!has_calls("tracepoint:sched:sample { @ = avg(args.number); @m = @ * 2; }"));
    // What is deleted is not there, and no text changes at once.
    BOOST_TEST(has_calls("tracepoint:sched:sample { @n = 2; delete(@n); }"));
    BOOST_TEST(has_calls("tracepoint:sched:sample { @n = 2; } begin { clear(@n); }"));
    BOOST_TEST(has_calls("tracepoint:sched:sample { @ = \"text\"; }"));
}

BOOST_AUTO_TEST_CASE(the_only_place_that_adds_to_a_map_does_so_without_a_function) {
    const auto has_function = [](const char* text) {
        return with_stages(text).program.find_subprogram("add.@") != nullptr;
    };
    BOOST_TEST(!has_function("tracepoint:sched:sample { @[pid] = count(); }"));
    BOOST_TEST(!has_function("tracepoint:sched:sample { @[pid] = hist(args.number); print(@); }"));
    BOOST_TEST(
        !has_function("tracepoint:sched:sample { @[pid] = 1; if (@[pid] > 1) { @[0]--; } }"));
    BOOST_TEST(has_function("tracepoint:sched:sample { @[pid] = count(); @[tid] = count(); }"));
    BOOST_TEST(has_function("tracepoint:sched:sample { unroll (3) { @[pid] = count(); } }"));
    BOOST_TEST(
        has_function("tracepoint:sched:sample, tracepoint:other:sample_event "
                     "{ @[args.number]++; }"));
    // Of extremes the code depends on the kernel.
    BOOST_TEST(has_function("tracepoint:sched:sample { @[pid] = max(args.number); }"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs::bt
