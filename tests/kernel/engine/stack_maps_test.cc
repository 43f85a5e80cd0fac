#include "engine/results/stack_maps.h"

#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "engine/monitor/monitor.h"
#include "engine/results/lost_counters.h"
#include "lang/asm/assembler.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

// Counts this process's getpgid() by kernel stack, and notes the stack of the last one.
const std::string kCounts =
    ".map s stack_trace max 8\n"
    ".map counts hash key { kernel kstack(s), pad u32 }, value count, max 8\n"
    ".map last hash key u32, value { kernel kstack(s), pad u32 }, max 8\n"
    ".stack v { key { kernel kstack(s), pad u32 }, one u64, slot u32 }\n"
    ".prog p tracepoint syscalls:sys_enter_getpgid\n"
    "  r6 = r1\n"
    "  r2 = map[s]\n"
    "  r3 = 0\n"
    "  call get_stackid\n"
    "  *(u32 *)(r10 + v.key.kernel) = w0\n"
    "  *(u32 *)(r10 + v.key.pad) = 0\n"
    "  *(u32 *)(r10 + v.slot) = 0\n"
    "  r1 = map[last]\n"
    "  r2 = r10\n"
    "  r2 += v.slot\n"
    "  r3 = r10\n"
    "  r3 += v.key\n"
    "  r4 = 0\n"
    "  call map_update_elem\n"
    "  r1 = map[counts]\n"
    "  r2 = r10\n"
    "  r2 += v.key\n"
    "  *(u64 *)(r10 + v.one) = 1\n"
    "  r3 = r10\n"
    "  r3 += v.one\n"
    "  r4 = 0\n"
    "  call map_update_elem\n"
    "  r0 = 0\n"
    "  exit\n";

class Counting {
public:
    Counting()
        : monitor_(assemble({"t.bpf", kCounts}, {}), by_turns(), machine_),
          stacks_(monitor_),
          reader_(monitor_) {
        monitor_.attach();
        ::getpgid(0);
        monitor_.detach();
    }

    const StackMaps& stacks() const { return stacks_; }
    // What an interval does: the stacks that were counted meanwhile.
    std::set<StackMaps::Name> tell() {
        std::set<StackMaps::Name> named;
        monitor_.turn();
        StackMaps::add_names(*monitor_.program().find_map("counts"), reader_.take("counts"), named);
        stacks_.release(named);
        return named;
    }
    void forget_last() {
        const std::uint32_t slot = 0;
        const std::vector<std::byte> none(8, std::byte{0xff});
        monitor_.map("last")->update(std::as_bytes(std::span(&slot, 1)), none);
    }
    std::size_t held() const { return monitor_.map("s")->stack_ids().size(); }

private:
    static Monitor::Choice by_turns() {
        Monitor::Choice choice;
        choice.turns = true;
        return choice;
    }

    KernelFacts machine_;
    Monitor monitor_;
    StackMaps stacks_;
    MapReader reader_;
};

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(stack_maps)

BOOST_AUTO_TEST_CASE(a_stack_that_is_not_there_has_no_frames) {
    KernelFacts machine;
    const Monitor monitor(assemble({"t.bpf", kCounts}, {}), {}, machine);
    const StackMaps stacks(monitor);
    BOOST_TEST(stacks.frames("s", 3).empty());
    BOOST_TEST(stacks.frames("s", -17).empty());
    BOOST_TEST(stacks.frames("no_such_map", 3).empty());
}

BOOST_AUTO_TEST_CASE(a_stack_goes_when_nothing_names_it_any_more) {
    Counting counting;
    const std::set<StackMaps::Name> named = counting.tell();
    BOOST_TEST_REQUIRE(named.size() == 1u);
    const auto& [map, id] = *named.begin();
    const std::vector<std::uint64_t> frames = counting.stacks().frames(map, id);
    BOOST_TEST(!frames.empty());
    // It was not counted again, but a value still names it.
    BOOST_TEST(counting.tell().empty());
    BOOST_TEST(counting.held() == 1u);
    counting.forget_last();
    BOOST_TEST(counting.tell().empty());
    BOOST_TEST(counting.held() == 0u);
    // Whoever found it just before can still show it, until the next time.
    BOOST_TEST(counting.stacks().frames(map, id) == frames);
    BOOST_TEST(counting.tell().empty());
    BOOST_TEST(counting.stacks().frames(map, id).empty());
}

// Counts this process's getpgid() by user stack.
const std::string kManyStacks =
    ".licence \"GPL\"\n"
    ".map s stacks max 4096\n"
    ".map counts hash key ustack(s), value count, max 4096\n"
    ".stack v { id u32 }\n"
    ".prog p tracepoint syscalls:sys_enter_getpgid\n"
    "  call get_stackid(r1, map[s], 1 << 8)\n"
    "  *(u32 *)(r10 + v.id) = w0\n"
    "  add counts[&v.id]\n"
    "  r0 = 0\n"
    "  exit\n";

// As many stacks as there are numbers of so many bits: each bit is a call from another place.
[[gnu::noinline]] int call_by_bits(unsigned bits, unsigned left) {
    if (left == 0) return ::getpgid(0) != 0 ? 1 : 0;
    if (bits & 1) return call_by_bits(bits >> 1, left - 1) + 1;
    return call_by_bits(bits >> 1, left - 1);
}

BOOST_AUTO_TEST_CASE(no_stack_takes_the_place_of_another) {
    constexpr unsigned kBits = 10;
    KernelFacts machine;
    Monitor monitor(assemble({"t.bpf", kManyStacks}, {}), {}, machine);
    monitor.attach();
    for (int turn = 0; turn < 2; ++turn)
        for (unsigned bits = 0; bits < 1u << kBits; ++bits) call_by_bits(bits, kBits);
    monitor.detach();
    MapReader reader(monitor);
    const StackMaps stacks(monitor);
    std::set<std::vector<std::uint64_t>> seen;
    for (const MapEntry& entry : reader.read("counts")) {
        BOOST_TEST(entry.words[0] == 2u);
        std::int32_t id = 0;
        std::memcpy(&id, entry.key.data(), sizeof id);
        BOOST_TEST(id >= 0);
        seen.insert(stacks.frames("s", id));
    }
    BOOST_TEST(seen.size() == 1u << kBits);
    BOOST_TEST(!seen.contains({}));
    BOOST_TEST(read_losses({}, monitor, reader).is_complete());
}

BOOST_AUTO_TEST_CASE(a_stack_that_finds_no_room_is_counted) {
    std::string small = kManyStacks;
    small.replace(small.find("s stacks max 4096"), 17, "s stacks max 8");
    KernelFacts machine;
    Monitor monitor(assemble({"t.bpf", small}, {}), {}, machine);
    monitor.attach();
    for (unsigned bits = 0; bits < 16; ++bits) call_by_bits(bits, 4);
    monitor.detach();
    MapReader reader(monitor);
    Loss lost;
    const LossLedger losses = read_losses({}, monitor, reader);
    for (const KindOfLoss& kind : losses.kinds())
        if (kind.what == "stacks that found no room in 's'") lost += kind.loss;
    BOOST_TEST((lost == Loss::exactly(8)));
    BOOST_TEST(monitor.map("s")->stack_ids().size() == 8u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
