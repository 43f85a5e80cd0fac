#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpufs {

// Whether a function of the kernel runs only because something is probed there: it leads from the
// probed place to the program or the tracer that takes a stack, as bpf_trace_run4 and
// trace_event_raw_event_sched_switch do. Such frames are on top of stacks; what is below them was
// there without the probe.
bool is_probe_function(std::string_view function);

// Drops what a kernel stack begins with of such frames. name_of(address): a frame's function.
template <class NameOf>
void drop_probe_frames(std::vector<std::uint64_t>& stack, NameOf&& name_of) {
    const auto is_probe = [&](std::uint64_t address) {
        return is_probe_function(name_of(address));
    };
    stack.erase(stack.begin(), std::ranges::find_if_not(stack, is_probe));
}

}  // namespace gpufs
