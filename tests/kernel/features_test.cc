#define BOOST_TEST_DYN_LINK
#include "kernel/features.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/support.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_features)

// Mainline's versions are the least a feature can be expected from.
BOOST_AUTO_TEST_CASE(a_kernel_has_what_its_version_has) {
    struct Since {
        BpfFeature feature;
        KernelVersion version;
    };
    constexpr Since kSince[] = {
        {BpfFeature::bpf, {4, 17, 0}},
        {BpfFeature::subprograms, {4, 16, 0}},
        {BpfFeature::jmp32, {5, 1, 0}},
        {BpfFeature::large_programs, {5, 2, 0}},
        {BpfFeature::global_data, {5, 2, 0}},
        {BpfFeature::bounded_loops, {5, 3, 0}},
        {BpfFeature::mmapable, {5, 5, 0}},
        {BpfFeature::freeze, {5, 2, 0}},
        {BpfFeature::batch, {5, 6, 0}},
        {BpfFeature::ringbuf, {5, 8, 0}},
        {BpfFeature::test_run, {5, 10, 0}},
        {BpfFeature::atomics, {5, 12, 0}},
        {BpfFeature::perf_link, {5, 15, 0}},
        {BpfFeature::callbacks, {5, 17, 0}},
        {BpfFeature::sleepable_uprobe, {6, 0, 0}},
        {BpfFeature::isa_v4, {6, 6, 0}},
        {BpfFeature::may_goto, {6, 9, 0}},
        {BpfFeature::uprobe_multi, {6, 6, 0}},
    };
    BpfFeatures features;
    for (const Since& since : kSince) {
        const bool expected = running_kernel() >= since.version;
        const ProbeAnswer answer = features.ask(since.feature);
        BOOST_TEST_CONTEXT("feature " << static_cast<int>(since.feature) << ", errno "
                                      << answer.code)
        BOOST_TEST((answer.support == (expected ? Support::yes : Support::no)));
    }
}

BOOST_AUTO_TEST_CASE(helpers_are_known_by_program_type) {
    BpfFeatures features;
    const auto ask = [&](std::uint32_t type, unsigned helper) {
        return features.ask_helper(type, helper).support;
    };
    constexpr auto yes = Support::yes, no = Support::no;
    BOOST_TEST((ask(BPF_PROG_TYPE_KPROBE, BPF_FUNC_map_lookup_elem) == yes));
    BOOST_TEST((ask(BPF_PROG_TYPE_KPROBE, BPF_FUNC_ktime_get_ns) == yes));
    BOOST_TEST((ask(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_stackid) == yes));
    BOOST_TEST((ask(BPF_PROG_TYPE_SOCKET_FILTER, BPF_FUNC_get_stackid) == no));
    BOOST_TEST((ask(BPF_PROG_TYPE_XDP, BPF_FUNC_xdp_adjust_head) == yes));
    BOOST_TEST((ask(BPF_PROG_TYPE_KPROBE, BPF_FUNC_xdp_adjust_head) == no));
    BOOST_TEST((ask(BPF_PROG_TYPE_KPROBE, 9999) == no));
    const bool has_rings = features.has(BpfFeature::ringbuf);
    BOOST_TEST((ask(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_ringbuf_output) == (has_rings ? yes : no)));
}

BOOST_AUTO_TEST_CASE(program_and_map_types_are_asked_for) {
    BpfFeatures features;
    for (const std::uint32_t type : {BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACEPOINT,
                                     BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_PERF_EVENT})
        BOOST_TEST((features.ask_program_type(type).support == Support::yes));
    BOOST_TEST((features.ask_program_type(999).support != Support::yes));
    for (const std::uint32_t type :
         {BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_ARRAY,
          BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_STACK_TRACE, BPF_MAP_TYPE_PERF_EVENT_ARRAY})
        BOOST_TEST((features.ask_map_type(type).support == Support::yes));
    BOOST_TEST((features.ask_map_type(999).support != Support::yes));
}

BOOST_AUTO_TEST_CASE(every_feature_has_a_name_and_is_found_by_it) {
    for (const BpfFeatureName& name : bpf_feature_names())
        BOOST_TEST((find_bpf_feature(name.name) == name.feature));
    BOOST_TEST(!find_bpf_feature("no such").has_value());
}

// What this process holds of BPF: "3 anon_inode:bpf-map".
std::vector<std::string> bpf_descriptors() {
    std::vector<std::string> found;
    for (const std::string& fd : list_directory("/proc/self/fd")) {
        char target[64] = "";
        if (::readlink(cat("/proc/self/fd/", fd).c_str(), target, sizeof target - 1) > 0 &&
            std::string_view(target).starts_with("anon_inode:bpf"))
            found.push_back(cat(fd, ' ', target));
    }
    return found;
}

BOOST_AUTO_TEST_CASE(asking_leaves_nothing_loaded) {
    const auto before = bpf_descriptors();
    BpfFeatures features;
    for (const BpfFeatureName& name : bpf_feature_names()) features.ask(name.feature);
    // Only descriptors could hold anything, and there are no new ones.
    BOOST_TEST(bpf_descriptors() == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
