#pragma once

#include <string_view>

#include "kernel/perf/attach.h"
#include "kernel/perf/dynamic_event.h"

namespace gpufs {

// Builds an Attachment. If a later step throws, everything made so far is undone.
class AttachmentMaker {
public:
    explicit AttachmentMaker(std::string_view how) { made_.how_ = how; }

    // Closing it waits for no grace period.
    void set_quick_to_close() { made_.waits_ = false; }
    void add_link(Fd link) { made_.links_.push_back(std::move(link)); }
    // Takes ownership; the reference is valid until finish().
    const DynamicEvent& own(DynamicEvent event) {
        made_.dynamic_event_ = std::make_unique<DynamicEvent>(std::move(event));
        return *made_.dynamic_event_;
    }
    // Attaches the program to the event and enables it. `what` completes "cannot ..." in errors.
    void hook(Fd event, int program, const AttachOptions& options, std::string_view what);
    Attachment finish() { return std::move(made_); }

private:
    bool hook_by_link(const Fd& event, int program, const AttachOptions& options,
                      std::string_view what);

    Attachment made_;
    bool named_hook_ = false;
};

}  // namespace gpufs
