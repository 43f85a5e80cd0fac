#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"

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

// The fields every record starts with (struct trace_entry).
struct CommonFields {
    unsigned flags = 0;          // common_flags
    unsigned preempt_count = 0;  // common_preempt_count
    int pid = 0;                 // common_pid
};
CommonFields common_fields(RecordBytes record);

// Where the records of an event hold a stack; no field for an event that is none.
struct StackField {
    const Field* field = nullptr;
    bool is_user = false;
};
StackField stack_field(const EventFormat& format);

// The addresses of a stack record, from its `caller` field on.
std::vector<std::uint64_t> stack_of(const Field& caller, RecordBytes record, bool is_user);

}  // namespace gpufs
