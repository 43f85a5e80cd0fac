#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/cat.h"
#include "base/text.h"
#include "lang/insn/run.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

using test::item_of;
using test::jump_to;
using test::label_of;
using test::with;
using Kind = Relocation::Kind;

using Ops = std::vector<bpf_insn>;

ProbeProgram probe_of(const Ops& ops) {
    ProbeProgram probe;
    probe.name = "probe";
    for (const bpf_insn& op : ops) {
        CodeItem item = item_of(op);
        item.at = {0, {probe.code.size() * 2, probe.code.size() * 2 + 1}};
        probe.code.push_back(item);
    }
    return probe;
}

// Line n of the text stands for instruction n.
Program program_of(std::size_t lines = 30) {
    Program program;
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) text += "x\n";
    program.sources = {{"a.bpf", text}};
    return program;
}

// The first line of what is wrong, with the hint.
std::string refusal(const Ops& ops, LinkTarget::Context context = LinkTarget::Context::record) {
    LinkTarget target;
    target.context = context;
    try {
        link(program_of(), probe_of(ops), target);
    } catch (const UsageError& e) {
        std::string text;
        for (const std::string_view line : lines_of(e.what()))
            if (line != "x" && line != "^") text += cat(text.empty() ? "" : "\n", line);
        return text;
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(link_memory)

BOOST_AUTO_TEST_CASE(the_stack_has_512_bytes) {
    BOOST_TEST(refusal({insn::store(Width::dw, Reg::fp, -512, 0), insn::mov(Reg::r0, 0),
                        insn::leave()}) == "");
    BOOST_TEST(
        refusal({insn::store(Width::dw, Reg::fp, -520, 0), insn::mov(Reg::r0, 0), insn::leave()}) ==
        "a.bpf:1:1: error: the stack has 512 bytes; this is 520 below its top\n"
        "hint: keep what is large in a map");
    BOOST_TEST(refusal({insn::mov(Reg::r2, Reg::fp), insn::alu64(AluOp::add, Reg::r2, -600),
                        insn::mov(Reg::r0, 0), insn::leave()}) ==
               "a.bpf:2:1: error: the stack has 512 bytes; this is 600 below its top\n"
               "hint: keep what is large in a map");
    BOOST_TEST(refusal({insn::mov(Reg::r2, Reg::fp), insn::alu64(AluOp::sub, Reg::r2, 500),
                        insn::store(Width::dw, Reg::r2, -20, Reg::r1), insn::mov(Reg::r0, 0),
                        insn::leave()}) ==
               "a.bpf:3:1: error: the stack has 512 bytes; this is 520 below its top\n"
               "hint: keep what is large in a map");
    BOOST_TEST(
        refusal({insn::store(Width::dw, Reg::fp, -4, 0), insn::mov(Reg::r0, 0), insn::leave()}) ==
        "a.bpf:1:1: error: the stack ends at r10: this accesses 8 bytes at r10-4\n"
        "hint: a function's stack is below r10: r10-8 and less");
    BOOST_TEST(
        refusal({insn::store(Width::b, Reg::fp, 8, 0), insn::mov(Reg::r0, 0), insn::leave()}) ==
        "a.bpf:1:1: error: the stack ends at r10: this accesses 1 byte at r10+8\n"
        "hint: a function's stack is below r10: r10-8 and less");
    BOOST_TEST(
        refusal({insn::store(Width::dw, Reg::fp, -20, 0), insn::mov(Reg::r0, 0), insn::leave()}) ==
        "a.bpf:1:1: error: the stack is accessed in whole words: 8 bytes at r10-20 are not "
        "aligned");
}

BOOST_AUTO_TEST_CASE(what_is_not_certain_is_left_to_the_verifier) {
    // r2 is r10-8 on one way, and r1 on the other.
    BOOST_TEST(refusal({insn::mov(Reg::r2, Reg::r1), insn::jump64(JumpOp::eq, Reg::r1, 0, 1),
                        insn::mov(Reg::r2, Reg::fp), insn::store(Width::dw, Reg::r2, -600, 0),
                        insn::mov(Reg::r0, 0), insn::leave()}) == "");
}

BOOST_AUTO_TEST_CASE(the_context_is_read_only) {
    BOOST_TEST(refusal({insn::mov(Reg::r6, Reg::r1), insn::store(Width::w, Reg::r6, 8, 1),
                        insn::mov(Reg::r0, 0), insn::leave()}) ==
               "a.bpf:2:1: error: a program cannot write to what r1 points at");
    const Ops reads_begin = {insn::load(Width::w, Reg::r2, Reg::r1, 4), insn::mov(Reg::r0, 0),
                             insn::leave()};
    BOOST_TEST(refusal(reads_begin) ==
               "a.bpf:1:1: error: the kernel hides the first 8 bytes of a record from programs");
    BOOST_TEST(refusal(reads_begin, LinkTarget::Context::raw_arguments) == "");
    BOOST_TEST(refusal({insn::load(Width::w, Reg::r2, Reg::r1, 18), insn::mov(Reg::r0, 0),
                        insn::leave()}) ==
               "a.bpf:1:1: error: 4 bytes cannot be read at offset 18 of what r1 points at");
}

// Functions that use so many bytes of stack each and call the next.
std::string refusal_of_chain(const std::vector<int>& stacks, bool last_calls_first = false) {
    Program program = program_of();
    ProbeProgram probe;
    probe.name = "f0";
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        std::vector<CodeItem> code;
        if (stacks[i] > 0)
            code.push_back(
                item_of(insn::store(Width::b, Reg::fp, static_cast<__s16>(-stacks[i]), 0)));
        const bool is_last = i + 1 == stacks.size();
        if (!is_last || last_calls_first)
            code.push_back(with(item_of(insn::call_local(0)), Kind::subprogram,
                                is_last ? "f1" : cat("f", i + 1)));
        code.push_back(item_of(insn::mov(Reg::r0, 0)));
        code.push_back(item_of(insn::leave()));
        if (i == 0)
            probe.code = code;
        else
            program.subprograms.push_back({cat("f", i), code, {}});
    }
    try {
        link(program, probe, {});
    } catch (const UsageError& e) {
        return std::string(lines_of(e.what())[0]);
    }
    return {};
}

// Since Linux 6.13 each has a stack of its own where the JIT compiler gives one.
BOOST_AUTO_TEST_CASE(how_much_functions_may_take_together_is_left_to_the_verifier) {
    BOOST_TEST(refusal_of_chain({256, 200, 64}) == "");
    BOOST_TEST(refusal_of_chain({512, 512}) == "");
    BOOST_TEST(refusal_of_chain({0, 520}) ==
               "a.bpf:1:1: error: the stack has 512 bytes; this is 520 below its top");
}

BOOST_AUTO_TEST_CASE(calls_nest_eight_deep_and_never_come_back) {
    BOOST_TEST(refusal_of_chain({0, 0, 0, 0, 0, 0, 0, 0}) == "");
    BOOST_TEST(refusal_of_chain({0, 0, 0, 0, 0, 0, 0, 0, 0}) ==
               "a.bpf:1:1: error: calls nest at most 8 deep");
    BOOST_TEST(refusal_of_chain({0, 0, 0}, true) == "a.bpf:1:1: error: function 'f1' calls itself");
}

bool reads_record(const Ops& ops) {
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    return link(program_of(), probe_of(ops), target).reads_context;
}

BOOST_AUTO_TEST_CASE(a_program_that_reads_no_field_can_be_attached_raw) {
    const bpf_insn zero = insn::mov(Reg::r0, 0), end = insn::leave();
    BOOST_TEST(!reads_record({zero, end}));
    BOOST_TEST(reads_record({insn::load(Width::w, Reg::r2, Reg::r1, 8), zero, end}));
    // A copy, and an address made from it.
    BOOST_TEST(reads_record({insn::mov(Reg::r6, Reg::r1), insn::alu64(AluOp::add, Reg::r6, 16),
                             insn::load(Width::w, Reg::r2, Reg::r6, 8), zero, end}));
    // On one of two ways.
    BOOST_TEST(reads_record({insn::mov(Reg::r6, Reg::fp), insn::jump64(JumpOp::eq, Reg::r1, 0, 1),
                             insn::mov(Reg::r6, Reg::r1), insn::load(Width::b, Reg::r2, Reg::r6, 8),
                             zero, end}));
    // By way of the stack.
    BOOST_TEST(reads_record({insn::store(Width::dw, Reg::fp, -8, Reg::r1),
                             insn::load(Width::dw, Reg::r6, Reg::fp, -8),
                             insn::load(Width::w, Reg::r2, Reg::r6, 8), zero, end}));
    BOOST_TEST(!reads_record({insn::store(Width::dw, Reg::fp, -8, 0),
                              insn::load(Width::dw, Reg::r6, Reg::fp, -8), zero, end}));
    // Helpers: those that know the context, those that take nothing, and those that read memory.
    BOOST_TEST(!reads_record({insn::call(BPF_FUNC_get_smp_processor_id), end}));
    BOOST_TEST(!reads_record({insn::mov(Reg::r6, Reg::r1), insn::mov(Reg::r1, Reg::r6),
                              insn::call(BPF_FUNC_get_stackid), end}));
    BOOST_TEST(
        reads_record({insn::mov(Reg::r3, Reg::r1), insn::call(BPF_FUNC_probe_read_kernel), end}));
    // What r1 to r5 hold after a call is nothing.
    BOOST_TEST(
        !reads_record({insn::call(BPF_FUNC_ktime_get_ns), insn::mov(Reg::r6, Reg::r0), zero, end}));
}

BOOST_AUTO_TEST_CASE(functions_may_read_the_record_too) {
    const auto reads = [](bool passes_context) {
        Program program = program_of();
        ProbeProgram probe = probe_of({insn::mov(Reg::r2, 0)});
        if (!passes_context) probe.code.push_back(item_of(insn::mov(Reg::r1, 0)));
        probe.code.push_back(with(item_of(insn::call_local(0)), Kind::subprogram, "f"));
        probe.code.push_back(item_of(insn::leave()));
        program.subprograms.push_back(
            {"f",
             {item_of(insn::load(Width::w, Reg::r0, Reg::r1, 8)), item_of(insn::leave())},
             {}});
        LinkTarget target;
        target.context = LinkTarget::Context::record;
        return link(program, probe, target).reads_context;
    };
    BOOST_TEST(reads(true));
    BOOST_TEST(!reads(false));
}

// The function keeps the context on the stack, which would count as reading the record.
BOOST_AUTO_TEST_CASE(taking_a_whole_stack_reads_no_field) {
    const Program program = assemble({"t.bpf",
                                      ".map stacks stacks\n"
                                      ".prog p tracepoint a:b\n"
                                      "  call get_stackid(r1, map[stacks], 0)\n"
                                      "  exit 0\n"},
                                     {});
    LinkTarget target;
    target.features = {"bounded_loops", "atomics"};
    target.context = LinkTarget::Context::record;
    for (std::size_t i = 0; i < program.maps.size(); ++i)
        target.map_fds[program.maps[i].name] = static_cast<int>(i);
    BOOST_TEST(!link(program, program.programs.at(0), target).reads_context);
}

// The call is in front of the program and never comes, so that the program runs as it is.
BOOST_AUTO_TEST_CASE(a_tail_call_that_never_comes_stands_in_front_of_a_program) {
    LinkTarget target;
    target.context = LinkTarget::Context::raw_arguments;
    const ProbeProgram probe =
        probe_of({insn::load(Width::dw, Reg::r0, Reg::r1, 8), insn::leave()});
    const Linked before = link(program_of(), probe, target);
    Linked linked = before;
    run_on_task_stack(7, linked);
    BOOST_TEST(linked.lines.size() == linked.insns.size());
    BOOST_TEST(std::ranges::count_if(linked.insns, [](const bpf_insn& one) {
                   return one.code == (BPF_JMP | BPF_CALL) && one.imm == BPF_FUNC_tail_call;
               }) == 1);
    // With a context, which is never 0, it goes to the program.
    const std::size_t added = linked.insns.size() - before.insns.size();
    const bpf_insn& first = linked.insns.front();
    BOOST_TEST(first.code == (BPF_JMP | BPF_JNE | BPF_K));
    BOOST_TEST(first.dst_reg == BPF_REG_1);
    BOOST_TEST(first.imm == 0);
    BOOST_TEST(first.off == static_cast<int>(added) - 1);
    BOOST_TEST(std::memcmp(&linked.insns[added], before.insns.data(),
                           before.insns.size() * sizeof(bpf_insn)) == 0);
}

BOOST_AUTO_TEST_CASE(raw_sys_enter_is_narrowed_to_one_call) {
    LinkTarget target;
    target.context = LinkTarget::Context::raw_arguments;
    SyscallCheck check;
    check.number = 257;
    const ProbeProgram probe =
        probe_of({insn::load(Width::dw, Reg::r0, Reg::r1, 8), insn::leave()});
    const auto checked = [&] {
        Linked linked = link(program_of(), probe, target);
        add_syscall_check(check, linked);
        return linked.insns;
    };
    const auto insns = checked();
    VmState world;
    add_common_helpers(world);
    const auto run = [&](std::int64_t number, const std::vector<bpf_insn>& code) {
        const std::int64_t arguments[] = {0, number};
        return test::run_bpf(code, std::as_bytes(std::span(arguments)), world);
    };
    BOOST_TEST(run(257, insns) == 257u);
    BOOST_TEST(run(256, insns) == 0u);
    BOOST_TEST(run(-1, insns) == 0u);
    BOOST_TEST(run(0x1'0000'0101, insns) == 0u);

    // And to calls of this architecture.
    check.compat = SyscallCheck::Compat{16, 2};
    const auto with_compat = checked();
    std::uint32_t task[8] = {};
    const std::uint64_t address =
        world.memory.add(VmMemory::Kind::kernel, std::as_writable_bytes(std::span(task)));
    world.helpers[BPF_FUNC_get_current_task] = [=](Interpreter&, const BpfArguments&) {
        return address;
    };
    task[4] = 0xffff'fffd;
    BOOST_TEST(run(257, with_compat) == 257u);
    BOOST_TEST(run(256, with_compat) == 0u);
    task[4] = 2;
    BOOST_TEST(run(257, with_compat) == 0u);

    // Where the program may look at the task itself.
    check.reads_task = true;
    const auto direct = checked();
    std::uint32_t seen[8] = {};
    const std::uint64_t seen_at =
        world.memory.add(VmMemory::Kind::constant, std::as_writable_bytes(std::span(seen)));
    world.helpers[BPF_FUNC_get_current_task_btf] = [=](Interpreter&, const BpfArguments&) {
        return seen_at;
    };
    BOOST_TEST(run(257, direct) == 257u);
    BOOST_TEST(run(256, direct) == 0u);
    seen[4] = 2;
    BOOST_TEST(run(257, direct) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
