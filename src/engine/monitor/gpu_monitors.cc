#include "engine/monitor/gpu_monitors.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/prepared_program.h"
#include "engine/monitor/replay.h"
#include "engine/places/monitor_files.h"
#include "lang/event/gpu_systems.h"

namespace gpufs {
namespace {

// Probes what gives GPUs work from a process, not what drivers do.
bool is_about_library(const Program& program) {
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets)
            for (const ProbeTarget& target : alternatives)
                if (is_gpu_library(target.name)) return true;
    return false;
}

bool is_about_gpus(const Program& program) {
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets)
            for (const ProbeTarget& target : alternatives)
                if (target.kind == ProbeTarget::Kind::tracepoint && is_gpu_event(target.name))
                    return true;
    return is_about_library(program);
}

// The first thing that is missing, without its place in the monitor's text.
std::string reason(const Error& e) {
    constexpr std::string_view kBefore = ": error: ";
    const std::string_view line = lines_of(e.what()).front();
    const auto at = line.find(kBefore);
    return std::string(at == line.npos ? line : line.substr(at + kBefore.size()));
}

void find_what_lacks(GpuMonitor& monitor, KernelFacts& kernel) try {
    const PreparedProgram prepared(monitor.program, {}, kernel);
    // A recording may have what it looks at beside the driver's events: interrupts, system calls,
    // fences of other drivers.
    const std::string_view driver = monitor.driver();
    const auto is_of_gpu = [driver](const PreparedProgram::Site& made) {
        if (!made.site.event) return false;
        const EventFormat& event = *made.site.event;
        return driver.empty() ? is_gpu_event(event.full_name()) : event.system == driver;
    };
    if (kernel.is_recording() && std::ranges::none_of(prepared.sites(), is_of_gpu))
        monitor.why_not =
            cat("this recording has no event of a GPU that '", monitor.program.name, "' looks at");
} catch (const UnsupportedError& e) {
    monitor.why_not = reason(e);
    monitor.hint = e.hint();
} catch (const UsageError& e) {  // an event that is not there, under the monitor's text
    monitor.why_not = reason(e);
    monitor.hint = e.hint().empty() ? kLoadDriver : e.hint();
}

template <class Try>
void try_each(std::vector<GpuMonitor>& monitors, Try&& attempt) {
    for (GpuMonitor& one : monitors) {
        if (!one.fits()) continue;
        try {
            attempt(one.program);
        } catch (const Error& e) {
            one.why_not = reason(e);
            one.hint = e.hint();
            one.is_refused = true;
        }
    }
}

}  // namespace

std::string_view GpuMonitor::driver() const {
    if (is_gpu_driver(program.name)) return program.name;
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets)
            for (const ProbeTarget& target : alternatives) {
                const std::string_view event = target.name;
                const std::string_view system = event.substr(0, event.find(':'));
                if (target.kind == ProbeTarget::Kind::tracepoint && is_gpu_driver(system))
                    return system;
            }
    return {};
}

bool GpuMonitor::needs_library() const {
    return is_about_library(program);
}

std::vector<GpuMonitor> find_gpu_monitors(KernelFacts& kernel) {
    std::vector<GpuMonitor> found;
    for (const std::string& name : list_monitors()) {
        GpuMonitor one;
        try {
            if (!is_about_gpus(assemble_monitor(name, AsmScope::outline))) continue;
            one.program = assemble_monitor(name);
        } catch (const UsageError&) {
            continue;  // 'gpufs run' says what is wrong with it
        }
        find_what_lacks(one, kernel);
        found.push_back(std::move(one));
    }
    return found;
}

void try_gpu_monitors(std::vector<GpuMonitor>& monitors, KernelFacts& kernel) {
    try_each(monitors, [&](const Program& program) {
        Monitor monitor(program, {}, kernel);
        monitor.attach();
        monitor.detach();
    });
}

void try_gpu_monitors(std::vector<GpuMonitor>& monitors, TraceFile& recording) {
    try_each(monitors, [&](const Program& program) { Replay(program, {}, recording); });
}

}  // namespace gpufs
