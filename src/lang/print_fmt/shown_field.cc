#include "lang/print_fmt/shown_field.h"

#include <cstddef>
#include <optional>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "lang/print_fmt/c_tokens.h"

namespace gpufs {
namespace {

// How many conversions stand in front of "WORD=%"; absent: it is not there.
std::optional<std::size_t> conversions_before(std::string_view format, std::string_view word) {
    const std::string shown = cat(word, "=%");
    std::size_t at = format.find(shown);
    while (at != format.npos && at != 0 && is_word_char(format[at - 1]))
        at = format.find(shown, at + 1);
    if (at == format.npos) return std::nullopt;
    std::size_t before = 0;
    for (std::size_t i = 0; i < at; ++i) {
        if (format[i] != '%') continue;
        if (format[i + 1] == '%')
            ++i;
        else
            ++before;
    }
    return before;
}

// Behind the format: the first name of a field in the argument of this number.
std::string field_in_argument(const EventFormat& event, CTokens& tokens, std::size_t number) {
    std::size_t depth = 0, argument = 0;
    for (; !tokens.at_end(); tokens.advance()) {
        if (tokens.is("(")) ++depth;
        if (tokens.is(")") && depth > 0) --depth;
        if (tokens.is(",") && depth == 0) ++argument;
        if (argument != number + 1 || !tokens.is_word()) continue;
        if (const Field* field = event.find(tokens.peek().text)) return field->name;
    }
    return {};
}

}  // namespace

std::string field_shown_as(const EventFormat& event, std::string_view word) {
    try {
        CTokens tokens(event.print_format);
        std::string format;
        for (; tokens.peek().kind == CToken::Kind::text; tokens.advance())
            format += tokens.peek().text;
        const auto number = conversions_before(format, word);
        return number ? field_in_argument(event, tokens, *number) : std::string();
    } catch (const Error&) {
        return {};  // It is no C code.
    }
}

}  // namespace gpufs
