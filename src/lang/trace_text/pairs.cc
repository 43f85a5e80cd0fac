#include "lang/trace_text/pairs.h"

#include <charconv>

#include "base/scan.h"

namespace gpufs {
namespace {

// Where the next "name=" begins at or behind `from`, and how long the name is.
struct Name {
    std::size_t at = 0, length = 0;
};
std::optional<Name> next_name(std::string_view text, std::size_t from) {
    for (std::size_t sign = text.find('=', from); sign != text.npos;
         sign = text.find('=', sign + 1)) {
        std::size_t begin = sign;
        while (begin > from && is_word_char(text[begin - 1])) --begin;
        const bool is_alone =
            begin == 0 || std::string_view(" ,([{").find(text[begin - 1]) != std::string_view::npos;
        const bool is_comparison =
            sign + 1 < text.size() && (text[sign + 1] == '=' || text[sign + 1] == '>');
        if (begin < sign && is_word_start(text[begin]) && is_alone && !is_comparison)
            return Name{begin, sign - begin};
    }
    return std::nullopt;
}

std::string_view without_ends(std::string_view value) {
    while (!value.empty() &&
           std::string_view(" ,)]}([{;").find(value.back()) != std::string_view::npos)
        value.remove_suffix(1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
}

}  // namespace

void for_each_pair(std::string_view text,
                   const std::function<void(std::string_view, std::string_view)>& take) {
    std::optional<Name> name = next_name(text, 0);
    while (name) {
        const std::size_t begin = name->at + name->length + 1;
        const std::optional<Name> next = next_name(text, begin);
        const std::size_t end = next ? next->at : text.size();
        take(text.substr(name->at, name->length), without_ends(text.substr(begin, end - begin)));
        name = next;
    }
}

std::optional<TextNumber> number_of(std::string_view value) {
    TextNumber number;
    value = value.substr(0, value.find_first_of(" ,;)]}"));
    if (value.starts_with('-')) {
        number.is_negative = true;
        value.remove_prefix(1);
    }
    number.is_hex = value.starts_with("0x") && !number.is_negative;
    if (number.is_hex) value.remove_prefix(2);
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(),
                                               number.magnitude, number.is_hex ? 16 : 10);
    if (failed != std::errc() || end != value.data() + value.size()) return std::nullopt;
    if (number.is_negative && number.magnitude > 1ULL << 63) return std::nullopt;
    return number;
}

}  // namespace gpufs
