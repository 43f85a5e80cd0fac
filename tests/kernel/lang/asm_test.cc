#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "engine/monitor/loaded_program_text.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/map.h"
#include "kernel/bpf/program.h"
#include "lang/insn/image.h"
#include "lang/link/link.h"
#include "support/assemble_text.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

// A program with its maps, linked for this machine.
struct Loaded {
    std::vector<BpfMap> maps;
    std::vector<Fd> programs;
};

std::optional<EventFormat> find_format(const ProbeTarget& target) {
    const auto colon = target.name.find(':');
    const std::string system = target.name.substr(0, colon);
    const auto text = read_file_if_readable(
        cat("/sys/kernel/tracing/events/", system, "/", target.name.substr(colon + 1), "/format"));
    if (!text) return {};
    return parse_event_format(system, *text);
}

Loaded load_all(const Program& program) {
    Loaded loaded;
    LinkTarget machine;
    machine.features = {"ringbuf"};
    for (const MapDeclaration& map : program.maps) {
        BpfMapSpec spec{map.type,
                        map.name,
                        static_cast<std::uint32_t>(map.key.bytes),
                        static_cast<std::uint32_t>(map.value_bytes()),
                        static_cast<std::uint32_t>(map.max_entries),
                        0};
        loaded.maps.push_back(BpfMap::create(spec));
        machine.map_fds[map.name] = loaded.maps.back().fd();
    }
    std::uint32_t id = 1;
    for (const RecordLayout& record : program.records) machine.record_ids[record.name] = id++;
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets) {
            const ProbeTarget& target = alternatives[0];
            LinkTarget place = machine;
            std::optional<EventFormat> format;
            BpfProgramSpec spec;
            spec.type = BPF_PROG_TYPE_PERF_EVENT;
            if (target.kind == ProbeTarget::Kind::tracepoint) {
                format = find_format(target);
                if (!format) continue;  // not every kernel has every event
                place.event = &*format;
                place.context = LinkTarget::Context::record;
                spec.type = BPF_PROG_TYPE_TRACEPOINT;
            }
            const Linked linked = link(program, probe, place);
            spec.name = probe.name;
            spec.insns = linked.insns;
            spec.licence = program.licence;
            loaded.programs.push_back(load_program(spec));
        }
    return loaded;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(asm_kernel)

BOOST_AUTO_TEST_CASE(a_loaded_program_is_shown_with_its_names_and_assembles_again) {
    const Loaded loaded = load_all(assemble({"t.bpf", R"(.licence "GPL"
.map counts hash key u32, value u64
.prog count tracepoint sched:sched_switch
        call get_current_pid_tgid
        *(u32 *)(r10 - 4) = w0
        r1 = map[counts]
        r2 = r10
        r2 += -4
        call map_delete_elem
        r0 = 0
        exit
)"}));
    const ProgramInfo info = program_info(loaded.programs.at(0).get(), WithInsns::yes);
    BOOST_REQUIRE(!info.insns.empty());
    const std::string text = loaded_program_text(info.id);
    BOOST_TEST(text.starts_with(cat("# program ", info.id, " count, as the kernel rewrote it\n")));
    BOOST_TEST(text.find("# map[counts]\n") != text.npos, text);
    BOOST_TEST(text.find("map_delete_elem\n") != text.npos, text);
    const Listing again = assemble_bare({"again", text});
    BOOST_TEST(again.errors.to_text() == "");
    BOOST_TEST(to_hex(again.insns) == to_hex(info.insns));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
