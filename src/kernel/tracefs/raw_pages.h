#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/fd.h"

namespace gpufs {

// A CPU's trace_pipe_raw: its buffer as binary sub-buffers ("pages"). What is taken is gone from
// the buffer.

// `cpu_directory` is per_cpu/cpuN of a tracefs directory. The descriptor does not block, and
// becomes readable when the buffer is filled to buffer_percent. Throws SysError.
Fd open_raw_pages(const std::string& cpu_directory);

// Takes one page: a complete one, or what is there of the one being written. Returns its bytes; 0
// when the buffer is empty. Throws SysError.
std::size_t read_raw_page(int raw, std::span<std::byte> page);

// Moves complete pages into a pipe, up to `most` bytes. Returns the bytes moved; 0 when the buffer
// has no complete page. Throws SysError.
std::size_t splice_raw_pages(int raw, int pipe, std::size_t most);

}  // namespace gpufs
