// Texts of the kernel's file trace and of trace-cmd report.

#include "fuzz/recording.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    // The heading says what it is.
    read_recording("# tracer: nop\n" + text_of(bytes));
}

}  // namespace gpufs::fuzz
