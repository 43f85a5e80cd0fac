// What interpreted programs get from the kernel's functions, in a world without a kernel.

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "base/cat.h"
#include "lang/insn/map_world.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

using test::MapWorld;

// A world with these declarations, and one program of this code.
MapWorld& world_of(std::optional<MapWorld>& place, const std::string& declared,
                   const std::string& code) {
    return place.emplace(
        assemble({"t.bpf", cat(declared, "\n.prog p begin\n", code, "\nexit\n")}, {}));
}

std::uint64_t result(const std::string& declared, const std::string& code) {
    std::optional<MapWorld> world;
    return world_of(world, declared, code).run(0);
}

constexpr std::uint64_t minus(int code) {
    return static_cast<std::uint64_t>(-std::int64_t{code});
}

BOOST_AUTO_TEST_SUITE(bpf_helpers)

BOOST_AUTO_TEST_CASE(records_go_to_who_reads_the_ring) {
    const std::string ring = ".map r ringbuf max 4096";
    const std::string reserve =
        "r1 = map[r]\nr2 = 8\nr3 = 0\ncall ringbuf_reserve\nif r0 == 0 goto none\n"
        "r1 = 5\n*(u64 *)(r0 + 0) = r1\nr1 = r0\nr2 = 0\n";
    std::vector<std::uint64_t> seen;
    const auto run = [&](const std::string& declared, const std::string& code) {
        std::optional<MapWorld> world;
        world_of(world, declared, code);
        world->world.on_record = [&](std::span<const std::byte> record) {
            std::uint64_t word = 0;
            std::memcpy(&word, record.data(), sizeof word);
            seen.push_back(word);
        };
        return world->run(0);
    };
    run(ring, reserve + "call ringbuf_submit\nnone: r0 = 0");
    run(ring, reserve + "call ringbuf_discard\nnone: r0 = 0");
    const std::string word = "r1 = 6\n*(u64 *)(r10 - 8) = r1\n";
    BOOST_TEST(run(ring, word + "r1 = map[r]\nr2 = r10\nr2 += -8\nr3 = 8\nr4 = 0\n"
                                "call ringbuf_output") == 0u);
    BOOST_TEST(run(ring, word + "r1 = map[r]\nr2 = r10\nr2 += -8\nr3 = 8\nr4 = 64\n"
                                "call ringbuf_output") == minus(EINVAL));
    const std::string perf = word + "r2 = map[e]\nr4 = r10\nr4 += -8\nr5 = 8\n";
    BOOST_TEST(
        run(".map e perf_event_array", perf + "r3 = 0xffffffff ll\ncall perf_event_output") == 0u);
    BOOST_TEST(run(".map e perf_event_array", perf + "r3 = 1\ncall perf_event_output") ==
               minus(EOPNOTSUPP));
    BOOST_TEST(seen == (std::vector<std::uint64_t>{5, 6, 6}));
}

BOOST_AUTO_TEST_CASE(a_reserved_record_must_be_sent_or_dropped) {
    const std::string ring = ".map r ringbuf max 4096";
    BOOST_CHECK_EXCEPTION(result(ring, "r1 = map[r]\nr2 = 8\nr3 = 0\ncall ringbuf_reserve\nr0 = 0"),
                          BpfFault, [](const BpfFault& e) {
                              return e.why() == "ends with a reserved record that is not sent";
                          });
    BOOST_CHECK_EXCEPTION(
        result(ring, "r1 = 5\nr2 = 0\ncall ringbuf_submit"), BpfFault,
        [](const BpfFault& e) { return e.why() == "the helper's argument is no reserved record"; });
    // No more at a time than the ring holds.
    BOOST_TEST(result(ring, "r1 = map[r]\nr2 = 4090\nr3 = 0\ncall ringbuf_reserve") == 0u);
    BOOST_TEST(result(ring, "r1 = map[r]\nr2 = 1\ncall ringbuf_query") == 4096u);
}

BOOST_AUTO_TEST_CASE(stacks_are_the_moments_or_there_are_none) {
    const std::vector<std::uint64_t> kernel{1, 2, 3}, user{8, 9};
    std::optional<MapWorld> world;
    const auto id = [&](const std::string& flags) {
        return world_of(world, ".map s stack_trace",
                        cat("r2 = map[s]\nr3 = ", flags, "\ncall get_stackid"))
            .run(0);
    };
    BOOST_TEST(id("0") == minus(EFAULT));
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::kernel_stack)] == 1u);
    BOOST_TEST(id("0x100") == minus(EFAULT));
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::user_stack)] == 1u);
    BOOST_TEST(id("0x800") == minus(EINVAL));

    const auto bytes = [&](const std::string& code) {
        world_of(world, "", code);
        world->world.now.kernel_stack = kernel;
        world->world.now.user_stack = user;
        return world->run(0);
    };
    const std::string stack = "r1 = 0\nr2 = r10\nr2 += -32\nr3 = 32\n";
    BOOST_TEST(bytes(stack + "r4 = 0\ncall get_stack") == 24u);
    BOOST_TEST(bytes(stack + "r4 = 0x100\ncall get_stack\nr0 = *(u64 *)(r10 - 24)") == 9u);
    BOOST_TEST(bytes(stack + "r4 = 2\ncall get_stack\nr0 = *(u64 *)(r10 - 32)") == 3u);
    BOOST_TEST(bytes(stack + "r4 = 3\ncall get_stack") == minus(EFAULT));
}

