#define BOOST_TEST_DYN_LINK
#include "lang/link/link.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/text.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

// The format of a target's event on a captured kernel.
std::optional<EventFormat> find_format(const std::string& kernel, const ProbeTarget& target) {
    const auto colon = target.name.find(':');
    const std::string system = target.name.substr(0, colon);
    const auto text = read_file_if_readable(cat("tests/data/formats/", kernel, "/events/", system,
                                                "/", target.name.substr(colon + 1), "/format"));
    if (!text) return {};
    return parse_event_format(system, *text);
}

// Numbers in the place of what a machine gives.
LinkTarget some_machine(const Program& program, const StringPool& pool, bool has_v4) {
    LinkTarget machine;
    machine.features = {"ringbuf"};
    if (has_v4) machine.features.insert("isa_v4");
    int fd = 10;
    for (const MapDeclaration& map : program.maps) machine.map_fds[map.name] = fd++;
    std::uint32_t id = 1;
    for (const RecordLayout& record : program.records) machine.record_ids[record.name] = id++;
    machine.btf_offset = [](std::string_view) { return std::int64_t{64}; };
    machine.string_pool = &pool;
    machine.string_pool_fd = fd;
    return machine;
}

// How many of its probes it was linked for, with each of their alternatives that is there.
std::size_t link_all(const Program& program, const std::string& kernel, bool has_v4) {
    std::size_t linked = 0;
    const StringPool pool = make_string_pool(program, {});
    const auto some = parse_static_arguments("8@$1 8@$2 8@$3");
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets) {
            bool is_linked = false;
            for (const ProbeTarget& target : alternatives) {
                LinkTarget machine = some_machine(program, pool, has_v4);
                machine.attached_to = target.name;
                std::optional<EventFormat> format;
                const bool is_raw = target.kind == ProbeTarget::Kind::raw_tracepoint;
                const bool is_record = target.kind == ProbeTarget::Kind::tracepoint ||
                                       target.kind == ProbeTarget::Kind::recorded;
                if (is_raw || is_record) {
                    format = find_format(kernel, target);
                    if (!format) continue;
                    machine.context =
                        is_raw ? LinkTarget::Context::raw_arguments : LinkTarget::Context::record;
                    machine.event = &*format;
                } else if (probe_kind(target.kind).has_registers) {
                    machine.context = LinkTarget::Context::registers;
                    machine.event = &function_registers(target.kind);
                    if (target.kind == ProbeTarget::Kind::usdt) machine.static_arguments = &some;
                }
                try {
                    BOOST_TEST(!link(program, probe, machine).insns.empty());
                    is_linked = true;
                } catch (const UsageError& e) {
                    BOOST_ERROR(e.what());
                }
            }
            linked += is_linked;
        }
    return linked;
}

BOOST_AUTO_TEST_SUITE(assembler_link)

BOOST_AUTO_TEST_CASE(every_shipped_monitor_links_for_every_captured_kernel,
                     *boost::unit_test::label("long")) {
    for (const std::string kernel : {"5.10", "6.1", "6.12", "6.18", "7.3"})
        for (const auto& file : std::filesystem::directory_iterator(kBpfFolder)) {
            if (file.path().extension() != ".bpf") continue;
            const std::string name = file.path().stem();
            const bool is_driver =
                name == "amdgpu" || name == "i915" || name == "xe" || name == "npu";
            if (name == "xe" && (kernel == "5.10" || kernel == "6.1")) continue;  // older than it
            if (name == "npu" && kernel != "7.3") continue;
            // One has no DRM; of two others there are the GPUs' events only.
            if (kernel == "6.18" && (is_driver || name == "vblank")) continue;
            if ((kernel == "5.10" || kernel == "7.3") && !is_driver) continue;
            BOOST_TEST_CONTEXT(kernel << " " << file.path()) {
                const Program program = assemble_file(file.path().string());
                const auto needed = static_cast<std::size_t>(
                    std::ranges::count(program.programs, false, &ProbeProgram::is_optional));
                for (const bool has_v4 : {false, true})
                    BOOST_TEST(link_all(program, kernel, has_v4) >= needed);
            }
        }
}

