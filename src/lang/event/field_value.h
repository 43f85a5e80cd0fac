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

// Part of a record; empty where it ends before that.
RecordBytes slice(RecordBytes record, std::size_t offset, std::size_t size);

// The bytes of a field in this record: the field itself, or the data that its __data_loc or
// __rel_loc points at. Empty when the record is too short, so a truncated record reads as zeros and
// empty strings.
RecordBytes bytes_of(const Field& field, RecordBytes record);

// An integer of 1, 2, 4 or 8 bytes, sign-extended to 64 bits when the field is signed. 0 for other
// sizes and for records that are too short.
std::uint64_t integer_of(const Field& field, RecordBytes record);

// The field's text up to its first NUL, or all of its bytes when there is none.
std::string_view text_of(const Field& field, RecordBytes record);

// The fields every record starts with (struct trace_entry).
struct CommonFields {
    unsigned flags = 0;          // common_flags
    unsigned preempt_count = 0;  // common_preempt_count
    int pid = 0;                 // common_pid
};
CommonFields common_fields(RecordBytes record);

// The field that holds the stack in a kernel_stack or user_stack event; null for other events.
struct StackField {
    const Field* field = nullptr;
    bool is_user = false;
};
StackField stack_field(const EventFormat& format);

// The return addresses of a stack record, from its `caller` field on, innermost frame first.
std::vector<std::uint64_t> stack_of(const Field& caller, RecordBytes record, bool is_user);

}  // namespace gpufs
