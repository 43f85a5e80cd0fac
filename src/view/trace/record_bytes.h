#pragma once

#include <cstring>
#include <string_view>

#include "lang/event/field_value.h"

namespace gpufs {

// The record from this field on: for the array without a size at the end of print, raw_data and
// bprint.
inline RecordBytes tail_of(const Field* field, RecordBytes record) {
    return field && field->offset <= record.size() ? record.subspan(field->offset) : RecordBytes{};
}

// Text up to its first NUL.
inline std::string_view as_text(RecordBytes bytes) {
    const auto* chars = reinterpret_cast<const char*>(bytes.data());
    return {chars, bytes.empty() ? 0 : ::strnlen(chars, bytes.size())};
}

}  // namespace gpufs
