#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpufs {

// A line of /proc/PID/maps.
struct ProcMap {
    std::uint64_t start = 0, end = 0;
    std::uint64_t offset = 0;       // in the file
    unsigned major = 0, minor = 0;  // of the device the file is on
    std::uint64_t inode = 0;
    bool is_executable = false;
    // As the reader sees it, below a root of another's too; from the top of the process's mounts
    // where the reader has none of them. " (deleted)" is behind it where it is; "[vdso]"; empty:
    // memory without a name. The kernel writes a newline in it as "\012".
    std::string_view path;
};

// "7fde004cf000-7fde00625000 r-xp 00026000 fe:00 332835   /usr/lib/libc.so.6". Absent when it is
// none.
std::optional<ProcMap> parse_proc_map(std::string_view line);

// The path of a map without the " (deleted)" that may be behind it.
std::string_view without_deleted(std::string_view path);

}  // namespace gpufs
