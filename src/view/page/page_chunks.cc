#include "view/page/page_chunks.h"

#include "base/base64.h"
#include "base/cat.h"
#include "view/export/gzip.h"
#include "view/export/protobuf.h"
#include "view/page/number_file.h"

namespace gpufs {

void PageChunks::number(std::uint64_t number) {
    append_varint(bytes_, number);
}

void PageChunks::signed_number(std::int64_t number) {
    append_varint(bytes_, NumberFile::zigzag(number));
}

void PageChunks::text(std::string_view text) {
    append_varint(bytes_, text.size());
    bytes_ += text;
}

void PageChunks::end_item() {
    constexpr std::size_t kFull = 1 << 20;
    ++items_;
    if (bytes_.size() >= kFull) flush();
}

void PageChunks::flush() {
    if (bytes_.empty()) return;
    write_(cat("<script type=\"text/plain\" class=\"chunk\" data-kind=\"", kind_,
               "\" data-items=\"", items_ - flushed_items_, "\">", base64(zlib_packed(bytes_)),
               "</script>\n"));
    written_ += bytes_.size();
    flushed_items_ = items_;
    bytes_.clear();
}

}  // namespace gpufs
