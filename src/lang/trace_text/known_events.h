#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"

namespace gpufs {

// An event as some kernel has it; a name alone does not tell which.
struct KnownEvent {
    EventFormat format;
    std::vector<std::string> templates;  // other forms of its text than the print fmt's
};

// What events of this name ("sched_switch") may be: those that monitors read, of all kernels that
// differ in their text.
std::vector<KnownEvent> known_events(std::string_view name);

// The forms that trace-cmd prints instead of the kernel's, of an event of any kernel.
std::vector<std::string> text_templates(std::string_view full_name);

// The system that an event of this name belongs to, where its name tells: "amdgpu" of
// "amdgpu_cs_ioctl"; else "text".
std::string_view guessed_system(std::string_view name);

}  // namespace gpufs
