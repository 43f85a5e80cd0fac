#include "view/page/spilled_text.h"

#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/unnamed_file.h"

namespace gpufs {
namespace {

constexpr std::size_t kTextPiece = 256 << 10;
constexpr const char* kTextFile = "a temporary file";

}  // namespace

void SpilledText::add(std::string_view text) {
    piece_ += text;
    if (piece_.size() < kTextPiece) return;
    if (!file_) file_ = open_unnamed_file();
    write_all(file_.get(), piece_, kTextFile);
    in_file_ += piece_.size();
    piece_.clear();
}

void SpilledText::read(const std::function<void(std::string_view)>& take) {
    std::string read(kTextPiece, '\0');
    for (std::uint64_t at = 0; at < in_file_; at += read.size()) {
        read.resize(read_at(file_.get(), at, std::as_writable_bytes(std::span(read)), kTextFile));
        if (read.empty()) throw Error(cat(kTextFile, " ends before its time"));
        take(read);
    }
    take(piece_);
}

}  // namespace gpufs
