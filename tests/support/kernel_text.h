#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/trace/live_trace.h"
#include "support/trace_instance.h"
#include "view/trace/kernel_text.h"

namespace gpufs::test {

// What decodes an instance's records, with the task names that the kernel has right now.
std::unique_ptr<LiveTrace> context_of(const TraceInstance& instance);

// The `trace` file without its header. A task's name can change between two looks at it, in other
// buffers than ours: `between` is done while the text stays the same.
std::string kernel_text(const TraceInstance& instance, const std::function<void()>& between);

// All records of a source as text.
template <class Source>
std::string as_text(Source& source, TraceContext& context) {
    KernelText view(context);
    std::string out;
    while (const TraceRecord* record = source.next()) view.print(*record, out);
    return out;
}

// Compares what the kernel printed and what we print, line by line; the first differences are
// reported as errors. Returns the events seen, by name, with their number.
std::map<std::string, int> compare(const std::string& kernel, const std::string& ours);
// The same for what an instance recorded, read through a mapping where the kernel has it.
std::map<std::string, int> compare_recorded(const TraceInstance& instance);

int seen_of(const std::map<std::string, int>& seen, const std::string& event);

}  // namespace gpufs::test
