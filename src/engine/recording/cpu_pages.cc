#include "engine/recording/cpu_pages.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/read_at.h"

namespace gpufs {
namespace {

// Plain pages read at once.
constexpr std::size_t kBytesAtOnce = 64 << 10;
// No block that is to be believed is larger; trace-cmd's have some tens of pages.
constexpr std::uint32_t kLargestBlock = 64 << 20;

std::uint64_t time_of(std::span<const std::byte> page) {
    std::uint64_t time = 0;
    if (page.size() >= sizeof time) std::memcpy(&time, page.data(), sizeof time);
    return time;
}

// Is it a page that the kernel filled, and all right?
bool is_whole(std::span<const std::byte> bytes, const PageLayout& layout) {
    RingPage page(bytes, layout);
    std::size_t records = 0;
    for (RingRecord record; page.next(record);) ++records;
    return records > 0 && page.damage().empty();
}

}  // namespace

CpuPages::CpuPages(int file, Place place, const PageLayout& layout, Compression compression)
    : file_(file), place_(std::move(place)), layout_(layout), compression_(compression) {
    rewind();
}

void CpuPages::rewind() {
    at_ = place_.offset;
    left_.reset();
    last_time_ = 0;
    held_.clear();
    used_ = 0;
    beyond_ = 0;
    is_cut_ = has_ended_ = false;
    notes_.clear();
}

void CpuPages::rewind_to(const std::function<bool(std::uint64_t time)>& is_early) {
    rewind();
    if (compression_ != Compression::none) return;
    const std::uint64_t there = std::min(place_.size, bytes_behind(place_.offset));
    std::uint64_t early = 0, late = there / layout_.page_bytes;  // pages, by number
    while (late - early > 1) {
        const std::uint64_t middle = early + (late - early) / 2;
        std::uint64_t time = 0;
        at_ = place_.offset + middle * layout_.page_bytes;
        read(std::as_writable_bytes(std::span(&time, 1)));
        (time != 0 && is_early(time) ? early : late) = middle;  // a hole is no page
    }
    at_ = place_.offset + early * layout_.page_bytes;
}

// How much of the file there is from a place on.
std::uint64_t CpuPages::bytes_behind(std::uint64_t at) const {
    struct stat facts {};
    check(::fstat(file_, &facts), [] { return std::string("look at the recording"); });
    const auto end = static_cast<std::uint64_t>(facts.st_size);
    return end - std::min(at, end);
}

void CpuPages::note(const std::string& what) {
    notes_.push_back(cat(place_.owner, ": ", what));
}

// Reads from at_ on; less only at the end of the file.
std::size_t CpuPages::read(std::span<std::byte> into) {
    const std::size_t done = read_at(file_, at_, into, "the recording");
    at_ += done;
    return done;
}

std::span<const std::byte> CpuPages::next() {
    if (used_ == held_.size()) {
        if (has_ended_) return {};
        used_ = 0;
        const bool found = compression_ == Compression::none ? fill_plain() : fill_block();
        if (!found) {
            has_ended_ = true;
            held_.clear();
            return {};
        }
    }
    const std::size_t size = std::min(layout_.page_bytes, held_.size() - used_);
    const auto page = std::span<const std::byte>(held_).subspan(used_, size);
    used_ += size;
    last_time_ = time_of(page);
    return page;
}

bool CpuPages::fill_plain() {
    if (is_cut_) return false;
    const std::uint64_t end = place_.offset + place_.size;
    if (at_ >= end) return fill_beyond_table();
    const std::size_t batch =
        std::max(layout_.page_bytes, kBytesAtOnce / layout_.page_bytes * layout_.page_bytes);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(batch, end - at_));
    // A damaged table may promise more than the file can hold.
    held_.resize(std::min<std::uint64_t>(wanted, bytes_behind(at_)));
    held_.resize(read(held_));
    if (held_.size() < wanted) {
        note(
            cat("the file ends at byte ", at_, ", ", end - at_, " bytes of its pages are missing"));
        is_cut_ = true;
        // The records in front of the cut can be read.
        if (const std::size_t rest = held_.size() % layout_.page_bytes; rest > 0)
            held_.resize(held_.size() - rest + layout_.page_bytes);
    }
    return !held_.empty();
}

bool CpuPages::fill_beyond_table() {
    const std::uint64_t start = at_;
    if (at_ < place_.limit && place_.limit - at_ >= layout_.page_bytes) {
        held_.resize(layout_.page_bytes);
        const bool goes_on =
            read(held_) == held_.size() && time_of(held_) >= last_time_ && is_whole(held_, layout_);
        if (goes_on) {
            ++beyond_;
            return true;
        }
    }
    if (beyond_ > 0)
        note(cat("the recording was not ended: its table counts ", place_.size,
                 " bytes, there are ", start - place_.offset));
    return false;
}

// In front of all blocks is how many there are. A block: its size, its size when it is unpacked,
// its bytes.
bool CpuPages::fill_block() {
    const auto number = [&](std::uint32_t& value) {
        return read(std::as_writable_bytes(std::span(&value, 1))) == sizeof value;
    };
    if (place_.size == 0) return false;
    if (!left_ && !number(left_.emplace())) return note_cut_block();
    for (; *left_ > 0; --*left_) {
        const std::uint64_t start = at_;
        std::uint32_t packed = 0, plain = 0;
        if (!number(packed) || !number(plain)) return note_cut_block();
        if (packed > kLargestBlock || plain > kLargestBlock || !is_plausible(packed, plain)) {
            note(cat("byte ", start, ": a compressed block of ", packed, " bytes for ", plain,
                     " is damage; the rest is left out"));
            return false;
        }
        if (packed > bytes_behind(at_)) return note_cut_block();
        packed_.resize(packed);
        if (read(packed_) < packed) return note_cut_block();
        held_.resize(plain);
        try {
            held_.resize(uncompress(compression_, packed_, held_));
        } catch (const Error& e) {
            note(cat("byte ", start, ": a damaged block (", e.what(), "); the rest is left out"));
            return false;
        }
        if (held_.empty()) continue;
        --*left_;
        return true;
    }
    return false;
}

bool CpuPages::note_cut_block() {
    note(cat("the file ends at byte ", at_, ", inside compressed pages"));
    return false;
}

}  // namespace gpufs
