#include "view/page/page_chunks.h"

#include "base/base64.h"
#include "base/cat.h"
#include "view/export/gzip.h"
#include "view/export/protobuf.h"
#include "view/page/number_file.h"

namespace gpufs {
namespace {

// A browser cuts a text into nodes of 65,536 characters, and takes a third longer to parse more of
// them in one element.
constexpr std::size_t kTextNode = 65'536;

}  // namespace

std::string& PageChunks::next_column() {
    if (column_ == columns_.size()) columns_.emplace_back();
    return columns_[column_++];
}

void PageChunks::number(std::uint64_t number) {
    append_varint(next_column(), number);
}

void PageChunks::signed_number(std::int64_t number) {
    append_varint(next_column(), zigzag(number));
}

void PageChunks::text(std::string_view text) {
    std::string& column = next_column();
    append_varint(column, text.size());
    column += text;
}

void PageChunks::bytes_as_they_are(std::string_view bytes) {
    next_column() += bytes;
}

void PageChunks::end_item() {
    constexpr std::size_t kFull = 2 << 20;
    column_ = 0;
    ++items_;
    pending_ = 0;
    for (const std::string& column : columns_) pending_ += column.size();
    if (pending_ >= kFull) flush();
}

void PageChunks::write_chunk(std::size_t column) {
    const std::string packed = base64(zlib_packed(columns_[column]));
    std::string first = cat(" data-kind=\"", kind_, "\" data-column=\"", column, "\" data-items=\"",
                            items_ - flushed_items_, "\"");
    for (std::string_view left = packed; !left.empty();) {
        const std::string_view part = left.substr(0, kTextNode);
        left.remove_prefix(part.size());
        write_(cat("<script type=\"text/plain\" class=\"chunk\"", first, ">", part, "</script>\n"));
        first.clear();
    }
    columns_[column].clear();
}

void PageChunks::flush() {
    if (items_ == flushed_items_) return;
    for (std::size_t column = 0; column < columns_.size(); ++column) write_chunk(column);
    written_ += pending_;
    pending_ = 0;
    flushed_items_ = items_;
}

}  // namespace gpufs
