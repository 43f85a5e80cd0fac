#include "view/page/number_file.h"

#include "base/error.h"
#include "view/export/protobuf.h"

namespace gpufs {

void NumberFile::add(std::uint64_t number) {
    number_.clear();
    append_varint(number_, number);
    bytes_.add(number_);
}

void NumberFile::rewind() {
    bytes_.rewind();
    piece_ = {};
}

std::uint64_t NumberFile::next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (piece_.empty()) piece_ = bytes_.next_piece();
        if (piece_.empty()) throw Error("numbers end before their time");
        const auto byte = static_cast<unsigned char>(piece_.front());
        piece_.remove_prefix(1);
        number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
}

std::int64_t NumberFile::next_signed() {
    const std::uint64_t number = next();
    return static_cast<std::int64_t>(number >> 1 ^ (0 - (number & 1)));
}

}  // namespace gpufs
