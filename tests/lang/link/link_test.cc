#include "lang/link/link.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "lang/link/maker.h"

namespace gpufs {
namespace {

using test::field_load;
using test::item_of;
using test::jump_to;
using test::kLoadField;
using test::label_of;
using test::macro;
using test::Maker;
using test::same_code;
using test::tracepoint;
using test::wide_of;
using test::with;
using Kind = Relocation::Kind;

BOOST_AUTO_TEST_SUITE(link_test)

BOOST_AUTO_TEST_CASE(every_mistake_is_told_in_one_go) {
    Maker m;
    m.line("r6 = *(u64 *)(r1 + @a)", field_load(insn::load(Width::dw, Reg::r6, Reg::r1, 0), "a"),
           "@a");
    m.line("goto nowhere", jump_to(insn::go(0), "nowhere"), "nowhere");
    m.line("r1 = counts ll", with(wide_of(Reg::r1, 0), Kind::map, "counts"), "counts");
    m.line("call f", with(item_of(insn::call_local(0)), Kind::subprogram, "f"), "f");
    BOOST_TEST(m.refusal() ==
               "watch.bpf:1:20: error: gpu:thing has no field 'a'\n"
               "r6 = *(u64 *)(r1 + @a)\n"
               "                   ^~\n"
               "watch.bpf:2:6: error: no label is named 'nowhere'\n"
               "goto nowhere\n"
               "     ^~~~~~~\n"
               "watch.bpf:3:6: error: no map is named 'counts'\n"
               "r1 = counts ll\n"
               "     ^~~~~~\n"
               "watch.bpf:4:6: error: no function is named 'f'\n"
               "call f\n"
               "     ^");
}

BOOST_AUTO_TEST_CASE(guards_choose_what_is_assembled) {
    Maker m;
    const auto guard = [&](Guard::Kind kind, std::string name, bool negated, std::size_t outer) {
        m.program.guards.push_back({kind, std::move(name), negated, outer, {}});
        return m.program.guards.size();
    };
    const auto under = [&](std::size_t index, std::int32_t value) {
        CodeItem item = item_of(insn::alu64(AluOp::add, Reg::r0, value));
        item.guard = index;
        m.line("add", item);
    };
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    const auto has_seqno = guard(Guard::Kind::has_field, "seqno", false, 0);
    under(has_seqno, 1);
    under(guard(Guard::Kind::has_field, "nosuch", false, 0), 2);
    under(guard(Guard::Kind::has_field, "nosuch", true, 0), 3);
    under(guard(Guard::Kind::is_event, "gpu:thing", false, has_seqno), 4);
    under(guard(Guard::Kind::is_event, "gpu:other", false, 0), 5);
    under(guard(Guard::Kind::has_event, "gpu:there", false, 0), 6);
    under(guard(Guard::Kind::has_event, "gpu:gone", false, 0), 7);
    under(guard(Guard::Kind::has_feature, "ringbuf", false, 0), 8);
    under(guard(Guard::Kind::has_feature, "batch", false, 0), 9);
    under(guard(Guard::Kind::has_field, "count", false,
                guard(Guard::Kind::has_field, "nosuch", false, 0)),
          10);
    under(guard(Guard::Kind::is_raw, "", false, 0), 11);
    under(guard(Guard::Kind::is_raw, "", true, 0), 12);
    under(guard(Guard::Kind::has_module, "there", false, 0), 13);
    under(guard(Guard::Kind::has_module, "there 2.10", false, 0), 14);
    under(guard(Guard::Kind::has_module, "there 3", false, 0), 15);
    under(guard(Guard::Kind::has_module, "gone", true, 0), 16);
    m.exit();
    LinkTarget target = tracepoint();
    target.has_module = [](std::string_view name, std::string_view version) {
        return name == "there" && version != "3";
    };
    target.features = {"ringbuf"};
    target.has_event = [](std::string_view name) { return name == "gpu:there"; };
    const auto added = [&] {
        std::vector<int> values;
        for (const bpf_insn& op : m.link(target).insns)
            if (op.code == (BPF_ALU64 | BPF_ADD)) values.push_back(op.imm);
        return values;
    };
    BOOST_TEST(added() == (std::vector<int>{1, 3, 4, 6, 8, 12, 13, 14, 16}),
               boost::test_tools::per_element());
    target.context = LinkTarget::Context::raw_arguments;
    BOOST_TEST(added() == (std::vector<int>{1, 3, 4, 6, 8, 11, 13, 14, 16}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(labels_become_distances) {
    Maker m;
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    m.line("again:", label_of("again"));
    m.line("r2 = 1 ll", wide_of(Reg::r2, 0x1'0000'0000));
    m.line("if r0 == 3 goto out", jump_to(insn::jump64(JumpOp::eq, Reg::r0, 3, 0), "out"));
    m.line("r0 += 1", item_of(insn::alu64(AluOp::add, Reg::r0, 1)));
    m.line("goto again", jump_to(insn::go(0), "again"));
    m.line("out:", label_of("out")).exit();
    const auto insns = m.link().insns;
    BOOST_TEST(insns[3].off == 2);
    BOOST_TEST(insns[5].off == -5);
    BOOST_TEST(insns[1].imm == 0);
    BOOST_TEST(insns[2].imm == 1);
    VmState world;
    BOOST_TEST(test::run_bpf(insns, {}, world) == 3u);
}

BOOST_AUTO_TEST_CASE(jumps_by_number_count_the_slots_that_were_written) {
    Maker m;
    CodeItem dropped = item_of(insn::mov(Reg::r0, 7));
    m.program.guards.push_back({Guard::Kind::has_field, "nosuch", false, 0, {}});
    dropped.guard = 1;
    m.line("r0 = 1", item_of(insn::mov(Reg::r0, 1)));
    m.line("if r0 == 1 goto +4", item_of(insn::jump64(JumpOp::eq, Reg::r0, 1, 4)));
    m.line("r2 = 5 ll", wide_of(Reg::r2, 5));
    m.line("r0 = 7", dropped);
    m.line("r0 = 2", item_of(insn::mov(Reg::r0, 2))).exit();
    BOOST_TEST(m.link().insns[1].off == 3);
    m.probe.code[1].insn.off = 5;
    BOOST_TEST(m.refusal() ==
               "watch.bpf:2:1: error: this jump leads to no instruction of the program\n"
               "if r0 == 1 goto +4\n"
               "^~~~~~~~~~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(labels_are_there_once_and_lead_somewhere) {
    Maker m;
    m.line("out:", label_of("out"));
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    m.line("out:", label_of("out"), "out").exit();
    BOOST_TEST(m.refusal() ==
               "watch.bpf:3:1: error: label 'out' is defined twice\n"
               "out:\n"
               "^~~~");
    Maker end;
    end.line("goto end", jump_to(insn::go(0), "end"), "end").line("end:", label_of("end"));
    BOOST_TEST(end.refusal() ==
               "watch.bpf:1:6: error: no instruction follows label 'end'\n"
               "goto end\n"
               "     ^~~\n"
               "hint: end the program with 'exit'");
}

BOOST_AUTO_TEST_CASE(unreachable_code_is_dropped) {
    Maker m;
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    m.line("goto out", jump_to(insn::go(0), "out"));
    m.line("call never", with(item_of(insn::call_local(0)), Kind::subprogram, "never"));
    m.line("out:", label_of("out")).exit();
    m.line("r0 = 1", item_of(insn::mov(Reg::r0, 1))).exit();
    m.function("never").zero_and_exit();
    const Linked linked = m.link();
    BOOST_TEST(same_code(linked.insns, {insn::mov(Reg::r0, 0), insn::go(0), insn::leave()}));
    BOOST_TEST(linked.functions.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_missing_exit_is_shown_where_the_code_ends) {
    Maker m;
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    BOOST_TEST(m.refusal() ==
               "watch.bpf:1:1: error: program 'probe' does not end here: nothing follows this "
               "instruction\n"
               "r0 = 0\n"
               "^~~~~~\n"
               "hint: end it with 'exit'");
    Maker empty;
    BOOST_TEST(empty.refusal() ==
               "watch.bpf:1:1: error: program 'probe' has no instructions\n\n^\n"
               "hint: they stand on the lines behind it");
}

// if r0 > 0 goto far; with `gap` instructions in between.
Linked far_jump(std::size_t gap, bool has_v4, bool is_conditional) {
    Maker m;
    m.line("r0 = 5", item_of(insn::mov(Reg::r0, 5)));
    m.line("goto far",
           jump_to(is_conditional ? insn::jump64(JumpOp::gt, Reg::r0, 0, 0) : insn::go(0), "far"),
           "far");
    // The other way, so that all can be reached.
    m.line("back:", label_of("back"));
    for (std::size_t i = 0; i + 1 < gap; ++i) m.line("r1 = 0", item_of(insn::mov(Reg::r1, 0)));
    m.line("exit", item_of(insn::leave()));
    m.line("far:", label_of("far"));
    m.line("r0 += 1", item_of(insn::alu64(AluOp::add, Reg::r0, 1)));
    m.line("if r0 < 7 goto back", jump_to(insn::jump64(JumpOp::lt, Reg::r0, 7, 0), "back"));
    m.exit();
    LinkTarget target = tracepoint();
    if (has_v4) target.features.insert("isa_v4");
    return m.link(target);
}

BOOST_AUTO_TEST_CASE(far_jumps_take_the_long_form, *boost::unit_test::label("long")) {
    VmState world;
    for (const bool is_conditional : {true, false})
        for (const std::size_t gap : {10u, 32765u, 32766u, 32767u, 32768u, 32769u, 40000u}) {
            const Linked linked = far_jump(gap, true, is_conditional);
            BOOST_TEST(test::run_bpf(linked.insns, {}, world) == 6u);
            BOOST_TEST(linked.lines.size() == linked.insns.size());
        }
    BOOST_CHECK_EXCEPTION(far_jump(40000, false, false), UsageError, [](const UsageError& e) {
        return std::string_view(e.what()).starts_with(
            "watch.bpf:2:1: error: this jump is 40000 instructions long; on this kernel they reach "
            "32767\n"
            "goto far\n"
            "^~~~~~~~\n"
            "hint: Linux 6.6 has longer ones\n");
    });
    // One that is written long where it need not be.
    Maker m;
    m.line("r0 = 0", item_of(insn::mov(Reg::r0, 0)));
    m.line("gotol out", jump_to(insn::go_long(0), "out"));
    m.line("out:", label_of("out")).exit();
    BOOST_TEST(same_insn(m.link().insns[1], insn::go(0)));
}

BOOST_AUTO_TEST_CASE(instructions_of_newer_kernels_are_replaced) {
    const auto linked = [](const bpf_insn& op, bool has_v4) {
        Maker m;
        m.line("op", item_of(op)).zero_and_exit();
        LinkTarget target = tracepoint();
        if (has_v4) target.features.insert("isa_v4");
        auto insns = m.link(target).insns;
        insns.resize(insns.size() - 2);
        return insns;
    };
    const bpf_insn load = insn::load_signed(Width::h, Reg::r2, Reg::r1, 8);
    BOOST_TEST(same_code(linked(load, true), {load}));
    BOOST_TEST(same_code(linked(load, false), {insn::load(Width::h, Reg::r2, Reg::r1, 8),
                                               insn::alu64(AluOp::lsh, Reg::r2, 48),
                                               insn::alu64(AluOp::arsh, Reg::r2, 48)}));
    BOOST_TEST(
        same_code(linked(insn::mov_signed32(Reg::r2, 8, Reg::r1), false),
                  {insn::alu32(AluOp::mov, Reg::r2, Reg::r1), insn::alu32(AluOp::lsh, Reg::r2, 24),
                   insn::alu32(AluOp::arsh, Reg::r2, 24)}));
    BOOST_TEST(same_code(linked(insn::bswap(Reg::r1, 32), false), {insn::to_be(Reg::r1, 32)}));
    Maker m;
    m.line("r1 s/= r2", item_of(insn::alu64(AluOp::sdiv, Reg::r1, Reg::r2))).zero_and_exit();
    BOOST_TEST(m.refusal() ==
               "watch.bpf:1:1: error: this instruction needs Linux 6.6\n"
               "r1 s/= r2\n"
               "^~~~~~~~~\n"
               "hint: without it, divide the magnitudes and set the sign after that");
}

BOOST_AUTO_TEST_CASE(maps_become_descriptors) {
    Maker m;
    m.program.maps.resize(2);
    m.program.maps[0].name = "counts";
    m.program.maps[1].name = "globals";
    m.program.maps[1].type = BPF_MAP_TYPE_ARRAY;
    m.program.maps[1].value.add("a", {});
    m.program.maps[1].value.add("b", {});
    m.line("r1 = counts ll", with(wide_of(Reg::r1, 0), Kind::map, "counts"), "counts");
    CodeItem global = with(wide_of(Reg::r2, 0), Kind::map_value, "globals");
    global.relocation.addend = 8;
    m.line("r2 = globals[8] ll", global, "globals[8]").zero_and_exit();
    LinkTarget target = tracepoint();
    target.map_fds = {{"counts", 5}, {"globals", 6}};
    const auto insns = m.link(target).insns;
    BOOST_TEST(insns[0].src_reg == BPF_PSEUDO_MAP_FD);
    BOOST_TEST(insns[0].imm == 5);
    BOOST_TEST(insns[2].src_reg == BPF_PSEUDO_MAP_VALUE);
    BOOST_TEST(insns[2].imm == 6);
    BOOST_TEST(insns[3].imm == 8);

    m.probe.code[1].relocation.addend = 16;
    BOOST_TEST(
        m.refusal(target) ==
        "watch.bpf:2:6: error: offset 16 is outside the value of map 'globals', which has 16 "
        "bytes\n"
        "r2 = globals[8] ll\n"
        "     ^~~~~~~~~~");
    m.probe.code[1].relocation.name = "counts";
    BOOST_TEST(m.refusal(target) ==
               "watch.bpf:2:6: error: map 'counts' has no value at a fixed address\n"
               "r2 = globals[8] ll\n"
               "     ^~~~~~~~~~\n"
               "hint: only arrays and .global have; look the value up with map_lookup_elem");
    m.probe.code[0].insn = insn::mov(Reg::r1, 0);
    m.probe.code.erase(m.probe.code.begin() + 1);
    BOOST_TEST(m.refusal(target) ==
               "watch.bpf:1:6: error: a map can only be loaded with a 64-bit immediate\n"
               "r1 = counts ll\n"
               "     ^~~~~~\n"
               "hint: as in 'r1 = NAME ll'");
}

BOOST_AUTO_TEST_CASE(parameters_are_patched_and_checked_against_the_immediate) {
    const auto patched = [](const bpf_insn& op, std::int64_t value) -> std::string {
        Maker m;
        m.program.parameters.push_back({"min_us", Parameter::Type::integer, "us", 3, "", "", {}});
        m.line("r1 = min_us", with(item_of(op), Kind::parameter, "min_us"), "min_us")
            .zero_and_exit();
        LinkTarget target = tracepoint();
        if (value != 3) target.parameters.numbers["min_us"] = value;
        try {
            return cat(m.link(target).insns[0].imm);
        } catch (const UsageError& e) {
            return std::string(lines_of(e.what())[0]);
        }
    };
    BOOST_TEST(patched(insn::mov(Reg::r1, 0), 3) == "3");
    BOOST_TEST(patched(insn::mov(Reg::r1, 0), -7) == "-7");
    BOOST_TEST(patched(insn::mov(Reg::r1, 0), 0x7fffffff) == "2147483647");
    BOOST_TEST(patched(insn::mov(Reg::r1, 0), 0x80000000) ==
               "watch.bpf:1:6: error: parameter 'min_us' is 2147483648, which does not fit: this "
               "instruction takes -2147483648 to 2147483647");
    BOOST_TEST(patched(insn::alu32(AluOp::mov, Reg::r1, 0), 0xffffffff) == "-1");
    BOOST_TEST(patched(insn::jump32(JumpOp::gt, Reg::r1, 0, 0), 0x80000000) == "-2147483648");
    BOOST_TEST(patched(insn::store(Width::b, Reg::fp, -1, 0), 255) == "255");
    BOOST_TEST(
        patched(insn::store(Width::b, Reg::fp, -1, 0), 256) ==
        "watch.bpf:1:6: error: parameter 'min_us' is 256, which does not fit: this instruction "
        "takes -128 to 255");
    BOOST_TEST(patched(insn::alu64(AluOp::div, Reg::r1, 1), 0) ==
               "watch.bpf:1:6: error: parameter 'min_us' is 0: the kernel refuses to divide by it");
    BOOST_TEST(patched(insn::alu64(AluOp::lsh, Reg::r1, 1), 64) ==
               "watch.bpf:1:6: error: parameter 'min_us' is 64: shifts go from 0 to 63 bits");
    BOOST_TEST(
        patched(insn::mov(Reg::r1, Reg::r2), 3) ==
        "watch.bpf:1:6: error: parameter 'min_us' is a number, and this instruction takes none");
    BOOST_TEST(patched(insn::load_imm64(Reg::r1, 0)[0], 0x1'0000'0002) == "2");
}

BOOST_AUTO_TEST_CASE(texts_are_in_one_pool) {
    Maker m;
    m.program.parameters.push_back({"comm", Parameter::Type::text, "", 0, "bash", "", {}});
    m.line("r1 = comm ll", with(wide_of(Reg::r1, 0), Kind::parameter, "comm"));
    m.line("r2 = \"0123456789abcdef\" ll",
           with(wide_of(Reg::r2, 0), Kind::constant, "0123456789abcdef"));
    m.line("r3 = \"x\" ll", with(wide_of(Reg::r3, 0), Kind::constant, "x"));
    m.line("r4 = \"x\" ll", with(wide_of(Reg::r4, 0), Kind::constant, "x")).zero_and_exit();
    m.program.programs.push_back(m.probe);
    LinkTarget target = tracepoint();
    target.parameters.texts["comm"] = "dash";
    const StringPool pool = make_string_pool(m.program, target.parameters);
    BOOST_TEST(pool.bytes == std::string("dash\0\0\0\0\0\0\0\0\0\0\0\0"
                                         "0123456789abcdef\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                         "x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                         64));
    target.string_pool = &pool;
    target.string_pool_fd = 9;
    const auto insns = m.link(target).insns;
    for (std::size_t i = 0; i < 8; i += 2) {
        BOOST_TEST(insns[i].src_reg == BPF_PSEUDO_MAP_VALUE);
        BOOST_TEST(insns[i].imm == 9);
    }
    BOOST_TEST(insns[1].imm == 0);
    BOOST_TEST(insns[3].imm == 16);
    BOOST_TEST(insns[5].imm == 48);
    BOOST_TEST(insns[7].imm == 48);
}

BOOST_AUTO_TEST_CASE(records_have_numbers) {
    Maker m;
    m.program.records.push_back({"slow", "", {}, {}, {}});
    m.line("*(u32 *)(r10 - 4) = slow",
           with(item_of(insn::store(Width::w, Reg::fp, -4, 0)), Kind::record_id, "slow"), "slow")
        .zero_and_exit();
    LinkTarget target = tracepoint();
    target.record_ids["slow"] = 3;
    BOOST_TEST(m.link(target).insns[0].imm == 3);
    m.probe.code[0].relocation.name = "slo";
    BOOST_TEST(m.refusal(target) ==
               "watch.bpf:1:21: error: no record is named 'slo'\n"
               "*(u32 *)(r10 - 4) = slow\n"
               "                    ^~~~\n"
               "hint: did you mean 'slow'?");
}

BOOST_AUTO_TEST_CASE(functions_are_put_behind_and_called) {
    Maker m;
    const auto call = [](std::string name) {
        return with(item_of(insn::call_local(0)), Kind::subprogram, std::move(name));
    };
    m.line("r1 = 5", item_of(insn::mov(Reg::r1, 5)));
    m.line("call twice", call("twice")).exit();
    m.function("unused").zero_and_exit();
    m.function("once").line("r0 = r1", item_of(insn::mov(Reg::r0, Reg::r1))).exit();
    m.function("twice");
    m.line("r6 = r1", item_of(insn::mov(Reg::r6, Reg::r1)));
    m.line("call once", call("once"));
    m.line("r0 += r6", item_of(insn::alu64(AluOp::add, Reg::r0, Reg::r6))).exit();
    const Linked linked = m.link();
    BOOST_REQUIRE(linked.functions.size() == 3u);
    BOOST_TEST(linked.functions[0].name == "probe");
    BOOST_TEST(linked.functions[1].name == "twice");
    BOOST_TEST(linked.functions[1].begin == 3u);
    BOOST_TEST(linked.functions[2].name == "once");
    BOOST_TEST(linked.functions[2].begin == 7u);
    BOOST_TEST(linked.insns[1].imm == 1);
    VmState world;
    BOOST_TEST(test::run_bpf(linked.insns, {}, world) == 10u);
}

BOOST_AUTO_TEST_CASE(helpers_call_functions_of_the_program) {
    // bpf_loop(4, add, &sum, 0)
    Maker m;
    m.line("*(u64 *)(r10 - 8) = 0", item_of(insn::store(Width::dw, Reg::fp, -8, 0)));
    m.line("r1 = 4", item_of(insn::mov(Reg::r1, 4)));
    m.line("r2 = add ll", with(wide_of(Reg::r2, 0), Kind::callback, "add"));
    m.line("r3 = r10", item_of(insn::mov(Reg::r3, Reg::fp)));
    m.line("r3 += -8", item_of(insn::alu64(AluOp::add, Reg::r3, -8)));
    m.line("r4 = 0", item_of(insn::mov(Reg::r4, 0)));
    m.line("call loop", item_of(insn::call(BPF_FUNC_loop)));
    m.line("r0 = *(u64 *)(r10 - 8)", item_of(insn::load(Width::dw, Reg::r0, Reg::fp, -8))).exit();
    m.function("add");
    m.line("r0 = *(u64 *)(r2 + 0)", item_of(insn::load(Width::dw, Reg::r0, Reg::r2, 0)));
    m.line("r0 += r1", item_of(insn::alu64(AluOp::add, Reg::r0, Reg::r1)));
    m.line("*(u64 *)(r2 + 0) = r0", item_of(insn::store(Width::dw, Reg::r2, 0, Reg::r0)));
    m.zero_and_exit();
    const Linked linked = m.link();
    BOOST_TEST(linked.insns[2].src_reg == BPF_PSEUDO_FUNC);
    VmState world;
    add_common_helpers(world);
    BOOST_TEST(test::run_bpf(linked.insns, {}, world) == 6u);
}

BOOST_AUTO_TEST_CASE(lines_tell_where_each_slot_was_written) {
    Maker m;
    m.line("r2 = 1 ll", wide_of(Reg::r2, 1));
    m.line("load", macro(kLoadField, Reg::r6, Reg::r1, "count")).zero_and_exit();
    const Linked linked = m.link();
    std::vector<std::size_t> begins;
    for (const SourceRef& at : linked.lines) begins.push_back(at.span.begin);
    BOOST_TEST(begins == (std::vector<std::size_t>{0, 0, 10, 10, 10, 15, 22}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
