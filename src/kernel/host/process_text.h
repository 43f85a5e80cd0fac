#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gpufs {

// A text in a process's memory, without its NUL.
struct ProcessText {
    std::string text;
    bool is_cut = false;  // it goes on
};

// Reads at most so many bytes of it. Absent where it is not in memory to its end, and where we may
// not read. Fetches no page, and so waits for no disk or server.
std::optional<ProcessText> read_process_text(int tid, std::uint64_t address, std::size_t most);

}  // namespace gpufs
