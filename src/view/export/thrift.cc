#include "view/export/thrift.h"

#include <utility>

#include "view/export/protobuf.h"

namespace gpufs {
namespace {

// How a field's value is laid out.
constexpr unsigned kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12;

}  // namespace

void Thrift::key(unsigned field, unsigned type) {
    const unsigned step = field - last_.back();
    last_.back() = field;
    if (step >= 1 && step <= 15) {
        bytes_ += static_cast<char>(step << 4 | type);
        return;
    }
    bytes_ += static_cast<char>(type);
    append_varint(bytes_, zigzag(field));
}

void Thrift::i32(unsigned field, std::int32_t value) {
    key(field, kI32);
    append_varint(bytes_, zigzag(value));
}

void Thrift::i64(unsigned field, std::int64_t value) {
    key(field, kI64);
    append_varint(bytes_, zigzag(value));
}

void Thrift::text(unsigned field, std::string_view value) {
    key(field, kBinary);
    element(value);
}

void Thrift::open(unsigned field) {
    key(field, kStruct);
    open_element();
}

void Thrift::close() {
    bytes_ += '\0';
    last_.pop_back();
}

void Thrift::list(unsigned field, Element kind, std::size_t count) {
    key(field, kList);
    const auto type = static_cast<unsigned>(kind);
    if (count < 15) {
        bytes_ += static_cast<char>(count << 4 | type);
    } else {
        bytes_ += static_cast<char>(0xf0 | type);
        append_varint(bytes_, count);
    }
}

void Thrift::element(std::int32_t value) {
    append_varint(bytes_, zigzag(value));
}

void Thrift::element(std::string_view value) {
    append_varint(bytes_, value.size());
    bytes_ += value;
}

std::string Thrift::take() {
    bytes_ += '\0';
    last_ = {0};
    return std::exchange(bytes_, {});
}

}  // namespace gpufs
