#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/printable.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// A SyscallRecord as a line of strace(1):
//
//   openat(AT_FDCWD, "/etc/passwd", 0x80000, 0) = 3
//   exit_group(0) = ?
//
// Texts that were cut end with "...", those that are not known are addresses.
void append_syscall_line(std::string& out, std::span<const std::byte> record, Controls controls);
// {"name":"openat","arguments":[-100,"/etc/passwd",524288,0],"result":-2,"error":"ENOENT"}
void append_syscall_json(std::string& out, std::span<const std::byte> record, LargeNumbers large);

}  // namespace gpufs
