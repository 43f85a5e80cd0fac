#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "kernel/bpf/support.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/elf/usdt_notes.h"
#include "kernel/elf/usdt_probe.h"
#include "kernel/perf/attach.h"
#include "support/needs.h"
#include "support/skip.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

const AttachWay kUprobeWays[] = {
    {"uprobe PMU, perf ioctl", HookWay::ioctl, ProbeWay::pmu},
    {"uprobe_events, perf ioctl", HookWay::ioctl, ProbeWay::tracefs},
    {"uprobe PMU, BPF link", HookWay::newest, ProbeWay::newest},
    {"uprobe_events, BPF link", HookWay::newest, ProbeWay::tracefs},
};
BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_uprobe)

BOOST_DATA_TEST_CASE(a_uprobe_counts_each_way, ut::data::make(kUprobeWays), way) {
    if (!is_here(way.hook)) return test::skip("needs BPF links for perf events");
    for (const bool at_return : {false, true}) {
        UprobePlace place;
        place.path = self();
        place.offset = offset_of("gpufs_test_target");
        place.at_return = at_return;
        check_counts(
            kKprobe,
            [&](int program) { return attach_uprobe(program, place, by(way.hook, way.probe)); },
            call_targets, way.how);
    }
}

BOOST_DATA_TEST_CASE(a_usdt_semaphore_is_up_while_attached, ut::data::make(kUprobeWays), way) {
    if (!is_here(way.hook)) return test::skip("needs BPF links for perf events");
    const auto probes = find_usdt_probes(self(), "gpufs_test", "probe");
    BOOST_TEST_REQUIRE(probes.size() == 1u);
    UprobePlace place;
    place.path = self();
    place.offset = probes[0].offset;
    place.semaphore_offset = probes[0].semaphore_offset;
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    fire_usdt_probe(7);
    BOOST_TEST(usdt_listeners() == 0);
    {
        const Attachment attachment = attach_uprobe(program.get(), place, by(way.hook, way.probe));
        BOOST_TEST(usdt_listeners() == 1);
        for (int i = 0; i < kHits; ++i) fire_usdt_probe(i);
    }
    BOOST_TEST(usdt_listeners() == 0);
    BOOST_TEST(counter(counters) == static_cast<std::uint64_t>(kHits));
}

BOOST_AUTO_TEST_CASE(one_link_counts_at_many_places,
                     *ut::precondition(has_bpf{BpfFeature::uprobe_multi})) {
    for (const bool at_return : {false, true}) {
        UprobeSet set;
        set.path = self();
        set.offsets = {offset_of("gpufs_test_target"), offset_of("gpufs_test_other")};
        set.at_return = at_return;
        check_counts(
            kKprobe, [&](int program) { return attach_uprobe_multi(program, set); },
            [](int times) {
                for (int i = 0; i < times; i += 2) gpufs_test_target(i);
                for (int i = 1; i < times; i += 2) gpufs_test_other(i);
            },
            "uprobe_multi link", kAttachUprobeMulti);
    }
}

// Which place was hit, the cookie tells.
BOOST_AUTO_TEST_CASE(cookies_tell_the_places_apart,
                     *ut::precondition(has_bpf{BpfFeature::perf_link})) {
    const BpfMap counters = make_counters(4);
    // counters[cookie] += 1
    const Insns body =
        Insns{op::copy(1, 6), op::call(BPF_FUNC_get_attach_cookie), op::store(BPF_W, 10, -4, 0),
              op::copy(2, 10), op::add(2, -4)} +
        load_map(1, counters) +
        Insns{op::call(BPF_FUNC_map_lookup_elem), op::jump_if_zero(0, 2), op::mov(1, 1),
              op::make(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD)};
    const Fd program = load(kKprobe, if_ours(body));
    UprobePlace target, other;
    target.path = other.path = self();
    target.offset = offset_of("gpufs_test_target");
    other.offset = offset_of("gpufs_test_other");
    AttachOptions one, two;
    one.cookie = 1;
    two.cookie = 2;
    const Attachment a = attach_uprobe(program.get(), target, one);
    const Attachment b = attach_uprobe(program.get(), other, two);
    for (int i = 0; i < 10; ++i) gpufs_test_target(i);
    for (int i = 0; i < 20; ++i) gpufs_test_other(i);
    BOOST_TEST(counter(counters, 1) == 10u);
    BOOST_TEST(counter(counters, 2) == 20u);
    AttachOptions impossible = by(HookWay::ioctl);
    impossible.cookie = 3;
    BOOST_CHECK_THROW(attach_uprobe(program.get(), target, impossible), UnsupportedError);
}

BOOST_AUTO_TEST_CASE(a_wrong_uprobe_says_what_is_wrong) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    UprobePlace place;
    place.path = "/no/such/file";
    for (const ProbeWay probe : {ProbeWay::pmu, ProbeWay::tracefs})
        BOOST_CHECK_EXCEPTION(
            attach_uprobe(program.get(), place, by(HookWay::newest, probe)), Error,
            [](const Error& e) {
                BOOST_TEST(e.what() == "cannot probe /no/such/file:0x0: there is no such file");
                return true;
            });
    place.path = self();
    place.offset = std::uint64_t{1} << 40;
    BOOST_CHECK_THROW(attach_uprobe(program.get(), place, by(HookWay::newest)), Error);
    BOOST_TEST(our_events() == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
