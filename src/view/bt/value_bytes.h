#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "bt/types/type.h"

// What the bytes of a script's values say, before any word is made of it. `bytes` begin where the
// value lies and are at least type.bytes, unless a function says otherwise.
namespace gpufs::bt {

using Bytes = std::span<const std::byte>;

// A number of the machine's byte order at an offset.
template <class T>
T load(Bytes bytes, std::size_t at = 0) {
    T out;
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
}

// An integer, boolean, pointer or any other scalar, extended by its sign.
std::uint64_t number_of(const Type& type, Bytes bytes);
// A member of a structure, or of a tuple, that is a bit field.
std::uint64_t bit_field_of(const Type::Field& field, Bytes bytes);
// A string up to its NUL, or all of its bytes.
std::string_view string_of(const Type& type, Bytes bytes);
// The contents of a buffer.
Bytes contents_of(const Type& type, Bytes bytes);

// What an aggregation of one number has come to; of a stats or avg, the average. Its sign is
// type.is_signed.
std::uint64_t result_of(const Type& type, Bytes bytes);
// How many values went into a stats, and their sum.
struct CountAndTotal {
    std::uint64_t count = 0, total = 0;
};
CountAndTotal count_and_total(const Type& stats, Bytes bytes);

// `number` divided, towards 0; by 0: itself.
std::uint64_t divided(std::uint64_t number, bool is_signed, std::uint64_t by);

// Compares numbers by the sign.
std::strong_ordering compare_numbers(std::uint64_t a, std::uint64_t b, bool is_signed);
// The order of a map's keys: numbers by value, strings by their bytes, tuples and arrays by their
// first part that differs; others by their bytes.
std::strong_ordering compare_values(const Type& type, Bytes a, Bytes b);

}  // namespace gpufs::bt
