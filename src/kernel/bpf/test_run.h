#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpufs {

// One call of BPF_PROG_TEST_RUN. What a program type takes differs: a raw tracepoint (Linux 5.10)
// its arguments as `context` and neither data nor repeat; a socket filter a packet of 14 bytes or
// more as `data`; a syscall program (Linux 5.14) a context. Tracepoint, kprobe and perf event
// programs take none.
struct TestRun {
    std::span<const std::byte> data = {};
    std::span<const std::byte> context = {};
    std::uint32_t repeat = 0;
    std::optional<unsigned> cpu;     // raw tracepoints
    std::size_t data_out_bytes = 0;  // room for what comes back
    std::size_t context_out_bytes = 0;
};
struct TestRunResult {
    std::uint32_t returned = 0;
    std::uint32_t duration_ns = 0;  // of one run, on average
    std::vector<std::byte> data, context;
};

// Runs a loaded program once, or `repeat` times. Throws UnsupportedError where its type cannot be
// run so, SysError otherwise.
TestRunResult test_run(int program, const TestRun& run);

}  // namespace gpufs
