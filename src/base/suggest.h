#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The number of insertions, deletions, substitutions and swaps of adjacent letters between two
// words.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most similar to `word`, else the only one that begins with it or has
// other words in front of it; empty when none is
// close enough to be a typo.
std::string closest(std::string_view word, std::span<const std::string> candidates);

// "did you mean 'pid'?", or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace gpufs
