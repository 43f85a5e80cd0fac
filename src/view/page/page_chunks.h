#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Receives pieces of a page's text.
using WritePage = std::function<void(std::string_view text)>;

// Items of one kind in a page: a table whose columns are numbers in base 128
// (view/export/protobuf.h). A chunk is some items' part of one column, so that a browser can read
// first what it draws first: packed by zlib, written in base 64 into <script type="text/plain"
// class="chunk"> elements, which a browser does not run. The first has data-kind="slice",
// data-column="0" and data-items, those behind it go on. page_data.js reads it.
class PageChunks {
public:
    PageChunks(std::string_view kind, const WritePage& write) : kind_(kind), write_(write) {}

    // The item's value in the next column.
    void number(std::uint64_t number);
    void signed_number(std::int64_t number);
    // Its length in bytes, then these. What is not UTF-8 becomes U+FFFD in the browser.
    void text(std::string_view text);
    void bytes_as_they_are(std::string_view bytes);
    void end_item();
    void flush();

    // Of all items so far, before they are packed.
    std::uint64_t bytes() const { return written_ + pending_; }
    std::uint64_t items() const { return items_; }

private:
    std::string& next_column();
    void write_chunk(std::size_t column);

    std::string_view kind_;
    const WritePage& write_;
    std::vector<std::string> columns_;
    std::size_t column_ = 0;     // of the item, the next
    std::uint64_t pending_ = 0;  // bytes in the columns, but for the last item's until it ends
    std::uint64_t written_ = 0, items_ = 0, flushed_items_ = 0;
};

}  // namespace gpufs
