#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The functions of a JIT compiler in a process, as listed in /tmp/perf-PID.map: lines of "START
// SIZE NAME" with hexadecimal numbers, appended as functions are compiled.
class JitMap {
public:
    JitMap() = default;
    // Ignores malformed lines.
    explicit JitMap(std::string text);

    struct Function {
        std::string_view name;  // points into this object
        std::uint64_t past = 0;
    };
    // The function at an address. If several have the same start, returns the last one: addresses
    // are reused after code is discarded.
    std::optional<Function> find(std::uint64_t address) const;

private:
    struct Entry {
        std::uint64_t start;
        std::uint32_t size;
        std::uint32_t name, name_bytes;  // offsets in text_
    };
    std::string text_;
    std::vector<Entry> entries_;  // by start, those of one start in the file's order
};

// The text of a running or past process's perf map: below the process's root directory, named after
// its pid in its own pid namespace. Anyone can create such a file: reads only a regular file, no
// symbolic link, that only root and `user`, whose process it is, can have written, and at most
// 128 MB of it. Absent if there is none, or if its size is still `known_bytes`.
std::optional<std::string> read_perf_map(std::uint32_t pid, std::uint32_t user,
                                         std::size_t known_bytes);

}  // namespace gpufs
