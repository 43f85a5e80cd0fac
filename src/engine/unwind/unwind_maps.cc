#include "engine/unwind/unwind_maps.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "lang/unwind/unwind_code.h"

namespace gpufs {
namespace {

// The ring is a page at least, which no kernel has larger.
constexpr std::uint32_t kAskRingBytes = 64 << 10, kMostAsked = 4096;
// A program that found a process's ranges may still read them for so long after they were replaced.
constexpr std::uint64_t kInUseNs = 20'000'000;

BpfMap make_array(const char* name, std::size_t value_bytes, std::uint32_t entries) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_ARRAY;
    spec.name = name;
    spec.key_bytes = sizeof(std::uint32_t);
    spec.value_bytes = static_cast<std::uint32_t>(value_bytes);
    spec.max_entries = entries;
    spec.flags = BPF_F_MMAPABLE;
    return BpfMap::create(spec);
}

BpfMap make_hash(const char* name, std::size_t value_bytes, std::uint32_t entries) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_HASH;
    spec.name = name;
    spec.key_bytes = sizeof(std::uint32_t);
    spec.value_bytes = static_cast<std::uint32_t>(value_bytes);
    spec.max_entries = entries;
    return BpfMap::create(spec);
}

BpfMap make_ring() {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_RINGBUF;
    spec.name = "unwind_asks";
    spec.max_entries = kAskRingBytes;
    return BpfMap::create(spec);
}

BpfMap make_slab() {
    return make_array("unwind_rows", kRowBlock * sizeof(std::uint32_t), kRowSlab);
}

BpfMap make_slabs(const BpfMap& like) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_ARRAY_OF_MAPS;
    spec.name = "unwind_slabs";
    spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
    spec.max_entries = kMostRowSlabs;
    spec.inner_fd = like.fd();
    return BpfMap::create(spec);
}

std::vector<BpfMap> first_slab() {
    std::vector<BpfMap> slabs;
    slabs.push_back(make_slab());
    return slabs;
}

}  // namespace

UnwindMaps::UnwindMaps()
    : processes_(make_hash("unwind_procs", sizeof(UnwindProcess), kMostUnwindProcesses)),
      ranges_(make_array("unwind_ranges", kRangeBlock * sizeof(UnwindRange), kMostRangeBlocks)),
      pages_(make_array("unwind_pages", sizeof(UnwindPage), kMostUnwindPages)),
      rule_map_(make_array("unwind_rules", sizeof(UnwindRule), kMostUnwindRules)),
      asked_(make_hash("unwind_asked", sizeof(std::uint32_t), kMostAsked)),
      ask_map_(make_ring()),
      slabs_(first_slab()),
      rows_(make_slabs(slabs_.front())),
      range_memory_(ranges_.map_values()),
      page_memory_(pages_.map_values()),
      rule_memory_(rule_map_.map_values()),
      slab_memory_(slabs_.front().map_values()),
      asks_(ask_map_) {
    const std::uint32_t first = 0;
    const int fd = slabs_.front().fd();
    rows_.update(bytes_of(first), bytes_of(fd));
}

std::map<std::string, int> UnwindMaps::descriptors() const {
    return {{kUnwindProcesses, processes_.fd()}, {kUnwindRanges, ranges_.fd()},
            {kUnwindPages, pages_.fd()},         {kUnwindRows, rows_.fd()},
            {kUnwindRules, rule_map_.fd()},      {kUnwindAsked, asked_.fd()},
            {kUnwindAsks, ask_map_.fd()}};
}

void UnwindMaps::add_rules() {
    const std::vector<UnwindRule>& all = rules_.all();
    if (rules_there_ < all.size())
        std::memcpy(rule_memory_.data() + rules_there_ * sizeof(UnwindRule),
                    all.data() + rules_there_, (all.size() - rules_there_) * sizeof(UnwindRule));
    rules_there_ = all.size();
}

// Goes on with the next block of rows, in a new slab where this one is full.
bool UnwindMaps::begin_block() {
    constexpr std::uint32_t kSlabRows = kRowSlab * kRowBlock;
    next_row_ = (next_row_ + kRowBlock - 1) / kRowBlock * kRowBlock;
    const auto slab = static_cast<std::size_t>(next_row_ / kSlabRows);
    if (slab < slabs_.size()) return true;
    if (slab == kMostRowSlabs) return false;
    slabs_.push_back(make_slab());
    const auto key = static_cast<std::uint32_t>(slab);
    const int fd = slabs_.back().fd();
    rows_.update(bytes_of(key), bytes_of(fd));
    slab_memory_ = slabs_.back().map_values();
    return true;
}

