#include "engine/stall/user_stacks.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/monitor/unwind_choice.h"
#include "engine/symbols/linked_files.h"

namespace gpufs {
namespace {

// Stacks that nobody refers to any more make room for others so often.
constexpr std::uint64_t kReleaseNs = 5'000'000'000;

}  // namespace

StallUserStacks::StallUserStacks(KernelFacts& machine) : kernel_(unwind_kernel(machine)) {
    // Without these callbacks tables take seconds to load.
    if (!kernel_ || !kernel_->has_callbacks) return;
    try {
        unwinder_ = std::make_unique<UserUnwinder>();
    } catch (const Error&) {  // no room or no right: frame pointers need neither
    }
}

std::map<std::string, int> StallUserStacks::prepare(Program& program) const {
    if (!unwinder_) return {};
    unwind_user_stacks(program, *kernel_);
    return unwinder_->descriptors();
}

void StallUserStacks::attach(const RunningProgram& running) {
    stacks_.emplace(running);
    try {
        symbols_.watch([this](const SideBandRecord& record) {
            if (unwinder_) unwinder_->take(record, symbols_.processes());
        });
    } catch (const Error&) {  // then tasks that are gone have no names
    }
}

std::vector<int> StallUserStacks::fds() const {
    std::vector<int> all = symbols_.fds();
    if (unwinder_) all.push_back(unwinder_->fd());
    return all;
}

void StallUserStacks::work() {
    symbols_.drain();
    if (unwinder_) unwinder_->work(symbols_, [] { return false; });
    const std::uint64_t now = monotonic_ns();
    if (now < next_release_ns_) return;
    next_release_ns_ = now + kReleaseNs;
    stacks_->release({});
}

void StallUserStacks::expect(const std::string& program) {
    if (!unwinder_) return;
    for (const std::string& file : linked_files(program)) unwinder_->know_file(file, symbols_);
}

void StallUserStacks::know(std::uint32_t pid) {
    symbols_.remember(pid);
    if (unwinder_) unwinder_->know(pid, symbols_);
}

std::vector<Frame> StallUserStacks::frames(std::uint32_t tid, std::int32_t number,
                                           std::uint64_t time_ns) {
    std::vector<Frame> all;
    if (number < 0) return all;
    for (const std::uint64_t address : stacks_->frames("stacks", number)) {
        const FramePlace place = all.empty() ? FramePlace::innermost : FramePlace::outer;
        all.push_back(symbols_.user(tid, address, place, time_ns));
        if (!all.back().name.empty()) all.back().offset = 0;
    }
    return all;
}

}  // namespace gpufs
