// Whole recordings, as another machine may send them.

#include "fuzz/recording.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    read_recording(text_of(bytes));
}

}  // namespace gpufs::fuzz
