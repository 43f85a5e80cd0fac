#include "view/page/number_file.h"

#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/unnamed_file.h"
#include "view/export/protobuf.h"

namespace gpufs {
namespace {

constexpr std::size_t kNumberPiece = 256 << 10;
constexpr const char* kNumberFile = "a temporary file";

}  // namespace

void NumberFile::add(std::uint64_t number) {
    append_varint(piece_, number);
    if (piece_.size() >= kNumberPiece) spill();
}

void NumberFile::spill() {
    if (!file_) file_ = open_unnamed_file();
    write_all(file_.get(), piece_, kNumberFile);
    piece_.clear();
}

void NumberFile::rewind() {
    if (file_ && !is_read_) spill();
    if (file_) piece_.clear();
    is_read_ = true;
    at_ = 0;
    bytes_ = 0;
}

unsigned char NumberFile::next_byte() {
    if (at_ == piece_.size()) {
        if (!file_) throw Error("numbers end before their time");
        piece_.resize(kNumberPiece);
        piece_.resize(
            read_at(file_.get(), bytes_, std::as_writable_bytes(std::span(piece_)), kNumberFile));
        if (piece_.empty()) throw Error(cat(kNumberFile, " ends before its time"));
        bytes_ += piece_.size();
        at_ = 0;
    }
    return static_cast<unsigned char>(piece_[at_++]);
}

std::uint64_t NumberFile::next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char byte = next_byte();
        number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
}

std::int64_t NumberFile::next_signed() {
    const std::uint64_t number = next();
    return static_cast<std::int64_t>(number >> 1 ^ (0 - (number & 1)));
}

}  // namespace gpufs
