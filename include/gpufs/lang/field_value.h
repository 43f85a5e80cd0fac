#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gpufs/lang/event_format.h"

namespace gpufs {

// The bytes of one record, from its common_type field to its end.
using RecordBytes = std::span<const std::byte>;

// Where a field's bytes are in this record: the field itself, or what its __data_loc points at.
// Empty when the record is too short for it, so a cut record reads as zeros and empty strings.
RecordBytes bytes_of(const Field& field, RecordBytes record);

// An integer of 1, 2, 4 or 8 bytes, sign-extended to 64 bits when the field is signed. 0 for other
// sizes and for records that are too short.
std::uint64_t integer_of(const Field& field, RecordBytes record);

// Text up to its first NUL; at most the field's bytes.
std::string_view text_of(const Field& field, RecordBytes record);

}  // namespace gpufs
