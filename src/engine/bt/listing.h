#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/places/kernel_facts.h"

namespace gpufs::bt {

struct ListingRequest {
    // As an attach point is written, with the shell's * ? [...] in any part: "tracepoint:sched:*",
    // "*:vfs_read", "uprobe:libc:malloc*", "usdt:/usr/lib/libc.so.6:*". A word without a colon is a
    // provider, or what the names end with; with '*' in it, what they are like. Empty: all of the
    // kernel's. "struct task_struct", also of union and enum, and several behind commas: types,
    // with arguments their definitions.
    std::string pattern;
    bool has_arguments = false;
    // uprobe and usdt without a file: of those that this process has mapped.
    std::optional<int> pid;
};

// The probes that there are, a line each, by provider, sorted by name:
// "tracepoint:sched:sched_switch", "kprobe:vfs_read", "fentry:vmlinux:vfs_read",
// "uprobe:/bin/bash:main", "software:cpu-clock:". With arguments, these follow, a line each,
// indented by 4 blanks: "    pid_t prev_pid". Of interval, profile and watchpoint, which have no
// names, the forms: "interval:hz:". Throws UsageError for a provider that is none, and where a file
// has no symbols to read.
std::vector<std::string> list_probes(KernelFacts& facts, const ListingRequest& request);

}  // namespace gpufs::bt
