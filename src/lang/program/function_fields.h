#pragma once

#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/program/program.h"

namespace gpufs {

inline constexpr std::string_view kResultField = "retval";

// The arguments or the result of a probed function as event fields: arg0 to arg5 (u64) at entry,
// retval (s64) at return, each at its offset in struct pt_regs (x86-64 and arm64, C calling
// convention). They are whole registers: the upper half of an int is undefined. Empty for kinds
// other than kprobe, kretprobe, uprobe and uretprobe, and on other architectures.
std::vector<Field> function_fields(ProbeTarget::Kind kind);

// The registers that a program of a text can read by name there: function_fields(), `ip` and `sp`
// (u64), which static probes (usdt) have, too. arm64 has arg6 and arg7, too, and `lr`, the return
// address at entry. No fields for other kinds.
const EventFormat& function_registers(ProbeTarget::Kind kind);

}  // namespace gpufs