BOOST_AUTO_TEST_CASE(ids_of_tasks_are_those_of_the_pid_namespace_where_there_is_one) {
    const Program program = assemble({"t.bpf", R"(.prog p tracepoint sched:sched_switch
        call get_current_pid_tgid
        if r0 == 0 goto out
        *(u64 *)(r10 - 8) = r0
out:    r0 = 0
        exit
)"});
    LinkTarget machine;
    BOOST_TEST(link(program, program.programs[0], machine).insns.size() == 5u);
    machine.pid_namespace = {{4, 0xf0000001}};
    const Linked linked = link(program, program.programs[0], machine);
    BOOST_TEST_REQUIRE(linked.insns.size() == 13u);
    BOOST_TEST(linked.insns[0].imm == 4);
    BOOST_TEST(static_cast<std::uint32_t>(linked.insns[2].imm) == 0xf0000001);
    BOOST_TEST(linked.insns[5].imm == -16);  // below what the program uses
    BOOST_TEST(linked.insns[7].imm == 120);  // bpf_get_ns_current_pid_tgid
    BOOST_TEST(linked.insns[8].off == -16);
    BOOST_TEST(linked.insns[9].off == 1);  // the jump still goes to its label
    BOOST_TEST(linked.functions[0].stack_bytes == 16u);
}

BOOST_AUTO_TEST_CASE(fields_conditions_and_parameters_meet_the_kernel) {
    const Program program = assemble({"t.bpf", R"(.param min = 5
.map m hash key u32, value u64
.prog p tracepoint sched:sched_switch
        r6 = r1
        r7 = @prev_pid(r6)
        w8 = *(u32 *)(r6 + @next_pid)
        .if @prev_state
        r9 = 1
        .else
        r9 = 2
        .endif
        if r7 == min goto out
        r1 = "kworker"
        r1 = map[m]
out:    r0 = record(done)
        exit
.record done { pid u32 }
)"});
    const StringPool pool = make_string_pool(program, {});
    LinkTarget machine = some_machine(program, pool, true);
    const auto format = find_format("6.12", program.programs[0].targets[0][0]);
    machine.context = LinkTarget::Context::record;
    machine.event = &format.value();
    const Linked linked = link(program, program.programs[0], machine);
    BOOST_TEST(linked.insns[2].off == static_cast<int>(format->find("next_pid")->offset));
    BOOST_TEST(linked.insns[3].imm == 1);
    BOOST_TEST(linked.insns[4].imm == 5);
    BOOST_TEST(linked.insns[4].off == 4);
    BOOST_TEST(linked.insns[5].src_reg == BPF_PSEUDO_MAP_VALUE);
    BOOST_TEST(linked.insns[7].imm == 10);
    BOOST_TEST(linked.insns[9].imm == 1);
}

BOOST_AUTO_TEST_CASE(a_comparison_with_a_parameter_goes_to_the_label_that_the_machine_has) {
    const Program program = assemble({"t.bpf", R"(.param min = 5
.prog p begin
        r1 = 0
again:  r0 = 0
        if r1 == min goto end
        .if feature ringbuf
        r0 = 1
        r0 = 2
end:    exit
        .else
        r0 = 3
        if r1 == min goto again
end:    r0 = 4
        exit
        .endif
)"});
    const auto jumps_of = [&](std::set<std::string, std::less<>> features) {
        LinkTarget machine;
        machine.features = std::move(features);
        std::vector<int> jumps;
        for (const bpf_insn& insn : link(program, program.programs[0], machine).insns)
            if (insn.code == (BPF_JMP | BPF_JEQ)) jumps.push_back(insn.off);
        return jumps;
    };
    BOOST_TEST(jumps_of({"ringbuf"}) == (std::vector{2}), boost::test_tools::per_element());
    BOOST_TEST(jumps_of({}) == (std::vector{2, -4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_field_that_a_kernel_lacks_is_shown_in_the_text) {
    const Program program = assemble(
        {"t.bpf", ".prog p tracepoint sched:sched_switch\n  r1 = @prev_pit(r1)\n  exit\n"});
    const auto format = find_format("6.12", program.programs[0].targets[0][0]);
    LinkTarget machine;
    machine.context = LinkTarget::Context::record;
    machine.event = &format.value();
    BOOST_CHECK_EXCEPTION(
        link(program, program.programs[0], machine), UsageError, [](const UsageError& e) {
            BOOST_TEST(e.what() == std::string("t.bpf:2:8: error: sched:sched_switch has no "
                                               "field 'prev_pit'\n"
                                               "  r1 = @prev_pit(r1)\n"
                                               "       ^~~~~~~~~\n"
                                               "hint: did you mean 'prev_pid'?"));
            return true;
        });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
