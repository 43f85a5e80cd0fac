#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The functions that a JIT compiler made in a process, as it lists them in /tmp/perf-PID.map: lines
// of "START SIZE NAME", in hexadecimal, which it adds as it goes.
class PerfMap {
public:
    PerfMap() = default;
    // Lines that are none are left out.
    explicit PerfMap(std::string text);

    struct Function {
        std::string_view name;  // borrowed
        std::uint64_t past = 0;
    };
    // The function made last for an address: code is thrown away and its place used again.
    std::optional<Function> find(std::uint64_t address) const;

private:
    struct Entry {
        std::uint64_t start;
        std::uint32_t size;
        std::uint32_t name, name_bytes;  // in text_
    };
    std::string text_;
    std::vector<Entry> entries_;  // by start, those of one start in the file's order
};

// Of a process now, or of one that left the file behind: below the process's root, under its number
// in its own pid namespace. Anybody may have put something there: only a regular file is taken, and
// of that the first 128 MB. Absent where there is none, and where there are `known_bytes` as
// before.
std::optional<std::string> read_perf_map(std::uint32_t pid, std::size_t known_bytes);

}  // namespace gpufs
