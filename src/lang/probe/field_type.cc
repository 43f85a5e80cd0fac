#include "lang/probe/field_type.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <vector>

#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"

namespace gpufs {
namespace {

struct TypeRow {
    std::string_view word;
    std::size_t size;
    bool is_signed;
};
constexpr std::string_view kSymbol = "symbol";
// x8 to x64 print in hexadecimal.
constexpr TypeRow kTypes[] = {
    {"u8", 1, false},  {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},  {"s8", 1, true},
    {"s16", 2, true},  {"s32", 4, true},  {"s64", 8, true},  {"x8", 1, false},   {"x16", 2, false},
    {"x32", 4, false}, {"x64", 8, false}, {"char", 1, true}, {kSymbol, 8, false}};
constexpr std::string_view kTextTypes[] = {"string", "ustring", "symstr"};
constexpr std::size_t kMostElements = 64;  // MAX_ARRAY_LEN

Field text_field() {
    Field field;
    field.type = "char";
    field.size = 4;
    field.element_size = 1;
    field.place = Field::Place::data_loc;
    field.is_array = field.is_string = true;
    return field;
}

// b<width>@<offset>/<container size>, all in bits; 0 if it is none, or if the bits are not in it.
std::size_t bitfield_bytes(std::string_view word) {
    Scan scan(word);
    if (!scan.take("b")) return 0;
    const auto width = scan.take_number<std::size_t>();
    if (!width || !scan.take("@")) return 0;
    const auto offset = scan.take_number<std::size_t>();
    if (!offset || !scan.take("/")) return 0;
    const auto bits = scan.take_number<std::size_t>();
    const bool is_size = bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64);
    if (!scan.at_end() || !is_size || *width == 0 || *width > *bits || *offset > *bits - *width)
        return 0;
    return *bits / 8;
}

Field element_of_type(std::string_view element, const SourceText& source, Span at) {
    Field field;
    const auto it = std::ranges::find(kTypes, element, &TypeRow::word);
    if (it != std::end(kTypes)) {
        field.element_size = it->size;
        field.is_signed = it->is_signed;
    } else if (const std::size_t bytes = bitfield_bytes(element); bytes > 0) {
        field.element_size = bytes;
    } else {
        std::vector<std::string> names(std::begin(kTextTypes), std::end(kTextTypes));
        for (const TypeRow& row : kTypes) names.emplace_back(row.word);
        std::string hint = did_you_mean(element, names);
        if (hint.empty())
            hint = cat("types: ", join(names, " "), ", bWIDTH@OFFSET/BITS, and arrays of them");
        throw SourceError(source, at, cat("'", element, "' is no type of a probe's field"), hint);
    }
    field.type = element;
    return field;
}

}  // namespace

std::optional<ir::Type> find_number_type(std::string_view type) {
    const auto it = std::ranges::find(kTypes, type, &TypeRow::word);
    if (it == std::end(kTypes) || it->word == kSymbol) return std::nullopt;
    return ir::Type{static_cast<std::uint8_t>(it->size), it->is_signed};
}

bool is_text_type(std::string_view type) {
    return std::ranges::count(kTextTypes, type.substr(0, type.find('['))) > 0;
}

Field field_of_type(std::string_view type, const SourceText& source, Span at) {
    std::size_t elements = 0;
    const std::string_view element = type.substr(0, type.find('['));
    if (element.size() < type.size()) {
        Scan scan(type.substr(element.size() + 1));
        const auto number = scan.take_number<std::size_t>();
        if (!number || *number == 0 || scan.rest() != "]")
            throw SourceError(source, at, cat("'", type, "' is no array"), "such as u8[16]");
        if (*number > kMostElements)
            throw SourceError(source, at, cat("an array has at most ", kMostElements, " elements"));
        elements = *number;
    }
    if (is_text_type(element)) return text_field();
    Field field = element_of_type(element, source, at);
    field.is_array = elements > 0;
    field.size = field.element_size * std::max<std::size_t>(elements, 1);
    return field;
}

}  // namespace gpufs
