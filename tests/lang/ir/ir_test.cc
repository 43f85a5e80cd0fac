#include "lang/ir/ir.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <stdexcept>

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"
#include "lang/insn/disasm.h"
#include "lang/insn/run.h"

namespace gpufs {
namespace {

using ir::Cmp;
using ir::Op;

// What the code becomes, one instruction a line.
std::string text_of(const ir::Code& code) {
    std::string text;
    for (const DisasmLine& line :
         disassemble(test::link_items(code.assemble()), {.labels = false, .map_name = {}}))
        text += line.text + '\n';
    return text;
}

std::uint64_t run(const ir::Code& code, std::span<const std::uint64_t> context = {}) {
    VmState world;
    add_common_helpers(world);
    return test::run_bpf(test::link_items(code.assemble()), std::as_bytes(context), world);
}

BOOST_AUTO_TEST_SUITE(ir_test)

BOOST_AUTO_TEST_CASE(code_is_what_one_would_write_by_hand) {
    ir::Code code;
    const ir::Temp record = code.argument(1);
    const ir::Temp pid = code.load({record, 24}, ir::kU32);
    const ir::Label out = code.new_label();
    code.branch(Cmp::eq, ir::kU32, pid, 0, out);
    const ir::Slot comm = code.new_slot(16);
    code.call(BPF_FUNC_get_current_comm, {code.address(comm), 16});
    code.leave(code.compute(Op::add, ir::kU64, code.load(comm, ir::kU8), pid));
    code.bind(out);
    code.leave(0);
    BOOST_TEST(text_of(code) ==
               "r6 = *(u32 *)(r1 + 24)\n"
               "if r6 == 0 goto +7\n"
               "r1 = r10\n"
               "r1 += -16\n"
               "r2 = 16\n"
               "call 16\n"
               "r0 = *(u8 *)(r10 - 16)\n"
               "r0 += r6\n"
               "exit\n"
               "r0 = 0\n"
               "exit\n");
}

BOOST_AUTO_TEST_CASE(a_piece_of_code_leaves_the_context_where_it_was) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label skip = code.new_label();
    const ir::Temp cpu = code.call(BPF_FUNC_get_smp_processor_id, {});
    code.branch(Cmp::eq, ir::kU32, cpu, 0, skip);
    code.leave(0);
    code.bind(skip);
    code.fall_through(context);
    std::vector<CodeItem> items = code.assemble();
    items.push_back(test::item_of(insn::load(Width::dw, Reg::r0, Reg::r1, 0)));
    items.push_back(test::item_of(insn::leave()));
    VmState world;
    add_common_helpers(world);
    const std::uint64_t context_bytes[] = {77};
    const auto insns = test::link_items(items);
    BOOST_TEST(test::run_bpf(insns, std::as_bytes(std::span(context_bytes)), world) == 77u);
    world.now.cpu = 1;
    BOOST_TEST(test::run_bpf(insns, std::as_bytes(std::span(context_bytes)), world) == 0u);
}

BOOST_AUTO_TEST_CASE(several_ways_lead_to_the_code_behind) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label other = code.new_label();
    code.branch(Cmp::eq, ir::kU64, code.load(context, ir::kU64), 1, other);
    code.fall_through(context);
    code.bind(other);
    code.fall_through(context);
    std::vector<CodeItem> items = code.assemble(".p");
    BOOST_TEST(items.back().name == ".pend");
    items.push_back(test::item_of(insn::mov(Reg::r0, 5)));
    items.push_back(test::item_of(insn::leave()));
    VmState world;
    const std::uint64_t one[] = {1};
    BOOST_TEST(test::run_bpf(test::link_items(items), std::as_bytes(std::span(one)), world) == 5u);
}

