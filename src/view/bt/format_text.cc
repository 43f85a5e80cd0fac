#include "view/bt/format_text.h"

#include <algorithm>
#include <charconv>

#include "base/hex.h"
#include "view/bt/gfp_flags.h"

namespace gpufs::bt {

namespace {

// Fills what was appended since `start` up to the conversion's width.
void pad_from(std::string& out, std::size_t start, const Conversion& conversion) {
    const std::size_t length = out.size() - start;
    if (length >= conversion.width) return;
    out.insert(conversion.is_left ? out.size() : start, conversion.width - length, ' ');
}

// What C makes of an argument: a number of the length's bits.
std::uint64_t narrowed(std::uint64_t number, Conversion::Length length, bool is_signed) {
    const auto narrow = [&]<class Signed, class Unsigned>(Signed, Unsigned) -> std::uint64_t {
        if (is_signed) return static_cast<std::uint64_t>(std::int64_t{static_cast<Signed>(number)});
        return static_cast<Unsigned>(number);
    };
    switch (length) {
        case Conversion::Length::hh:
            return narrow(std::int8_t{}, std::uint8_t{});
        case Conversion::Length::h:
            return narrow(std::int16_t{}, std::uint16_t{});
        case Conversion::Length::none:
            return narrow(std::int32_t{}, std::uint32_t{});
        case Conversion::Length::l:
            break;
    }
    return number;
}

std::string_view sign_of(const Conversion& conversion, bool is_negative) {
    if (is_negative) return "-";
    return conversion.has_plus ? "+" : conversion.has_blank ? " " : "";
}

// %d %i %u %o %x %X.
void append_integer(std::string& out, std::uint64_t number, const Conversion& conversion) {
    const char letter = conversion.specifier[0];
    const bool is_signed = letter == 'd' || letter == 'i';
    number = narrowed(number, conversion.length, is_signed);
    const bool is_negative = is_signed && static_cast<std::int64_t>(number) < 0;
    if (is_negative) number = 0 - number;
    const bool is_hex = letter == 'x' || letter == 'X';

    char digits[24];
    char* end = std::to_chars(digits, digits + sizeof digits, number,
                              is_hex          ? 16
                              : letter == 'o' ? 8
                                              : 10)
                    .ptr;
    if (letter == 'X')
        std::for_each(digits, end, [](char& c) {
            if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
        });
    if (number == 0 && conversion.precision == 0) end = digits;
    const auto length = static_cast<std::size_t>(end - digits);

    std::string_view prefix = is_signed ? sign_of(conversion, is_negative) : "";
    std::size_t zeros = std::max(conversion.precision.value_or(1), length) - length;
    if (conversion.is_alternate && is_hex && number != 0) prefix = letter == 'x' ? "0x" : "0X";
    if (conversion.is_alternate && letter == 'o' && zeros == 0 && (number != 0 || length == 0))
        zeros = 1;
    const std::size_t taken = prefix.size() + zeros + length;
    if (conversion.has_zeros && !conversion.is_left && !conversion.precision &&
        taken < conversion.width)
        zeros += conversion.width - taken;

    const std::size_t start = out.size();
    out += prefix;
    out.append(zeros, '0');
    out.append(digits, end);
    pad_from(out, start, conversion);
}

// The number of a value that %d and its like take.
std::uint64_t printed_number(const Type& type, Bytes bytes) {
    return type.is_aggregation() ? result_of(type, bytes) : number_of(type, bytes);
}

void append_number_as(std::string& out, const Conversion& conversion, std::uint64_t number) {
    const std::size_t start = out.size();
    if (conversion.specifier == "c")
        out += static_cast<char>(number);
    else if (conversion.specifier == "p")
        out += number == 0 ? "0" : hex(number);
    else if (conversion.specifier == "gr")
        out += gfp_text(number);
    else
        return append_integer(out, number, conversion);
    pad_from(out, start, conversion);
}

void append_text_as(std::string& out, const Conversion& conversion, const Type& type, Bytes bytes,
                    const ValueWriter& writer, Controls controls) {
    const std::size_t start = out.size();
    if (conversion.specifier[0] == 'r' && type.is(Type::Kind::buffer)) {
        const BufferForm form = conversion.specifier == "rx"   ? BufferForm::escaped
                                : conversion.specifier == "rh" ? BufferForm::digits
                                                               : BufferForm::printable;
        append_buffer(out, contents_of(type, bytes), form);
    } else {
        writer.text(out, type, bytes);
    }
    if (conversion.precision && *conversion.precision < out.size() - start)
        out.resize(start + *conversion.precision);
    make_lines_printable(out, start, controls);
    pad_from(out, start, conversion);
}

}  // namespace

FormatText::FormatText(std::string_view format, const std::vector<SentValue>& values) {
    std::size_t at = 0;
    for (Conversion& conversion : parse_format(format)) {
        if (pieces_.size() == values.size()) break;
        std::string before = literal_text(format.substr(at, conversion.begin - at));
        at = conversion.end;
        const SentValue& value = values[pieces_.size()];
        const bool has_number = value.type->is_scalar() || value.type->is_aggregation();
        const bool is_number = has_number && is_number_specifier(conversion.specifier);
        pieces_.push_back({std::move(before), std::move(conversion), value, is_number});
    }
    rest_ = literal_text(format.substr(at));
}

void FormatText::append(std::string& out, Bytes record, const ValueWriter& writer,
                        Controls controls) const {
    for (const Piece& piece : pieces_) {
        out += piece.before;
        const Type& type = *piece.value.type;
        const Bytes bytes = record.subspan(piece.value.offset);
        if (piece.is_number)
            append_number_as(out, piece.conversion, printed_number(type, bytes));
        else
            append_text_as(out, piece.conversion, type, bytes, writer,
                           piece.value.is_own ? Controls::raw : controls);
    }
    out += rest_;
}

}  // namespace gpufs::bt
