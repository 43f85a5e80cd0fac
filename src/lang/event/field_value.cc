#include "lang/event/field_value.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/extend.h"

namespace gpufs {
namespace {

template <class T>
T read_as(RecordBytes bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

}  // namespace

RecordBytes slice(RecordBytes record, std::size_t offset, std::size_t size) {
    if (offset > record.size() || size > record.size() - offset) return {};
    return record.subspan(offset, size);
}

RecordBytes bytes_of(const Field& field, RecordBytes record) {
    const RecordBytes own = slice(record, field.offset, field.size);
    if (!field.is_dynamic() || own.size() < 4) return own;
    const auto loc = read_as<std::uint32_t>(own);
    std::size_t offset = loc & 0xffff;
    if (field.place == Field::Place::rel_loc) offset += field.offset + field.size;
    return slice(record, offset, loc >> 16);
}

std::uint64_t integer_of(const Field& field, RecordBytes record) {
    const RecordBytes bytes = bytes_of(field, record);
    std::uint64_t value = 0;
    switch (bytes.size()) {
        case 1:
            value = read_as<std::uint8_t>(bytes);
            break;
        case 2:
            value = read_as<std::uint16_t>(bytes);
            break;
        case 4:
            value = read_as<std::uint32_t>(bytes);
            break;
        case 8:
            return read_as<std::uint64_t>(bytes);
        default:
            return 0;
    }
    return extend(value, bytes.size(), field.is_signed);
}

std::string_view text_of(const Field& field, RecordBytes record) {
    return up_to_nul(bytes_of(field, record));
}

CommonFields common_fields(RecordBytes record) {
    if (record.size() < 8) return {};
    std::int32_t pid;
    std::memcpy(&pid, record.data() + 4, sizeof pid);
    return {std::to_integer<unsigned>(record[2]), std::to_integer<unsigned>(record[3]), pid};
}

StackField stack_field(const EventFormat& format) {
    if (format.system != "ftrace") return {};
    if (format.name == "kernel_stack") return {format.find("caller"), false};
    if (format.name == "user_stack") return {format.find("caller"), true};
    return {};
}

std::vector<std::uint64_t> stack_of(const Field& caller, RecordBytes record, bool is_user) {
    std::vector<std::uint64_t> stack;
    // A kernel stack extends to the end of the record, whatever size its format states; a user
    // stack has a fixed size and ends with a zero.
    const std::size_t end =
        is_user ? std::min(record.size(), caller.offset + caller.size) : record.size();
    for (std::size_t at = caller.offset; at + 8 <= end; at += 8) {
        const auto address = read_as<std::uint64_t>(record.subspan(at));
        if (is_user ? address == 0 : address == ~std::uint64_t{0}) break;
        stack.push_back(address);
    }
    return stack;
}

}  // namespace gpufs
