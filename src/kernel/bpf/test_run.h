#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpufs {

// One call of BPF_PROG_TEST_RUN. The input depends on the program type: a raw tracepoint (Linux
// 5.10) takes its arguments as `context` and neither data nor repeat; a socket filter takes a
// packet of at least 14 bytes as `data`; a syscall program (Linux 5.14) takes a context.
// Tracepoint, kprobe and perf event programs cannot be run this way.
struct TestRun {
    std::span<const std::byte> data = {};
    std::span<const std::byte> context = {};
    std::uint32_t repeat = 0;
    std::optional<unsigned> cpu;     // raw tracepoints
    std::size_t data_out_bytes = 0;  // size of the output buffer
    std::size_t context_out_bytes = 0;
};
struct TestRunResult {
    std::uint32_t returned = 0;
    std::uint32_t duration_ns = 0;  // average of one run
    std::vector<std::byte> data, context;
};

// Runs a loaded program once, or `repeat` times. Throws UnsupportedError if its type cannot be run
// this way, SysError otherwise.
TestRunResult test_run(int program, const TestRun& run);

}  // namespace gpufs
