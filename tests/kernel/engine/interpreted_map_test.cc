// The interpreter's maps do what the kernel's do: random programs of map operations, run in both.

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "base/cat.h"
#include "kernel/bpf/test_run.h"
#include "kernel/lang/link_support.h"
#include "lang/insn/map_world.h"
#include "support/assemble_text.h"
#include "support/needs.h"
#include "support/trace_instance.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;

// A text with so many operations on map m; r6 takes all their results in.
class Operations {
public:
    explicit Operations(std::uint64_t seed) : random_(seed) {}

    std::string text(const std::string& declaration, int count) {
        text_ = cat(".licence \"GPL\"\n", declaration, "\n.prog p begin\nr6 = 0\n");
        for (int i = 0; i < count; ++i) add();
        return text_ + "r0 = r6\nexit\n";
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    void line(const std::string& one) { text_ += one + '\n'; }

    void key() {
        line(cat("*(u32 *)(r10 - 4) = ", below(6)));
        line("r1 = map[m]");
        line("r2 = r10");
        line("r2 += -4");
    }
    // Leaves the value's address, or 0, in r0.
    void look_up() {
        key();
        line("call map_lookup_elem");
    }
    void set() {
        key();
        line(cat("r3 = ", below(1000)));
        line("*(u64 *)(r10 - 16) = r3");
        line("r3 = r10");
        line("r3 += -16");
        line(cat("r4 = ", below(3)));  // others mean more on newer kernels
        line("call map_update_elem");
    }
    void take_result() {
        line("r6 *= 31");
        line("r6 += r0");
    }
    void add() {
        const std::string none = cat("none", ++labels_);
        switch (below(6)) {
            case 0:
                key();
                line("call map_delete_elem");
                break;
            case 1:
                look_up();
                line(cat("if r0 == 0 goto ", none));
                line("r0 = *(u64 *)(r0 + 0)");
                line(none + ":");
                break;
            case 2:
                look_up();
                line(cat("if r0 == 0 goto ", none));
                line("r1 = 1");
                line("lock *(u64 *)(r0 + 0) += r1");
                line("r0 = 1");
                line(none + ":");
                break;
            case 3:  // what was looked up before another value was set
                look_up();
                line("r7 = r0");
                set();
                line(cat("if r7 == 0 goto ", none));
                line("r0 = *(u64 *)(r7 + 0)");
                line(none + ":");
                break;
            default:
                set();
        }
        take_result();
    }

    std::mt19937_64 random_;
    std::string text_;
    int labels_ = 0;
};

// Sorted by the keys; of per-CPU values the copy of one CPU.
using Contents = std::map<std::vector<std::byte>, std::vector<std::byte>>;
Contents contents_of(const BpfMap& map, std::size_t cpu) {
    Contents found;
    map.for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        const auto own = value.subspan(map.is_per_cpu() ? cpu * map.copy_bytes() : 0, 8);
        found[{key.begin(), key.end()}] = {own.begin(), own.end()};
    });
    return found;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(interpreted_map)

BOOST_DATA_TEST_CASE(maps_do_in_the_interpreter_what_they_do_in_the_kernel,
                     ut::data::make({"hash", "percpu_hash", "array", "percpu_array"}), kind) {
    const std::string declaration =
        cat(".map m ", kind, std::string_view(kind).ends_with("hash") ? " key u32," : "",
            " value u64, max 4");
    const test::OwnTask task;
    const std::uint32_t cpu = task.cpu(0);
    task.become({cpu, 0, "maps"});
    const auto seeds = static_cast<std::uint64_t>(test::scaled(150));
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        test::MapWorld world(assemble({"t.bpf", Operations(seed).text(declaration, 24)}, {}));
        const std::uint64_t expected = world.run(0);

        const MapDeclaration& declared = world.program.maps.at(0);
        const BpfMap map = BpfMap::create({declared.type, "m", 4, 8, 4, 0});
        LinkTarget target;
        target.map_fds["m"] = map.fd();
        const Linked linked = link(world.program, world.program.programs.at(0), target);
        const Fd loaded =
            test::load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, linked.insns, cat("seed ", seed));
        TestRun run;
        run.cpu = cpu;
        BOOST_TEST(test_run(loaded.get(), run).returned == static_cast<std::uint32_t>(expected),
                   cat("seed ", seed));
        BOOST_TEST((contents_of(map, cpu) == world.contents("m")), cat("seed ", seed));
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
