#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The number of insertions, deletions, substitutions and swaps of neighbours between two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most like `word`, or empty when none is close enough to be a slip of the pen.
std::string closest(std::string_view word, std::span<const std::string> candidates);

// "did you mean 'pid'?", or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace gpufs
