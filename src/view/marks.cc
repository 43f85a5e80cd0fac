#include "view/marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/cat.h"

namespace gpufs {
namespace {

constexpr std::size_t kEighths = 8;
constexpr std::array<std::string_view, kEighths> kParts = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array<std::string_view, kEighths> kHeights = {"▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kEighths> kAsciiHeights = {".", ":", "-", "=",
                                                                  "+", "*", "#", "@"};
constexpr std::array<std::string_view, 4> kShades = {"░", "▒", "▓", "█"};

// Numbers of xterm's 256 colours, from dark violet over green to yellow: they differ in brightness
// too, for those who cannot tell them apart.
constexpr std::array<int, kEighths> kColours = {53, 60, 31, 37, 36, 71, 149, 226};
constexpr int kBarColour = 37;

std::string coloured(int colour, std::string_view text) {
    return cat("\x1b[38;5;", colour, 'm', text, "\x1b[0m");
}

std::string repeated(std::string_view mark, std::size_t times) {
    std::string text;
    while (times-- > 0) text += mark;
    return text;
}

}  // namespace

void append_bar(std::string& out, double share, std::size_t columns, Plot plot) {
    const double length = share * static_cast<double>(columns);
    if (plot == Plot::none || plot == Plot::ascii) {
        const auto whole = static_cast<std::size_t>(length);
        out.append(whole, '@').append(columns - whole, ' ');
        return;
    }
    // What came at all is seen.
    auto eighths = static_cast<std::size_t>(length * static_cast<double>(kEighths));
    if (share > 0) eighths = std::max<std::size_t>(1, eighths);
    std::string bar = repeated("█", eighths / kEighths);
    if (eighths % kEighths != 0) bar += kParts[eighths % kEighths];
    const std::size_t used = (eighths + kEighths - 1) / kEighths;
    out += plot == Plot::colours && used != 0 ? coloured(kBarColour, bar) : bar;
    out.append(columns - used, ' ');
}

std::string sparkline(std::span<const double> values, Plot plot) {
    const bool is_ascii = plot == Plot::none || plot == Plot::ascii;
    const double most = values.empty() ? 0 : *std::ranges::max_element(values);
    std::string text;
    for (const double value : values) {
        if (!(value > 0)) {
            text += ' ';
            continue;
        }
        const auto height =
            static_cast<std::size_t>(std::ceil(value / most * static_cast<double>(kEighths))) - 1;
        text += (is_ascii ? kAsciiHeights : kHeights)[std::min(height, kEighths - 1)];
    }
    return text;
}

std::size_t heat_levels(Plot plot) {
    return plot == Plot::blocks ? kShades.size() : kEighths;
}

void append_cells(std::string& out, std::size_t level, std::size_t columns, Plot plot) {
    if (level == 0)
        out.append(columns, ' ');
    else if (plot == Plot::blocks)
        out += repeated(kShades[level - 1], columns);
    else if (plot == Plot::colours)
        out += coloured(kColours[level - 1], repeated("█", columns));
    else
        out += repeated(kAsciiHeights[level - 1], columns);
}

}  // namespace gpufs
