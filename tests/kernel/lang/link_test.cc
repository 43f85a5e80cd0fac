// Generated code on the real kernel: its verifier takes it, and it computes what the interpreter
// and the models say.

#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/text.h"
#include "engine/monitor/load_linked.h"
#include "kernel/bpf/map.h"
#include "kernel/bpf/program.h"
#include "kernel/bpf/support.h"
#include "kernel/bpf/test_run.h"
#include "kernel/features.h"
#include "kernel/lang/link_support.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/expr/bpf.h"
#include "lang/expr/record_gen.h"
#include "lang/insn/models.h"
#include "lang/insn/run.h"
#include "lang/ir/gen.h"
#include "support/needs.h"
#include "support/rounds.h"
#include "support/trace_instance.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;

bool has_v4() {
    return BpfFeatures().has(BpfFeature::isa_v4);
}
bool has_atomics() {
    return BpfFeatures().has(BpfFeature::atomics);
}

std::uint32_t run(const Fd& program, std::span<const std::byte> context) {
    TestRun run;
    run.context = context;
    return test_run(program.get(), run).returned;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(link_kernel)

// No divisor of the number of pairs of operands.
constexpr int kPairStep = 7;

BOOST_AUTO_TEST_CASE(every_instruction_computes_what_the_model_says) {
    const bool knows_v4 = has_v4(), knows_atomics = has_atomics();
    std::size_t tried = 0;
    const int step = kPairStep / test::rounds(kPairStep);
    int pair = 0;
    for (const test::InsnModel& one : test::insn_models()) {
        using Needs = test::InsnModel::Needs;
        const bool is_known = one.needs == Needs::atomics ? knows_atomics : knows_v4;
        if (one.needs != Needs::nothing && !is_known) continue;
        std::optional<Fd> program;
        try {
            program =
                test::load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, test::program_of(one), one.name);
        } catch (const Error& e) {
            // Linux 6.15: nothing to ask the kernel by, but to try.
            if (one.needs != Needs::acquire_release) BOOST_ERROR(e.what());
            continue;
        }
        ++tried;
        for (const std::uint64_t a : test::model_operands())
            for (const std::uint64_t b : test::model_operands()) {
                // In a guest each instruction gets others of the pairs.
                if (++pair % step != 0) continue;
                const std::uint64_t arguments[] = {a, b};
                const auto result = run(*program, std::as_bytes(std::span(arguments)));
                if (result != test::folded(one.model(a, b)))
                    BOOST_ERROR(cat(one.name, ": ", a, ", ", b, " gives ", result));
            }
    }
    BOOST_TEST(tried > (knows_v4 ? 600u : 500u));
}

BOOST_AUTO_TEST_CASE(random_programs_compute_what_the_model_computes) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_ARRAY;
    spec.name = "values";
    spec.key_bytes = 4;
    spec.value_bytes = 8;
    spec.max_entries = test::RandomProgram::kMapEntries;
    const BpfMap map = BpfMap::create(spec);
    Program maps;
    maps.maps.push_back({});
    maps.maps.back().name = "values";
    LinkTarget target;
    target.map_fds["values"] = map.fd();

    const bool knows_atomics = has_atomics();
    const auto seeds = static_cast<std::uint64_t>(test::rounds(1500));
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        test::RandomProgram program(seed, 1 + seed % 15, 4 + seed % 37, knows_atomics);
        const auto insns = test::link_items(program.compile().assemble(), target, maps);
        const Fd loaded = test::load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, cat("seed ", seed));
        for (int n = 0; n < 3; ++n) {
            test::RandomProgram::MapValues modelled{1, 2, 3, 4};
            for (std::uint32_t i = 0; i < modelled.size(); ++i)
                map.update(std::as_bytes(std::span(&i, 1)),
                           std::as_bytes(std::span(&modelled[i], 1)));
            const auto context = program.random_context();
            const std::uint32_t expected = program.evaluate(context, modelled);
            BOOST_TEST(run(loaded, context) == expected, cat("seed ", seed));
            for (std::uint32_t i = 0; i < modelled.size(); ++i) {
                std::uint64_t value = 0;
                map.lookup(std::as_bytes(std::span(&i, 1)),
                           std::as_writable_bytes(std::span(&value, 1)));
                BOOST_TEST(value == modelled[i], cat("seed ", seed));
            }
        }
    }
}

// As much of every kind as fits what a raw tracepoint program can read, so that it can be run by
// hand on any record.
constexpr std::string_view kSmall =
    "name: small\n"
    "ID: 1234\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:s8 s8;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield:bool flag;\toffset:9;\tsize:1;\tsigned:0;\n"
    "\tfield:s16 s16;\toffset:10;\tsize:2;\tsigned:1;\n"
    "\tfield:s32 s32;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\tfield:u32 u32;\toffset:16;\tsize:4;\tsigned:0;\n"
    "\tfield:s64 s64;\toffset:24;\tsize:8;\tsigned:1;\n"
    "\tfield:u64 u64;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:char tag[4];\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:char word[10];\toffset:45;\tsize:10;\tsigned:0;\n"
    "\tfield:__u8 addr[4];\toffset:55;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc char[] path;\toffset:60;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] rel;\toffset:64;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc cpumask_t mask;\toffset:68;\tsize:4;\tsigned:0;\n"
    "\n"
    "print fmt: \"\"\n";

