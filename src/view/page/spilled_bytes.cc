#include "view/page/spilled_bytes.h"

#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/unnamed_file.h"

namespace gpufs {
namespace {

constexpr std::size_t kSpilledPiece = 256 << 10;
constexpr const char* kSpilledFile = "a temporary file";

}  // namespace

void SpilledBytes::add(std::string_view bytes) {
    piece_ += bytes;
    if (piece_.size() >= kSpilledPiece) spill();
}

void SpilledBytes::spill() {
    if (!file_) file_ = open_unnamed_file();
    write_all(file_.get(), piece_, kSpilledFile);
    in_file_ += piece_.size();
    piece_.clear();
}

void SpilledBytes::rewind() {
    if (file_ && !is_written_) spill();
    is_written_ = true;
    read_ = 0;
}

std::string_view SpilledBytes::next_piece() {
    if (!file_) {
        const std::string_view rest = std::string_view(piece_).substr(read_);
        read_ += rest.size();
        return rest;
    }
    if (read_ == in_file_) return {};
    piece_.resize(kSpilledPiece);
    piece_.resize(
        read_at(file_.get(), read_, std::as_writable_bytes(std::span(piece_)), kSpilledFile));
    if (piece_.empty()) throw Error(cat(kSpilledFile, " ends before its time"));
    read_ += piece_.size();
    return piece_;
}

}  // namespace gpufs
