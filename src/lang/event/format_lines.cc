#include "lang/event/format_lines.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// A record fits into a sub-buffer of the ring, which is 64 KB at most.
constexpr std::size_t kMostBytes = std::size_t{64} << 10;

void skip_blanks(Scan& line) {
    line.take_all([](char c) { return c == ' '; });
}

bool is_name(std::string_view word) {
    return !word.empty() && !is_digit(word[0]);
}

// Parses a declaration: words and stars, the last word being the field's name: "const char *const *
// argv", "u32 words[4]", "__data_loc char[] name", "__data_loc cpumask_t cpus", "char buf[]".
// Returns the number of array elements, 0 where the kernel does not state it; absent when the text
// is not a declaration.
std::optional<std::size_t> elements_declared(std::string_view declaration) {
    Scan line(declaration);
    int words = 0;
    bool is_word_last = false, has_place = false;
    for (;;) {
        skip_blanks(line);
        if (line.take("*")) {
            if (words == 0) return std::nullopt;
            is_word_last = false;
            continue;
        }
        const std::string_view word = line.take_all(is_word_char);
        if (word.empty()) break;
        if (!is_name(word)) return std::nullopt;
        if (++words == 1) has_place = word == "__data_loc" || word == "__rel_loc";
        is_word_last = true;
        if (has_place && line.take("[] ")) {
            const bool has_name =
                is_name(line.take_all(is_word_char)) && line.at_end() && words > 1;
            return has_name ? std::optional<std::size_t>(0) : std::nullopt;
        }
    }
    if (words < (has_place ? 3 : 2) || !is_word_last) return std::nullopt;
    if (line.at_end()) return 1;
    if (!line.take("[")) return std::nullopt;
    const auto length = line.take_until(']');
    if (!length || !line.at_end()) return std::nullopt;
    Scan number(*length);
    if (const auto elements = number.take_number<std::size_t>(); elements && number.at_end())
        return elements;
    // The length may be an expression of macro names, which the kernel leaves unresolved.
    const bool is_plain = std::ranges::all_of(*length, [](char c) {
        return is_word_char(c) || c == ' ' || c == '+' || c == '-' || c == '*' || c == '/' ||
               c == '(' || c == ')';
    });
    return is_plain ? std::optional<std::size_t>(0) : std::nullopt;
}

bool is_field(std::string_view text) {
    Scan line(text);
    if (!line.take("\tfield:")) return false;
    const auto declaration = line.take_until(';');
    if (!declaration || !line.take("\toffset:")) return false;
    const auto offset = line.take_number<std::size_t>();
    if (!offset || !line.take(";\tsize:")) return false;
    const auto size = line.take_number<std::size_t>();
    if (!size || !line.take(";\tsigned:")) return false;
    if (!(line.take("0;") || line.take("1;")) || !line.at_end()) return false;
    if (*offset > kMostBytes || *size > kMostBytes - *offset) return false;
    const auto elements = elements_declared(*declaration);
    return elements && (*elements == 0 || *size % *elements == 0);
}

bool is_header(std::size_t line, std::string_view text) {
    Scan reader(text);
    // "9p_client_req" begins with a digit.
    if (line == 1)
        return reader.take("name: ") && !reader.take_all(is_word_char).empty() && reader.at_end();
    if (line == 2) {
        if (!reader.take("ID: ")) return false;
        const auto id = reader.take_number<std::size_t>();
        return id && *id <= UINT16_MAX && reader.at_end();
    }
    return text == "format:";
}

}  // namespace

void check_format_lines(std::string_view system, std::string_view text) {
    constexpr std::size_t kHeaderLines = 3;
    // The common fields end with an empty line, and so do the event's own.
    constexpr int kEnds = 2;
    std::size_t number = 0, fields = 0;
    int ends = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        bool is_good = false;
        if (number <= kHeaderLines)
            is_good = is_header(number, line);
        else if (line.empty())
            is_good = fields > 0 && ++ends <= kEnds;
        else
            is_good = ++fields > 0 && ends < kEnds && is_field(line);
        if (is_good) continue;
        throw Error(cat("cannot read the format of an event in '", system, "': line ", number,
                        " is damaged"),
                    "", std::string(line));
    }
    if (ends < kEnds)
        throw Error(cat("cannot read the format of an event in '", system, "': it ends too early"));
}

}  // namespace gpufs
