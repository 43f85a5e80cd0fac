#pragma once

#include <cstddef>

#include "base/source.h"
#include "lang/program/program.h"

namespace gpufs {

// What a word of the command line names: KIND:TARGET, the kinds and targets of gpufs-asm(5), as in
// "kprobe:vfs_read", "uprobe:/bin/bash:readline", "profile:99hz"; "sched:sched_switch" is a
// tracepoint. `source_index` is where Program::sources will have the text. Throws SourceError.
ProbeTarget parse_probe_word(const SourceText& source, std::size_t source_index, Span word);

}  // namespace gpufs