BOOST_AUTO_TEST_CASE(numbers_keep_to_their_type) {
    const auto computed = [](Op op, ir::Type type, std::uint64_t a, std::uint64_t b) {
        ir::Code code;
        const ir::Temp context = code.argument(1);
        const ir::Temp x = code.load({context, 0}, ir::kU64);
        code.leave(code.compute(op, type, x, b));
        const std::uint64_t context_bytes[] = {a};
        return run(code, context_bytes);
    };
    BOOST_TEST(computed(Op::add, ir::kU8, 250, 10) == 4u);
    BOOST_TEST(computed(Op::add, ir::kS8, 120, 10) == static_cast<std::uint64_t>(-126));
    BOOST_TEST(computed(Op::sub, ir::kU32, 1, 2) == 0xffffffffu);
    BOOST_TEST(computed(Op::sub, ir::kS32, 1, 2) == ~std::uint64_t{0});
    BOOST_TEST(computed(Op::div, ir::kS32, 0xfffffff9, 2) == static_cast<std::uint64_t>(-3));
    BOOST_TEST(computed(Op::mod, ir::kS32, 0xfffffff9, 2) == static_cast<std::uint64_t>(-1));
    BOOST_TEST(computed(Op::div, ir::kU32, 0xfffffff9, 2) == 0x7ffffffcu);
    BOOST_TEST(computed(Op::div, ir::kS64, 7, 0) == 0u);
    const auto negative = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    BOOST_TEST(computed(Op::div, ir::kS64, negative(-7), negative(-2)) == 3u);
    BOOST_TEST(computed(Op::div, ir::kS64, negative(-7), 1'000) == 0u);
    BOOST_TEST(computed(Op::mod, ir::kS64, negative(-7), 1'000) == negative(-7));
    BOOST_TEST(computed(Op::div, ir::kS64, negative(INT64_MIN), 1) == negative(INT64_MIN));
    BOOST_TEST(computed(Op::div, ir::kS64, negative(INT64_MIN), 0x8000'0000) ==
               negative(-0x1'0000'0000));
    BOOST_TEST(computed(Op::mod, ir::kU64, 7, 0) == 7u);
    BOOST_TEST(computed(Op::shr, ir::kS16, 0x8000, 4) == static_cast<std::uint64_t>(-0x800));
    BOOST_TEST(computed(Op::shr, ir::kU16, 0x8000, 4) == 0x800u);
    BOOST_TEST(computed(Op::shl, ir::kU16, 1, 20) == 0u);
    BOOST_TEST(computed(Op::shl, ir::kU64, 1, 65) == 2u);
}

BOOST_AUTO_TEST_CASE(more_values_than_registers_go_to_the_stack_and_come_back) {
    constexpr std::size_t kValues = 40;
    ir::Code code;
    const ir::Temp context = code.argument(1);
    std::vector<ir::Temp> values;
    for (std::size_t i = 0; i < 12; ++i)
        values.push_back(code.load({context, static_cast<std::int64_t>(i * 8)}, ir::kU64));
    for (std::size_t i = values.size(); i < kValues; ++i)
        values.push_back(code.compute(Op::add, ir::kU64, values[i - 12], values[i - 5]));
    code.call(BPF_FUNC_ktime_get_ns, {});
    ir::Temp sum = values[0];
    for (std::size_t i = 1; i < kValues; ++i)
        sum = code.compute(Op::add, ir::kU64, code.compute(Op::mul, ir::kU64, sum, 3), values[i]);
    code.leave(sum);

    std::uint64_t bytes[12], modelled[kValues];
    for (std::size_t i = 0; i < 12; ++i) modelled[i] = bytes[i] = i * i + 1;
    for (std::size_t i = 12; i < kValues; ++i) modelled[i] = modelled[i - 12] + modelled[i - 5];
    std::uint64_t expected = modelled[0];
    for (std::size_t i = 1; i < kValues; ++i) expected = expected * 3 + modelled[i];
    BOOST_TEST(run(code, bytes) == expected);
}

BOOST_AUTO_TEST_CASE(arguments_that_are_in_each_others_registers_are_not_lost) {
    // f(a, b) calls g(b, a).
    ir::Code caller;
    const ir::Temp a = caller.argument(1), b = caller.argument(2);
    caller.leave(caller.call("g", {b, a, 7}));
    ir::Code callee;
    const ir::Temp x = callee.argument(1), y = callee.argument(2), z = callee.argument(3);
    callee.leave(callee.compute(
        Op::add, ir::kU64,
        callee.compute(Op::mul, ir::kU64, callee.compute(Op::sub, ir::kU64, x, y), 10), z));
    ir::Code main;
    main.argument(1);
    main.leave(main.call("f", {30, 50}));
    Program program;
    program.subprograms.push_back({"f", caller.assemble(), {}});
    program.subprograms.push_back({"g", callee.assemble(), {}});
    VmState world;
    const auto insns = test::link_items(main.assemble(), {}, program);
    BOOST_TEST(test::run_bpf(insns, {}, world) == 207u);
}

// The stack that code takes: how far below the frame pointer it goes.
int stack_of(const ir::Code& code) {
    ProbeProgram probe;
    probe.code = code.assemble();
    return static_cast<int>(link({}, probe, {}).functions[0].stack_bytes);
}

BOOST_AUTO_TEST_CASE(slots_that_are_not_used_together_share_bytes) {
    const auto used_apart = [](int slots, bool keeps_first) {
        ir::Code code;
        std::optional<ir::Temp> first;
        for (int i = 0; i < slots; ++i) {
            const ir::Slot slot = code.new_slot(100, 4);
            const ir::Temp address = code.address(slot);
            code.call(BPF_FUNC_get_current_comm, {address, 16});
            if (i == 0 && keeps_first) first = address;
        }
        code.leave(first ? code.load(*first, ir::kU8) : code.convert(0, ir::kU64));
        return stack_of(code);
    };
    BOOST_TEST(used_apart(1, false) == 100);
    BOOST_TEST(used_apart(20, false) == 100);
    // The address of the first is used at the end.
    BOOST_TEST(used_apart(2, true) == 200);
    ir::Code code;
    const ir::Slot first = code.new_slot(300), second = code.new_slot(300);
    code.store(first, 1, ir::kU64);
    code.store(second, 2, ir::kU64);
    const ir::Temp one = code.load(first, ir::kU64), two = code.load(second, ir::kU64);
    code.leave(code.compute(Op::add, ir::kU64, one, two));
    const auto refusal = [&](std::size_t stack_bytes) -> std::string {
        try {
            code.assemble(".", stack_bytes);
        } catch (const ir::StackError& e) {
            return e.what();
        }
        return {};
    };
    BOOST_TEST(refusal(512) == "the generated code needs 608 bytes of stack; there are 512");
    BOOST_TEST(refusal(608).empty());
}

BOOST_AUTO_TEST_CASE(a_slot_lives_through_the_loop_that_uses_it) {
    // Written in front of the loop, read at the begin of each round; another slot at its end.
    ir::Code code;
    const ir::Slot kept = code.new_slot(16);
    code.store(kept, 5, ir::kU64);
    const ir::Temp sum = code.new_temp(ir::kU64), round = code.new_temp(ir::kU64);
    code.assign(sum, 0);
    code.assign(round, 0);
    const ir::Label top = code.new_label();
    code.bind(top);
    code.assign(sum, code.compute(Op::add, ir::kU64, sum, code.load(kept, ir::kU64)));
    code.call(BPF_FUNC_get_current_comm, {code.address(code.new_slot(16)), 16});
    code.assign(round, code.compute(Op::add, ir::kU64, round, 1));
    code.branch(Cmp::lt, ir::kU64, round, 3, top);
    code.leave(sum);
    BOOST_TEST(run(code) == 15u);
}

BOOST_AUTO_TEST_CASE(values_that_nothing_reads_are_not_computed) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Temp unused = code.compute(Op::mul, ir::kU64, code.load(context, ir::kU64), 5);
    code.compute(Op::add, ir::kU64, unused, 1);
    code.leave(3);
    BOOST_TEST(text_of(code) == "r0 = 3\nexit\n");
}

BOOST_AUTO_TEST_CASE(operations_that_change_nothing_are_left_out) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Temp x = code.load(context, ir::kU64);
    const ir::Temp rest = code.compute(Op::bit_and, ir::kU64, x, 0);
    const ir::Temp high = code.compute(Op::shl, ir::kU64, x, rest);
    ir::Temp sum = code.compute(Op::add, ir::kU64, code.compute(Op::mul, ir::kU64, high, 1), rest);
    sum = code.compute(Op::add, ir::kU64, code.compute(Op::add, ir::kU64, sum, 2), 3);
    code.leave(sum);
    BOOST_TEST(text_of(code) ==
               "r0 = *(u64 *)(r1 + 0)\n"
               "r0 += 5\n"
               "exit\n");
}

BOOST_AUTO_TEST_CASE(a_number_is_an_immediate_where_the_instruction_has_one) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Temp five = code.convert(5, ir::kU64), zero = code.convert(0, ir::kU64);
    const ir::Temp x = code.load(context, ir::kU64);
    const ir::Label out = code.new_label();
    code.branch(Cmp::gt, ir::kU64, x, five, out);
    const ir::Slot slot = code.new_slot(8);
    code.store(slot, five, ir::kU32);
    code.bind(out);
    code.leave(code.compute(Op::div, ir::kU64, x, zero));
    BOOST_TEST(text_of(code) ==
               // The verifier refuses to divide by an immediate 0.
               "r2 = 0\n"
               "r0 = *(u64 *)(r1 + 0)\n"
               "if r0 > 5 goto +1\n"
               "*(u32 *)(r10 - 8) = 5\n"
               "r0 /= r2\n"
               "exit\n");
}

// The stores of a piece of code into a slot of 16 bytes, whose address a call takes then.
std::string stores_of(const std::function<void(ir::Code&, ir::Temp, ir::Slot)>& write) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Slot slot = code.new_slot(16);
    write(code, context, slot);
    code.call(BPF_FUNC_get_current_comm, {code.address(slot), 16});
    code.leave(0);
    std::string stores;
    const std::string text = text_of(code);
    for (const std::string_view line : lines_of(text))
        if (line.starts_with("*(")) stores += cat(line, '\n');
    return stores;
}

BOOST_AUTO_TEST_CASE(zeros_around_a_number_are_stored_with_it) {
    const auto id = [](ir::Code& code, ir::Temp context) {
        return code.load({context, 0}, ir::kU32);
    };
    BOOST_TEST(stores_of([&](ir::Code& code, ir::Temp context, ir::Slot slot) {
                   const ir::Temp value = id(code, context);
                   code.store({slot, 0}, value, ir::kU32);
                   code.store({slot, 4}, 0, ir::kU32);
                   code.store({slot, 8}, 0, ir::kU64);
                   code.store({slot, 8}, value, ir::kU32);
               }) ==
               "*(u64 *)(r10 - 16) = r0\n"
               "*(u64 *)(r10 - 8) = r0\n");
    // The upper half of what a shift leaves is zero, too.
    BOOST_TEST(stores_of([&](ir::Code& code, ir::Temp, ir::Slot slot) {
                   const ir::Temp both = code.call(BPF_FUNC_get_current_pid_tgid, {});
                   code.store({slot, 0}, code.compute(Op::shr, ir::kU64, both, 32), ir::kU32);
                   code.store({slot, 4}, 0, ir::kU32);
               }) == "*(u64 *)(r10 - 16) = r0\n");
    BOOST_TEST(stores_of([&](ir::Code& code, ir::Temp, ir::Slot slot) {
                   code.store({slot, 0}, 7, ir::kU8);
                   code.store({slot, 1}, 0, ir::kU8);
                   code.store({slot, 2}, 0, ir::kU16);
               }) == "*(u32 *)(r10 - 16) = 7\n");
    // What may have a sign, or other bits, is not.
    BOOST_TEST(stores_of([&](ir::Code& code, ir::Temp context, ir::Slot slot) {
                   code.store({slot, 0}, code.load({context, 0}, ir::kS32), ir::kU32);
                   code.store({slot, 4}, 0, ir::kU32);
                   code.store({slot, 8}, code.load({context, 0}, ir::kU64), ir::kU32);
                   code.store({slot, 12}, 0, ir::kU32);
               }) ==
               "*(u32 *)(r10 - 16) = r0\n"
               "*(u32 *)(r10 - 12) = 0\n"
               "*(u32 *)(r10 - 8) = r0\n"
               "*(u32 *)(r10 - 4) = 0\n");
}

BOOST_AUTO_TEST_CASE(what_is_written_over_unread_is_not_stored) {
    BOOST_TEST(stores_of([](ir::Code& code, ir::Temp context, ir::Slot slot) {
                   const ir::Temp x = code.load({context, 0}, ir::kU64);
                   code.store({slot, 0}, 1, ir::kU64);
                   code.store({slot, 0}, x, ir::kU64);
               }) == "*(u64 *)(r10 - 16) = r0\n");
    // It may be read in between.
    BOOST_TEST(stores_of([](ir::Code& code, ir::Temp context, ir::Slot slot) {
                   const ir::Temp x = code.load({context, 0}, ir::kU64);
                   code.store({slot, 0}, 1, ir::kU64);
                   code.call(BPF_FUNC_trace_printk, {code.address(slot), 8});
                   code.store({slot, 0}, x, ir::kU64);
               }) ==
               "*(u64 *)(r10 - 16) = 1\n"
               "*(u64 *)(r10 - 16) = r6\n");
}

BOOST_AUTO_TEST_CASE(a_branch_to_what_follows_is_left_out) {
    ir::Code code;
    const ir::Temp word = code.load(code.argument(1), ir::kU64);
    const ir::Label out = code.new_label(), behind = code.new_label();
    code.branch(Cmp::eq, ir::kU32, word, 7, out);
    code.bind(out);
    code.bind(behind);
    code.leave(3);
    BOOST_TEST(text_of(code) == "r0 = 3\nexit\n");
}

BOOST_AUTO_TEST_CASE(fields_may_be_left_to_the_linker) {
    ir::Code code;
    const ir::Temp record = code.argument(1);
    Relocation field;
    field.kind = Relocation::Kind::field_offset;
    field.name = "next_pid";
    const ir::Temp pid = code.load({record, field}, ir::kU32);
    field.kind = Relocation::Kind::none;
    field.name = "prev_state";
    code.leave(code.compute(Op::add, ir::kU64, pid, code.load_field(record, field)));
    EventFormat event;
    Field f;
    f.name = "next_pid";
    f.type = "pid_t";
    f.offset = 56;
    f.size = f.element_size = 4;
    f.is_signed = true;
    event.fields.push_back(f);
    f.name = "prev_state";
    f.offset = 32;
    f.size = f.element_size = 8;
    event.fields.push_back(f);
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event;
    const auto insns = test::link_items(code.assemble(), target);
    BOOST_TEST(same_insn(insns[0], insn::load(Width::w, Reg::r0, Reg::r1, 56)));
    BOOST_TEST(same_insn(insns[1], insn::load(Width::dw, Reg::r2, Reg::r1, 32)));
}

BOOST_AUTO_TEST_CASE(each_instruction_knows_where_it_was_written) {
    ir::Code code;
    code.set_source({0, {10, 20}});
    const ir::Temp now = code.call(BPF_FUNC_ktime_get_ns, {});
    code.set_source({0, {30, 40}});
    code.leave(now);
    std::vector<std::size_t> begins;
    for (const CodeItem& item : code.assemble()) begins.push_back(item.at.span.begin);
    BOOST_TEST(begins == (std::vector<std::size_t>{10, 30}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_of_the_code_generator_are_found) {
    const auto complaint = [](auto&& make) -> std::string {
        try {
            ir::Code code;
            make(code);
            code.assemble();
        } catch (const std::logic_error& e) {
            return e.what();
        }
        return {};
    };
    BOOST_TEST(complaint([](ir::Code& code) { code.leave(code.new_temp(ir::kU64)); }) ==
               "register 11 is read before it has a value");
    BOOST_TEST(complaint([](ir::Code& code) { code.jump(code.new_label()); }) ==
               "a jump to a label without a place");
    BOOST_TEST(complaint([](ir::Code& code) { code.call(BPF_FUNC_ktime_get_ns, {}); }) ==
               "the code runs off its end");
    BOOST_TEST(complaint([](ir::Code& code) { code.leave(code.argument(6)); }) ==
               "arguments are counted from 1 to 5");
    BOOST_TEST(complaint([](ir::Code& code) {
                   code.call(1, {1, 2, 3, 4, 5, 6});
               }) == "a call has at most five arguments");
    BOOST_TEST(complaint([](ir::Code& code) {
                   code.call(BPF_FUNC_ktime_get_ns, {});
                   code.leave(code.argument(1));
               }) == "arguments are asked for before anything else");
    BOOST_TEST(complaint([](ir::Code& code) {
                   code.new_temp({3, false});
               }) == "an integer of this size does not exist");
    BOOST_TEST(complaint([](ir::Code&) {}) == "code without an instruction");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
