#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// A text as XML has it, between tags or as the value of an attribute. What XML cannot hold, control
// characters and bytes that are not UTF-8, is escaped as everywhere (base/printable.h).
std::string xml_text(std::string_view text);

// A place or a length in a picture: "12", "12.3".
std::string pixels(double number);
// "1,234,567"
std::string grouped(std::uint64_t number);
// How much `part` is of `whole`: "12.34%"; of nothing, "0.00%".
std::string percent_text(std::uint64_t part, std::uint64_t whole);

// The text of a file of this folder that was compiled in: "flame.css".
std::string picture_part(std::string_view name);

// How many characters a text has, and its first ones.
std::size_t count_characters(std::string_view text);
std::string_view first_characters(std::string_view text, std::size_t count);

// An SVG picture of its own: the first tag, with its style and its script, names of files of this
// folder; then `body`. `kind`: the class of the root, for the style. Nothing in it refers to
// anything outside of the file.
struct SvgFile {
    std::string_view kind, style, script;
    std::string title;
    double width = 0, height = 0;
};
std::string svg_text(const SvgFile& file, std::string_view attributes, std::string_view body);

}  // namespace gpufs
