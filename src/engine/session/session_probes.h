#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session/changes.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// The dynamic probes of a session or a command: those of its group. The kernel keeps them in one
// list for all, which outlives whoever made them.

// A line of dynamic_events: "p:gpufs/open /bin/bash:0x0000000000001139 a=%di:u32". An event with
// several places has a line for each.
struct ProbeLine {
    std::string text;
    char letter = 'p';  // 'r' at a return; others are no probes in code (eprobes, synthetic)
    std::string group, name;
    std::string place;      // as the kernel writes it
    std::string arguments;  // as they were written, one blank between two

    std::string event() const { return group + ':' + name; }
};
// Absent for a line of another form.
std::optional<ProbeLine> parse_probe_line(std::string_view line);

// All of this kernel, or of a group, in the kernel's order.
std::vector<ProbeLine> read_probe_lines(const Tracefs& top);
std::vector<ProbeLine> probes_of(const Tracefs& top, std::string_view group);

// The file that defines such probes: dynamic_events where the kernel has it (Linux 5.0).
std::string definition_file(const Tracefs& top, bool is_user);

// Adds the writes that remove these probes, each with the one that sets it again.
void plan_remove_probes(Changes& changes, const Tracefs& top, const std::vector<ProbeLine>& probes);

// Removes the dynamic probes of a group. Throws SysError when one is in use.
void remove_probes(const Tracefs& top, const std::string& group);

}  // namespace gpufs
