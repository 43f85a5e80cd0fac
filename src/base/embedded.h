#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gpufs {

// Texts that were compiled in, one behind the other, packed by zstd: what they have in common is in
// the binary once.
struct EmbeddedTexts {
    std::string_view packed;
    std::size_t bytes = 0;  // of all texts
};

// A text file that was compiled in (src/embed.sh), so that gpufs is a single file.
struct EmbeddedFile {
    std::string_view name;  // path below its folder: "stall.trig", "lib/bits.bpf"
    const EmbeddedTexts* texts = nullptr;
    std::size_t begin = 0, bytes = 0;  // in the texts

    // Unpacks the texts the first time; one thread may ask. A third of a millisecond for the
    // monitors.
    std::string_view text() const;
};

// triggers/*.trig, bpf_asm/**.bpf, the styles and scripts of src/view/pictures, sorted by name, and
// the one file of src/lang/trace_text.
std::span<const EmbeddedFile> embedded_recipes();
std::span<const EmbeddedFile> embedded_monitors();
std::span<const EmbeddedFile> embedded_pictures();
std::span<const EmbeddedFile> embedded_text_events();

}  // namespace gpufs
