#include "view/bt/value_bytes.h"

#include <algorithm>

#include "base/bytes.h"
#include "engine/results/map_contents.h"
#include "lang/program/types.h"

namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

// How the kernel's value of an aggregation of two words or more is to be read.
Aggregation aggregation_of(const Type& type) {
    Aggregation out;
    out.is_signed = type.is_signed;
    switch (type.kind) {
        case Kind::min:
            out.kind = Aggregation::Kind::min;
            break;
        case Kind::max:
            out.kind = Aggregation::Kind::max;
            break;
        case Kind::avg:
            out.kind = Aggregation::Kind::avg;
            break;
        default:
            out.kind = Aggregation::Kind::stats;
            break;
    }
    return out;
}

std::uint64_t sign_extended(std::uint64_t number, unsigned bits) {
    if (bits == 0 || bits >= 64) return number;
    const unsigned shift = 64 - bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(number << shift) >> shift);
}

std::strong_ordering compare_fields(const std::vector<Type::Field>& fields, Bytes a, Bytes b) {
    for (const Type::Field& field : fields) {
        const auto order =
            compare_values(*field.type, a.subspan(field.offset), b.subspan(field.offset));
        if (order != 0) return order;
    }
    return std::strong_ordering::equal;
}

std::strong_ordering compare_elements(const Type& array, Bytes a, Bytes b) {
    for (std::size_t i = 0; i < array.count; ++i) {
        const std::size_t at = i * array.element->bytes;
        const auto order = compare_values(*array.element, a.subspan(at), b.subspan(at));
        if (order != 0) return order;
    }
    return std::strong_ordering::equal;
}

}  // namespace

std::uint64_t number_of(const Type& type, Bytes bytes) {
    std::uint64_t number = 0;
    const std::size_t size = std::min(type.bytes, sizeof number);
    std::memcpy(&number, bytes.data(), size);
    return type.is_signed ? sign_extended(number, static_cast<unsigned>(size * 8)) : number;
}

std::uint64_t bit_field_of(const Type::Field& field, Bytes bytes) {
    std::uint64_t number = 0;
    const std::size_t size = field.bit_bytes();
    std::memcpy(&number, bytes.data(), std::min(size, sizeof number));
    number >>= field.bit_shift;
    if (size > sizeof number)
        number |= std::to_integer<std::uint64_t>(bytes[sizeof number]) << (64 - field.bit_shift);
    if (field.bit_size < 64) number &= (std::uint64_t{1} << field.bit_size) - 1;
    return field.type->is_signed ? sign_extended(number, field.bit_size) : number;
}

std::string_view string_of(const Type& type, Bytes bytes) {
    return up_to_nul(bytes.first(type.bytes));
}

Bytes contents_of(const Type& type, Bytes bytes) {
    constexpr std::size_t kHead = sizeof(std::uint32_t);
    const std::size_t size = load<std::uint32_t>(bytes);
    return bytes.subspan(kHead, std::min(size, type.bytes - kHead));
}

std::uint64_t result_of(const Type& type, Bytes bytes) {
    if (type.is(Kind::count) || type.is(Kind::sum)) return load<std::uint64_t>(bytes);
    const Aggregation how = aggregation_of(type);
    const std::vector<std::uint64_t> words = decoded_words(how, bytes.first(how.bytes()));
    return type.is(Kind::avg) || type.is(Kind::stats) ? mean_of(how, words) : words[0];
}

CountAndTotal count_and_total(const Type& stats, Bytes bytes) {
    const Aggregation how = aggregation_of(stats);
    const std::vector<std::uint64_t> words = decoded_words(how, bytes.first(how.bytes()));
    return {words[0], words[1]};
}

std::uint64_t divided(std::uint64_t number, bool is_signed, std::uint64_t by) {
    if (by <= 1) return number;
    const bool is_negative = is_signed && static_cast<std::int64_t>(number) < 0;
    return is_negative ? 0 - (0 - number) / by : number / by;
}

std::strong_ordering compare_numbers(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) <=> static_cast<std::int64_t>(b) : a <=> b;
}

std::strong_ordering compare_values(const Type& type, Bytes a, Bytes b) {
    switch (type.kind) {
        case Kind::integer:
        case Kind::boolean:
        case Kind::pointer:
            return compare_numbers(number_of(type, a), number_of(type, b), type.is_signed);
        case Kind::string:
            return string_of(type, a) <=> string_of(type, b);
        case Kind::tuple:
            return compare_fields(type.fields, a, b);
        case Kind::array:
            return compare_elements(type, a, b);
        default:
            return std::memcmp(a.data(), b.data(), type.bytes) <=> 0;
    }
}

}  // namespace gpufs::bt
