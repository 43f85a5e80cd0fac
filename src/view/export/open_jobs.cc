#include "view/export/open_jobs.h"

namespace gpufs {
namespace {

bool is_told(const std::string& word) {
    return !word.empty() && word != "-";
}

}  // namespace

void JobFacts::take(const JobStep& step, std::uint64_t time) {
    using What = JobStep::What;
    const bool runs = step.what == What::run || step.what == What::last_run;
    // Which ring it is, some drivers tell no sooner than when it runs.
    const auto learn = [runs](std::string& known, const std::string& told) {
        if (known.empty() || (is_told(told) && (runs || !is_told(known)))) known = told;
    };
    learn(device, step.device);
    learn(ring, step.ring);
    processor = step.processor;
    if (pid == 0) pid = step.pid;
    if (comm.empty()) comm = step.comm;
    switch (step.what) {
        case What::queue:
            queued = time;
            return;
        case What::wait:
            if (!step.on.empty()) on = step.on;
            return;
        case What::run:
        case What::last_run:
            ran = time;
            return;
        case What::done:
        case What::dropped:
            done = time;
            is_dropped = step.what == What::dropped;
            return;
    }
}

}  // namespace gpufs
