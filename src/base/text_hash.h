#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace gpufs {

// For containers of texts, which are then looked for without making a string of what is asked:
// std::unordered_map<std::string, T, TextHash, std::equal_to<>>.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>()(text);
    }
};

}  // namespace gpufs
