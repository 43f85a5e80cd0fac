#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpufs {

// A text file that was compiled in (src/embed.sh), so that gpufs is a single file.
struct EmbeddedFile {
    std::string_view name;    // path below its folder: "stall.trig", "lib/bits.bpf"
    std::string_view packed;  // by gzip

    // Unpacks it the first time; one thread may ask. Half a millisecond for all monitors.
    const std::string& text() const;
};

// triggers/*.trig, bpf_asm/**.bpf, the styles and scripts of src/view/pictures, sorted by name, and
// the one file of src/lang/trace_text.
std::span<const EmbeddedFile> embedded_recipes();
std::span<const EmbeddedFile> embedded_monitors();
std::span<const EmbeddedFile> embedded_pictures();
std::span<const EmbeddedFile> embedded_text_events();

}  // namespace gpufs
