#include "bt/syntax/perf_events.h"

namespace gpufs::bt {
namespace {

constexpr PerfEventName kSoftware[] = {
    {"cpu-clock", "cpu"},      {"task-clock", ""},
    {"page-faults", "faults"}, {"context-switches", "cs"},
    {"cpu-migrations", ""},    {"minor-faults", ""},
    {"major-faults", ""},      {"alignment-faults", ""},
    {"emulation-faults", ""},  {"dummy", ""},
    {"bpf-output", ""},
};
constexpr PerfEventName kHardware[] = {
    {"cpu-cycles", "cycles"},
    {"instructions", ""},
    {"cache-references", ""},
    {"cache-misses", ""},
    {"branch-instructions", "branches"},
    {"branch-misses", ""},
    {"bus-cycles", ""},
    {"frontend-stalls", ""},
    {"backend-stalls", ""},
    {"ref-cycles", ""},
};

}  // namespace

std::span<const PerfEventName> software_events() {
    return kSoftware;
}
std::span<const PerfEventName> hardware_events() {
    return kHardware;
}

}  // namespace gpufs::bt
