#include "engine/session/session_probes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// Older kernels have one file per kind of probe; newer ones also have one for all kinds.
constexpr std::string_view kAllKinds = "dynamic_events", kKernelKind = "kprobe_events",
                           kUserKind = "uprobe_events";

// In a program or a library; else in the kernel, whose places have no '/'.
bool is_user_place(std::string_view place) {
    return place.starts_with('/');
}

}  // namespace

std::optional<ProbeLine> parse_probe_line(std::string_view line) {
    // "p:GROUP/NAME PLACE ARGUMENTS", "r16:GROUP/NAME PLACE".
    ProbeLine probe;
    probe.text = line;
    const auto colon = line.find(':'), slash = line.find('/'), blank = line.find(' ');
    if (line.empty() || colon == line.npos || slash == line.npos || slash < colon ||
        (blank != line.npos && blank < slash))
        return std::nullopt;
    probe.letter = line[0];
    probe.group = line.substr(colon + 1, slash - colon - 1);
    probe.name = line.substr(slash + 1, blank == line.npos ? blank : blank - slash - 1);
    if (blank == line.npos) return probe;
    const auto end = line.find(' ', blank + 1);
    probe.place = line.substr(blank + 1, end == line.npos ? end : end - blank - 1);
    if (end != line.npos) probe.arguments = line.substr(end + 1);
    return probe;
}

std::vector<ProbeLine> read_probe_lines(const Tracefs& top) {
    std::vector<ProbeLine> lines;
    std::set<std::string> seen;  // the same probe is in two files
    for (const std::string_view file : {kAllKinds, kKernelKind, kUserKind}) {
        const std::string text = top.read_if_readable(file).value_or("");
        for (const std::string_view line : lines_of(text))
            if (auto probe = parse_probe_line(line); probe && seen.insert(probe->text).second)
                lines.push_back(std::move(*probe));
    }
    return lines;
}

std::vector<ProbeLine> probes_of(const Tracefs& top, std::string_view group) {
    std::vector<ProbeLine> lines = read_probe_lines(top);
    std::erase_if(lines, [&](const ProbeLine& probe) { return probe.group != group; });
    return lines;
}

std::string definition_file(const Tracefs& top, bool is_user) {
    if (top.has(kAllKinds)) return std::string(kAllKinds);
    return std::string(is_user ? kUserKind : kKernelKind);
}

void plan_remove_probes(Changes& changes, const Tracefs& top,
                        const std::vector<ProbeLine>& probes) {
    std::map<std::string, std::size_t> places;
    for (const ProbeLine& probe : probes) ++places[probe.event()];
    for (const ProbeLine& probe : probes) {
        // With its place, one of several goes; without, all of the event do (Linux 5.4).
        const bool is_one_of_several = places[probe.event()] > 1;
        changes.append(top, definition_file(top, is_user_place(probe.place)),
                       cat("-:", probe.group, '/', probe.name, is_one_of_several ? " " : "",
                           is_one_of_several ? probe.place : ""),
                       probe.text);
    }
}

void remove_probes(const Tracefs& top, const std::string& group) {
    std::set<std::string> removed;
    for (const ProbeLine& probe : probes_of(top, group))
        if (removed.insert(probe.name).second)
            top.write(definition_file(top, is_user_place(probe.place)),
                      cat("-:", probe.group, '/', probe.name, "\n"), Write::append);
}

}  // namespace gpufs
