#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gpufs {

// Receives pieces of a page's text.
using WritePage = std::function<void(std::string_view text)>;

// Items of one kind in a page, as columns of numbers in base 128 (view/export/protobuf.h): packed
// by zlib, written in base 64, each chunk in a <script type="text/plain" class="chunk"
// data-kind="slice"> of its own, which a browser does not run. What data.js reads.
class PageChunks {
public:
    PageChunks(std::string_view kind, const WritePage& write) : kind_(kind), write_(write) {}

    void number(std::uint64_t number);
    void signed_number(std::int64_t number);
    // Its length in bytes, then these. What is not UTF-8 becomes U+FFFD in the browser.
    void text(std::string_view text);
    void bytes_as_they_are(std::string_view bytes) { bytes_ += bytes; }
    // Of an item. A chunk has whole items.
    void end_item();
    void flush();

    // Of all items so far, before they are packed.
    std::uint64_t bytes() const { return written_ + bytes_.size(); }
    std::uint64_t items() const { return items_; }

private:
    std::string_view kind_;
    const WritePage& write_;
    std::string bytes_;
    std::uint64_t written_ = 0, items_ = 0, flushed_items_ = 0;
};

}  // namespace gpufs
