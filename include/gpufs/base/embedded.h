#pragma once

#include <span>
#include <string_view>

namespace gpufs {

// A text file that was compiled in (src/embed.sh), so that gpufs works as one file.
struct EmbeddedFile {
    std::string_view name;  // without its directory: "stall.trig"
    std::string_view text;
};

// triggers/*.trig, by name.
std::span<const EmbeddedFile> embedded_recipes();

}  // namespace gpufs
