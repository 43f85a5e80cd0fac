// The monitors of GPUs on the events of every generation: captured formats, judged by the verifier
// of the running kernel.

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "engine/monitor/monitor.h"
#include "kernel/tracefs/tracefs.h"
#include "support/assemble_text.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

struct Generation {
    std::string monitor, tree;
    std::vector<std::string> events;  // what its programs are on, in their order
    std::vector<std::string> cautions;
};
std::ostream& operator<<(std::ostream& out, const Generation& one) {
    return out << one.monitor << " on " << one.tree;
}

const std::vector<std::string> kDrm = {
    "gpu_scheduler:drm_sched_job", "gpu_scheduler:drm_sched_job_wait_dep",
    "gpu_scheduler:drm_run_job", "gpu_scheduler:drm_run_job", "dma_fence:dma_fence_signaled"};
const std::vector<std::string> kFence = {"dma_fence:dma_fence_wait_start",
                                         "dma_fence:dma_fence_wait_end", "dma_fence:dma_fence_init",
                                         "dma_fence:dma_fence_signaled"};
const std::vector<std::string> kVblank = {"drm:drm_vblank_event", "drm:drm_vblank_event_queued",
                                          "drm:drm_vblank_event_delivered"};
const std::vector<Generation> kGenerations = {
    {"drm", "6.1", kDrm, {}},
    {"drm", "6.12", kDrm, {}},
    {"drm",
     "6.17-gpu",
     {"gpu_scheduler:drm_sched_job_queue", "gpu_scheduler:drm_sched_job_unschedulable",
      "gpu_scheduler:drm_sched_job_run", "gpu_scheduler:drm_sched_job_run",
      "gpu_scheduler:drm_sched_job_done"},
     {}},
    {"drm",
     "6.18",
     {"dma_fence:dma_fence_init", "dma_fence:dma_fence_signaled", "dma_fence:dma_fence_signaled",
      "dma_fence:dma_fence_signaled"},
     {"no events of the GPU scheduler here (is its driver loaded?): its fences are told"}},
    {"fence", "6.1", kFence, {}},
    {"fence", "6.12", kFence, {}},
    {"fence", "6.18", kFence, {}},
    {"vblank", "6.1", kVblank, {}},
    {"vblank", "6.12", kVblank, {}},
};

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(gpu_monitors)

BOOST_DATA_TEST_CASE(each_generation_of_events_is_taken, ut::data::make(kGenerations), one) {
    KernelFacts machine(Tracefs(cat("tests/data/formats/", one.tree)));
    const Program program = assemble_file(cat(kBpfFolder, "/", one.monitor, ".bpf"));
    const Monitor loaded(program, {}, machine);
    BOOST_TEST(loaded.cautions() == one.cautions, boost::test_tools::per_element());
    std::vector<std::string> events;
    LibraryFiles libraries;
    for (const ProbeSite& site : find_probe_sites(program, machine, libraries).sites)
        if (site.event) events.push_back(site.event->full_name());
    BOOST_TEST(events == one.events, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
