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

// One CPU's ring buffer pages in a recording, one after the other; holds a few of them at a time,
// or one compressed block.
class CpuPages {
public:
    // Where they are in the file. `limit`: from where on it is somebody else's, or the end of the
    // file. Pages that are there between the end that the file's table says and `limit` are taken,
    // too, when they go on where the others ended: who recorded did not come to write the end down.
    struct Place {
        std::string owner;  // "CPU 3": for what is told of them
        std::uint64_t offset = 0, size = 0, limit = 0;
    };
    // Borrows the descriptor.
    CpuPages(int file, Place place, const PageLayout& layout, Compression compression);

    // The next page, good until the next call; empty at the end. Throws SysError.
    std::span<const std::byte> next();
    void rewind();
    // From the last page on of those whose time, the clock's as it was recorded, is early enough;
    // with a look at a few of them where they are not compressed, and from the first on where they
    // are. Throws SysError.
    void rewind_to(const std::function<bool(std::uint64_t time)>& is_early);

    // What was found wrong on the way, a line each: a cut file, pages the table does not know.
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
    std::uint64_t at_ = 0;               // in the file: what is read next
    std::optional<std::uint32_t> left_;  // compressed blocks
    std::uint64_t last_time_ = 0;        // when the page given out last begins
    std::vector<std::byte> packed_, held_;
    std::size_t used_ = 0;  // of held_
    std::uint64_t beyond_ = 0;
    bool is_cut_ = false, has_ended_ = false;
    std::vector<std::string> notes_;
};

}  // namespace gpufs
