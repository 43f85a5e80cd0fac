#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/trace_dat/compression.h"
#include "lang/trace_dat/ring_page.h"

namespace gpufs {

// Reads one CPU's ring buffer pages in a recording in order; holds a few of them at a time, or one
// compressed block.
class CpuPages {
public:
    // The pages' region in the file. `limit`: where the next region or the end of the file is.
    // Pages between the end according to the file's table and `limit` are read, too, if they
    // continue the others: the recorder may have died before it wrote the end.
    struct Place {
        std::string owner;  // for messages: "CPU 3"
        std::uint64_t offset = 0, size = 0, limit = 0;
    };
    // The descriptor must stay open.
    CpuPages(int file, Place place, const PageLayout& layout, Compression compression);

    // The next page, valid until the next call; empty at the end. Throws SysError.
    std::span<const std::byte> next();
    void rewind();
    // Goes to the last page whose time (in the recorded clock) satisfies `is_early`. Reads only a
    // few pages to find it; in a compressed recording goes to the first page. Throws SysError.
    void rewind_to(const std::function<bool(std::uint64_t time)>& is_early);

    // Bytes of the file read since the last rewind, with those skipped by rewind_to().
    std::uint64_t bytes_read() const { return at_ - place_.offset; }
    // Of the region.
    std::uint64_t bytes() const { return place_.size; }

    // Problems found so far, one line each: a truncated file, pages missing in the table.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    bool fill_plain();
    bool fill_beyond_table();
    bool fill_block();
    bool note_cut_block();
    std::size_t read(std::span<std::byte> into);
    std::uint64_t bytes_behind(std::uint64_t at) const;
    void note(const std::string& what);

    int file_;
    Place place_;
    PageLayout layout_;
    Compression compression_;
    std::uint64_t at_ = 0;               // file offset of the next read
    std::optional<std::uint32_t> left_;  // remaining compressed blocks
    std::uint64_t last_time_ = 0;        // start time of the last page returned
    std::vector<std::byte> packed_, held_;
    std::size_t used_ = 0;  // bytes of held_ returned so far
    std::uint64_t beyond_ = 0;
    bool is_cut_ = false, has_ended_ = false;
    std::vector<std::string> notes_;
};

}  // namespace gpufs
