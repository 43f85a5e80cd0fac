#include "engine/monitor/gpu_monitors.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/file.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {
namespace {

constexpr BpfFeature kFeatures[] = {
    BpfFeature::bpf,     BpfFeature::subprograms, BpfFeature::jmp32,    BpfFeature::global_data,
    BpfFeature::ringbuf, BpfFeature::atomics,     BpfFeature::callbacks};

const std::string kNoAmdgpu =
    "amdgpu: this kernel has no event 'amdgpu:amdgpu_cs_ioctl': 'amdgpu' cannot run here";
const std::string kNoI915 =
    "i915: this kernel has no event 'i915:i915_request_add': 'i915' cannot run here";
const std::string kNoXe =
    "xe: this kernel has no event 'xe:xe_sched_job_exec': 'xe' cannot run here";
const std::string kNoNpu = "npu: this kernel has no event 'vpu:job': 'npu' cannot run here";
const std::string kNoNvidia = "nvidia: this needs the module 'nvidia', which is not loaded";

// Name and reason of each that looks at events, as a kernel with these formats has them.
std::vector<std::string> reasons(const std::string& formats) {
    KernelFacts kernel(Tracefs("tests/data/formats/" + formats), BpfFeatures::only(kFeatures));
    std::vector<std::string> found;
    for (const GpuMonitor& one : find_gpu_monitors(kernel))
        if (!one.needs_library()) found.push_back(one.program.name + ": " + one.why_not);
    // Whether it is loaded is asked of this machine.
    if (file_exists("/sys/module/nvidia"))
        for (std::string& one : found)
            if (one.starts_with("nvidia: ")) one = kNoNvidia;
    return found;
}

BOOST_AUTO_TEST_SUITE(gpu_monitors)

BOOST_AUTO_TEST_CASE(what_the_kernel_lacks_is_found_without_loading_anything,
                     *boost::unit_test::label("long")) {
    BOOST_TEST(reasons("6.17-gpu") ==
                   (std::vector<std::string>{
                       kNoAmdgpu, "drm: ",
                       "fence: this kernel has no event 'dma_fence:dma_fence_wait_start': 'fence' "
                       "cannot run here",
                       kNoI915, kNoNpu, kNoNvidia,
                       "vblank: this kernel has no event 'drm:drm_vblank_event': 'vblank' cannot "
                       "run here",
                       kNoXe}),
               boost::test_tools::per_element());
    for (const char* captured : {"5.10", "6.1", "6.12", "7.3"}) {
        const std::vector<std::string> all = reasons(captured);
        for (const char* runs : {"amdgpu: ", "i915: "})
            BOOST_TEST(std::ranges::count(all, runs) == 1, captured << ' ' << runs);
        const bool has_xe =
            std::string_view(captured) == "6.12" || std::string_view(captured) == "7.3";
        BOOST_TEST(std::ranges::count(all, has_xe ? "xe: " : kNoXe) == 1, captured);
    }
    BOOST_TEST(reasons("6.18") == (std::vector<std::string>{
                                      kNoAmdgpu, "drm: ", "fence: ", kNoI915, kNoNpu, kNoNvidia,
                                      "vblank: this kernel has no event 'drm:drm_vblank_event': "
                                      "'vblank' cannot run here",
                                      kNoXe}),
               boost::test_tools::per_element());
}

// Whose key has the card: what one process did with two of them is not added up.
BOOST_AUTO_TEST_CASE(reports_by_process_tell_cards_apart) {
    std::size_t reports = 0;
    KernelFacts kernel(Tracefs("tests/data/formats/6.12"), BpfFeatures::only(kFeatures));
    for (const GpuMonitor& one : find_gpu_monitors(kernel)) {
        const Program& program = one.program;
        for (const Report& report : program.reports) {
            const auto goes_by = [&](const char* member) {
                return std::ranges::count(report.by, member) != 0;
            };
            if (!goes_by("pid") || !program.find_map(report.map)->key.find("dev")) continue;
            BOOST_TEST(goes_by("dev"), program.name << ": " << report.title);
            ++reports;
        }
    }
    BOOST_TEST(reports >= 9u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