std::optional<std::uint32_t> UnwindMaps::add(const UnwindTable& table) {
    const auto pages = static_cast<std::uint32_t>(table.pages());
    if (pages > kMostUnwindPages - next_page_) return std::nullopt;
    const std::uint32_t first = next_page_;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto rows = std::span(table.rows)
                              .subspan(table.rows_of[i], table.rows_of[i + 1] - table.rows_of[i]);
        const auto count = static_cast<std::uint32_t>(rows.size());
        if (next_row_ % kRowBlock == 0 || next_row_ % kRowBlock + count > kRowBlock)
            if (!begin_block()) return std::nullopt;
        const std::size_t in_slab = next_row_ % (kRowSlab * kRowBlock);
        std::memcpy(slab_memory_.data() + in_slab * sizeof(std::uint32_t), rows.data(),
                    rows.size_bytes());
        const UnwindPage page{next_row_, count};
        std::memcpy(page_memory_.data() + (first + i) * sizeof page, &page, sizeof page);
        next_row_ += count;
    }
    add_rules();
    next_page_ += pages;
    return first;
}

std::optional<UnwindMaps::Place> UnwindMaps::take_place(std::size_t ranges) {
    constexpr std::size_t kSmallest = 16;
    const std::size_t size = std::bit_ceil(std::max(ranges, kSmallest));
    if (size > kRangeBlock) return std::nullopt;
    Place place;
    place.size_class = static_cast<unsigned>(std::countr_zero(size));
    std::deque<Freed>& free = free_[place.size_class];
    if (!free.empty() && monotonic_ns() - free.front().time_ns > kInUseNs) {
        place.first = free.front().first;
        free.pop_front();
        return place;
    }
    // A power of 2 at a multiple of itself does not lie in two blocks. What is left out in front of
    // it is for smaller ones.
    while (next_range_ % size != 0) {
        const auto gap = static_cast<unsigned>(std::countr_zero(next_range_));
        free_[gap].push_front({next_range_, 0});
        next_range_ += 1u << gap;
    }
    if (next_range_ + size > std::uint64_t{kMostRangeBlocks} * kRangeBlock) return std::nullopt;
    place.first = next_range_;
    next_range_ += static_cast<std::uint32_t>(size);
    return place;
}

void UnwindMaps::free_place(const Place& place) {
    free_[place.size_class].push_back({place.first, monotonic_ns()});
}

bool UnwindMaps::set_process(std::uint32_t pid, std::span<const UnwindRange> ranges) {
    const auto place = take_place(ranges.size());
    if (!place) {
        remove_process(pid);
        return false;
    }
    std::memcpy(range_memory_.data() + place->first * sizeof(UnwindRange), ranges.data(),
                ranges.size_bytes());
    const UnwindProcess process{place->first, static_cast<std::uint32_t>(ranges.size())};
    try {
        processes_.update(bytes_of(pid), bytes_of(process));
    } catch (const SysError& e) {
        if (e.code() != E2BIG) throw;
        free_place(*place);
        return false;
    }
    const auto [old, is_new] = places_.try_emplace(pid, *place);
    if (!is_new) {
        free_place(old->second);
        old->second = *place;
    }
    return true;
}

void UnwindMaps::remove_process(std::uint32_t pid) {
    const auto place = places_.find(pid);
    if (place == places_.end()) return;
    processes_.erase(bytes_of(pid));
    free_place(place->second);
    places_.erase(place);
}

std::vector<std::uint32_t> UnwindMaps::take_asked() {
    std::vector<std::uint32_t> pids;
    asks_.drain([&](std::span<const std::byte> record) {
        std::uint32_t pid = 0;
        if (record.size() < sizeof pid) return;
        std::memcpy(&pid, record.data(), sizeof pid);
        pids.push_back(pid);
    });
    return pids;
}

void UnwindMaps::allow_asking(std::uint32_t pid) const {
    asked_.erase(bytes_of(pid));
}

std::size_t UnwindMaps::bytes() const {
    return slabs_.size() * kRowSlab * kRowBlock * sizeof(std::uint32_t) + range_memory_.size() +
           page_memory_.size() + rule_memory_.size();
}

}  // namespace gpufs