BOOST_AUTO_TEST_CASE(a_function_is_called_for_each_entry_until_it_says_stop) {
    const std::string array = ".map a array value u64, max 5\n.map n array value u64, max 1\n";
    const auto code = [](int stop_at) {
        return cat(
            "r1 = map[a]\nr2 = subprog[each]\nr3 = 7\nr4 = 0\ncall for_each_map_elem\nr6 = r0\n"
            "r1 = map[n][0]\nr1 = *(u64 *)(r1 + 0)\nr1 *= 100\nr0 = r6\nr0 += r1\nexit\n"
            ".func each\nw1 = *(u32 *)(r2 + 0)\nr5 = map[n][0]\nlock *(u64 *)(r5 + 0) += r4\n"
            "r0 = 0\nif w1 != ",
            stop_at, " goto out\nr0 = 1\nout:");
    };
    BOOST_TEST(result(array, code(9)) == 5u + 35 * 100);
    BOOST_TEST(result(array, code(1)) == 2u + 14 * 100);
}

BOOST_AUTO_TEST_CASE(values_of_another_cpu_are_looked_up_by_its_number) {
    std::optional<MapWorld> world;
    const std::string lookup = "*(u32 *)(r10 - 4) = 0\nr1 = map[a]\nr2 = r10\nr2 += -4\n";
    BOOST_TEST(world_of(world, ".map a percpu_array value u64, max 1",
                        lookup + "r3 = 1\ncall map_lookup_percpu_elem")
                   .run(0) == 0u);
    BOOST_TEST(world_of(world, ".map a percpu_array value u64, max 1",
                        lookup + "r3 = 0\ncall map_lookup_percpu_elem\nr0 = *(u64 *)(r0 + 0)")
                   .run(0) == 0u);
}

BOOST_AUTO_TEST_CASE(what_nobody_knows_is_counted) {
    std::optional<MapWorld> world;
    BOOST_TEST(world_of(world, "", "call get_current_uid_gid").run(0) == ~std::uint64_t{0});
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::user)] == 1u);
    BOOST_TEST(world_of(world, "", "call get_current_cgroup_id").run(0) == 0u);
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::cgroup)] == 1u);
    world_of(world, "", "call get_current_pid_tgid");
    world->world.now.pid = world->world.now.tid = 5;
    world->world.now.is_pid_known = false;
    BOOST_TEST(world->run(0) == (std::uint64_t{5} << 32 | 5));
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::process)] == 1u);
    const std::string read = "r1 = r10\nr1 += -8\nr2 = 8\nr3 = 0x1000\n";
    BOOST_TEST(world_of(world, "", read + "call probe_read_user").run(0) == minus(EFAULT));
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::user_memory)] == 1u);
    BOOST_TEST(world_of(world, "", read + "call probe_read_kernel").run(0) == minus(EFAULT));
    BOOST_TEST(world->world.misses[std::size_t(VmState::Gap::kernel_memory)] == 1u);
}

BOOST_AUTO_TEST_CASE(texts_compare_up_to_their_end) {
    const auto compared = [](const std::string& a, const std::string& b) {
        return result("", cat("r1 = ", a, " ll\n*(u64 *)(r10 - 8) = r1\nr1 = ", b,
                              " ll\n*(u64 *)(r10 - 16) = r1\nr1 = r10\nr1 += -8\nr2 = 8\n"
                              "r3 = r10\nr3 += -16\ncall strncmp"));
    };
    BOOST_TEST(compared("0x110063", "0x220063") == 0u);
    BOOST_TEST(compared("0x6362", "0x6462") == minus(1));
    BOOST_TEST(compared("0x6262", "0x6462") == minus(1));
    BOOST_TEST(compared("0x6362", "0x62") == 1u);
}

BOOST_AUTO_TEST_CASE(a_map_of_the_wrong_kind_stops_the_program) {
    const auto why = [](const std::string& declared, const std::string& code) -> std::string {
        try {
            result(declared, code);
        } catch (const BpfFault& e) {
            return e.why();
        }
        return {};
    };
    BOOST_TEST(why(".map s stack_trace",
                   "*(u32 *)(r10 - 4) = 0\nr1 = map[s]\nr2 = r10\nr2 += -4\n"
                   "call map_lookup_elem") == "the helper's argument is not a map of entries");
    BOOST_TEST(why(".map a array value u64, max 1", "r2 = map[a]\nr3 = 0\ncall get_stackid") ==
               "the helper's argument is not a map of stacks");
    BOOST_TEST(why("", "r1 = 1\nr2 = r10\nr3 = 0\nr4 = 0\ncall ringbuf_output") ==
               "the helper's argument is not a ring of that kind");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
