#pragma once

#include "lang/event/field_value.h"

namespace gpufs {

// The record from this field on: for the array without a size at the end of print, raw_data and
// bprint.
inline RecordBytes tail_of(const Field* field, RecordBytes record) {
    return field && field->offset <= record.size() ? record.subspan(field->offset) : RecordBytes{};
}

}  // namespace gpufs
