#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lang/event/field_value.h"

namespace gpufs {

// Writes a value into a record that is made; the record has room for it.
template <class T>
void put_at(std::vector<std::byte>& record, std::size_t at, T value) {
    std::memcpy(record.data() + at, &value, sizeof value);
}

// Reads a value; 0 where the bytes end before it does.
template <class T>
T get_at(std::span<const std::byte> bytes, std::size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

// The fields that each record begins with, in its first 8 bytes (struct trace_entry).
inline void put_common(std::vector<std::byte>& record, std::uint16_t id,
                       const CommonFields& common) {
    put_at(record, 0, id);
    put_at(record, 2, static_cast<std::uint8_t>(common.flags));
    put_at(record, 3, static_cast<std::uint8_t>(common.preempt_count));
    put_at(record, 4, static_cast<std::int32_t>(common.pid));
}

}  // namespace gpufs
