#pragma once

#include <vector>

#include "lang/event/event_format.h"
#include "lang/program/program.h"

namespace gpufs {

// What a program at a function sees, as the fields of an event's format: at its begin arg0 to arg5,
// u64, at its return retval, s64, each at its offset in struct pt_regs (x86-64 and arm64, calling
// convention of C). Whole registers: an int in one has no sign above its 32 bits. No fields for
// other kinds than kprobe, kretprobe, uprobe and uretprobe, and for other architectures.
std::vector<Field> function_fields(ProbeTarget::Kind kind);

}  // namespace gpufs
