// Recordings of perf record, as another machine may send them.

#include "fuzz/recording.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    // What does not begin so is another format's.
    std::string file = text_of(bytes);
    if (!file.starts_with("PERFILE2")) file.insert(0, "PERFILE2");
    read_recording(file);
}

}  // namespace gpufs::fuzz