BOOST_AUTO_TEST_CASE(generated_conditions_judge_records_as_the_evaluator_does) {
    const EventFormat event = parse_event_format("test", kSmall);
    test::ExprGenerator generator(event, {.symbol = "", .fields = {}});
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    const test::OwnTask thread;
    std::size_t held = 0, tried = 0;
    for (int i = 0; i < test::rounds(1000); ++i) {
        const Expression expression = generator.expression();
        const std::string text = to_filter(expression, event);
        const Condition condition(expression, event);
        std::vector<CodeItem> items = compile_condition(expression, event);
        items.push_back(test::item_of(insn::load(Width::w, Reg::r2, Reg::r1, 8)));
        items.push_back(test::item_of(insn::mov(Reg::r0, 1)));
        items.push_back(test::item_of(insn::leave()));
        const Fd program =
            test::load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, test::link_items(items, target), text);
        test::RecordTask task = test::random_task(generator);
        task.cpu = thread.cpu(static_cast<std::size_t>(i));
        task.tid = static_cast<std::uint32_t>(::gettid());
        thread.become(task);
        for (int n = 0; n < 10; ++n) {
            const test::RecordMaker record = test::random_record(event, generator, task);
            if (record.bytes().size() > 96) continue;
            const bool expected =
                condition.holds(record.bytes(), {static_cast<int>(task.cpu), task.comm});
            BOOST_TEST(run(program, record.bytes()) == (expected ? 1u : 0u), text);
            held += expected ? 1 : 0;
            ++tried;
        }
    }
    BOOST_TEST(held > tried / 5);
    BOOST_TEST(held < tried * 4 / 5);
}

std::vector<std::string> all_events() {
    std::vector<std::string> events;
    for (const std::string& line : split(test::top().read("available_events"), '\n'))
        events.push_back(line);
    return events;
}

BOOST_AUTO_TEST_CASE(the_verifier_takes_conditions_on_all_events) {
    const auto programs = static_cast<std::size_t>(test::rounds(4000));
    const std::vector<std::string> events = all_events();
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    SymbolLookup symbols;
    symbols.by_name = [](std::string_view) { return SymbolLookup::Extent{100, 200}; };
    std::size_t loaded = 0;
    for (std::size_t i = 0; i < programs; ++i) {
        const std::string& name = events[i * 7919 % events.size()];
        const auto text = test::top().read_if_readable(event_directory(name) + "/format");
        if (!text || name.starts_with("ftrace:")) continue;
        const EventFormat event = parse_event_format(name.substr(0, name.find(':')), *text);
        target.event = &event;
        test::ExprGenerator generator(event, {.symbol = "schedule", .fields = {}}, i);
        const Expression expression = generator.expression();
        std::vector<CodeItem> items = compile_condition(expression, event, {&symbols, 0});
        items.push_back(test::item_of(insn::mov(Reg::r0, 0)));
        items.push_back(test::item_of(insn::leave()));
        try {
            test::load_named(BPF_PROG_TYPE_TRACEPOINT, test::link_items(items, target), name);
            ++loaded;
        } catch (const Error& e) {
            BOOST_ERROR(cat(name, ": ", to_filter(expression, event), ": ", e.what()));
        }
    }
    BOOST_TEST(loaded > programs / 2);
}

BOOST_AUTO_TEST_CASE(far_jumps_work, *ut::precondition(test::has_bpf{BpfFeature::isa_v4})) {
    // Over 40,000 instructions and back.
    std::vector<CodeItem> items;
    items.push_back(test::item_of(insn::mov(Reg::r0, 5)));
    items.push_back(test::jump_to(insn::jump64(JumpOp::gt, Reg::r0, 0, 0), "far"));
    items.push_back(test::label_of("back"));
    for (int i = 0; i < 40'000; ++i) items.push_back(test::item_of(insn::mov(Reg::r1, 0)));
    items.push_back(test::item_of(insn::leave()));
    items.push_back(test::label_of("far"));
    items.push_back(test::item_of(insn::alu64(AluOp::add, Reg::r0, 1)));
    items.push_back(test::jump_to(insn::jump64(JumpOp::lt, Reg::r0, 7, 0), "back"));
    items.push_back(test::item_of(insn::leave()));
    LinkTarget target;
    target.features = {"isa_v4"};
    const Fd program =
        test::load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, test::link_items(items, target), "far");
    BOOST_TEST(run(program, {}) == 6u);
}

BOOST_AUTO_TEST_CASE(helpers_call_functions_of_the_program,
                     *ut::precondition(test::has_bpf{BpfFeature::callbacks})) {
    // bpf_loop(10, add, &sum, 0)
    ir::Code code;
    const ir::Slot sum = code.new_slot(8);
    code.store(sum, 0, ir::kU64);
    code.call(BPF_FUNC_loop, {10, code.symbol(test::reference(Relocation::Kind::callback, "add")),
                              code.address(sum), 0});
    code.leave(code.load(sum, ir::kU64));
    ir::Code add;
    const ir::Temp index = add.argument(1), at = add.argument(2);
    add.store(at, add.compute(ir::Op::add, ir::kU64, add.load(at, ir::kU64), index), ir::kU64);
    add.leave(0);
    Program program;
    program.subprograms.push_back({"add", add.assemble(), {}});
    ProbeProgram probe;
    probe.name = "main";
    probe.code = code.assemble();
    BpfProgramSpec spec;
    spec.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    BpfFeatures features;
    BOOST_TEST(run(load_linked(program, link(program, probe, {}), spec, features), {}) == 45u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
