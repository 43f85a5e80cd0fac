#pragma once

#include <cstddef>
#include <cstdint>

// Numbers of the kernel's interface that several folders need, and their names there.
namespace gpufs {

inline constexpr std::size_t kCommBytes = 16;       // TASK_COMM_LEN: a task's name with its NUL
inline constexpr std::size_t kBpfStackBytes = 512;  // MAX_BPF_STACK, of each function's frame
inline constexpr std::size_t kBpfCallFrames = 8;    // MAX_CALL_FRAMES, the main function's included
inline constexpr std::size_t kStackTraceFrames = 127;   // PERF_MAX_STACK_DEPTH
inline constexpr std::size_t kMaxCpus = 8192;           // the largest NR_CPUS of any architecture
inline constexpr std::uint64_t kCloneThread = 0x10000;  // CLONE_THREAD: of the same process

inline constexpr std::uint64_t kPerfFormatLost = 1 << 4;  // PERF_FORMAT_LOST: Linux 6.0

// common_flags of a record (enum trace_flag_type).
inline constexpr unsigned kTraceIrqsOff = 0x01;
inline constexpr unsigned kTraceReschedLazy = 0x02;  // Linux 6.13; before: "irqs not supported"
inline constexpr unsigned kTraceNeedResched = 0x04;
inline constexpr unsigned kTraceHardirq = 0x08;
inline constexpr unsigned kTraceSoftirq = 0x10;
inline constexpr unsigned kTracePreemptResched = 0x20;
inline constexpr unsigned kTraceNmi = 0x40;
inline constexpr unsigned kTraceBhOff = 0x80;

}  // namespace gpufs
