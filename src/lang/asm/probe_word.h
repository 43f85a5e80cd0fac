#pragma once

#include <cstddef>

#include "base/source.h"
#include "lang/program/program.h"

namespace gpufs {

// Parses a word of the command line: KIND:TARGET with the kinds and targets of gpufs-asm(5), as in
// "kprobe:vfs_read", "uprobe:/bin/bash:readline", "profile:99hz"; "sched:sched_switch" is a
// tracepoint. `source_index`: the text's index in Program::sources. Throws SourceError.
ProbeTarget parse_probe_word(const SourceText& source, std::size_t source_index, Span word);

}  // namespace gpufs
