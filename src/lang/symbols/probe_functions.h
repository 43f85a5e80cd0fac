#pragma once

#include <string_view>

namespace gpufs {

// Whether a function of the kernel runs only because something is probed there: it leads from the
// probed place to the program or the tracer that takes a stack, as bpf_trace_run4 and
// trace_event_raw_event_sched_switch do. Such frames are on top of stacks; what is below them was
// there without the probe.
bool is_probe_function(std::string_view function);

}  // namespace gpufs
