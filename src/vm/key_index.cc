#include "vm/key_index.h"

#include <algorithm>
#include <cstring>

namespace gpufs {

// Mixes words by multiplication with the golden ratio; the upper half of the product depends on all
// bits.
std::uint32_t KeyIndex::hash_of(std::span<const std::byte> key) {
    constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
    std::uint64_t hash = key.size();
    while (!key.empty()) {
        const std::size_t bytes = std::min<std::size_t>(key.size(), sizeof hash);
        std::uint64_t word = 0;
        std::memcpy(&word, key.data(), bytes);
        hash = (hash ^ word) * kGolden;
        hash ^= hash >> 32;
        key = key.subspan(bytes);
    }
    return static_cast<std::uint32_t>(hash * kGolden >> 32);
}

std::optional<std::uint32_t> KeyIndex::find(std::span<const std::byte> key) const {
    if (table_.empty()) return std::nullopt;
    const std::uint32_t hash = hash_of(key);
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
        const std::uint32_t slot = table_[at];
        if (slot == kEmpty) return std::nullopt;
        if (hashes_[slot] == hash &&
            std::memcmp(&keys_[slot * key_bytes_], key.data(), key_bytes_) == 0)
            return slot;
    }
}

std::size_t KeyIndex::place_of(std::uint32_t slot) const {
    std::size_t at = hashes_[slot] & mask();
    while (table_[at] != slot) at = (at + 1) & mask();
    return at;
}

void KeyIndex::put(std::uint32_t slot) {
    std::size_t at = hashes_[slot] & mask();
    while (table_[at] != kEmpty) at = (at + 1) & mask();
    table_[at] = slot;
}

// Keeps the load factor at or below 1/2, so that probe sequences are short.
void KeyIndex::grow() {
    if (2 * (size_ + 1) <= table_.size()) return;
    table_.assign(std::max<std::size_t>(16, table_.size() * 2), kEmpty);
    for (std::uint32_t slot = 0; slot < end(); ++slot)
        if (is_taken_[slot]) put(slot);
}

std::uint32_t KeyIndex::take_slot() {
    if (!free_.empty()) {
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        is_taken_[slot] = true;
        return slot;
    }
    keys_.resize(keys_.size() + key_bytes_);
    hashes_.push_back(0);
    is_taken_.push_back(true);
    return end() - 1;
}

std::uint32_t KeyIndex::insert(std::span<const std::byte> key) {
    grow();
    const std::uint32_t slot = take_slot();
    std::ranges::copy(key, keys_.begin() + static_cast<std::ptrdiff_t>(slot * key_bytes_));
    hashes_[slot] = hash_of(key);
    put(slot);
    ++size_;
    return slot;
}

std::uint32_t KeyIndex::move(std::uint32_t slot) {
    const std::size_t at = place_of(slot);
    const std::uint32_t taken = take_slot();
    std::copy_n(keys_.begin() + static_cast<std::ptrdiff_t>(slot * key_bytes_), key_bytes_,
                keys_.begin() + static_cast<std::ptrdiff_t>(taken * key_bytes_));
    hashes_[taken] = hashes_[slot];
    table_[at] = taken;
    is_taken_[slot] = false;
    free_.push_back(slot);
    return taken;
}

// Closes the gap: moves the following entries up unless their home position is behind the gap.
void KeyIndex::erase(std::uint32_t slot) {
    std::size_t gap = place_of(slot);
    for (std::size_t at = (gap + 1) & mask(); table_[at] != kEmpty; at = (at + 1) & mask()) {
        const std::size_t wanted = hashes_[table_[at]] & mask();
        if (((at - wanted) & mask()) < ((at - gap) & mask())) continue;
        table_[gap] = table_[at];
        gap = at;
    }
    table_[gap] = kEmpty;
    is_taken_[slot] = false;
    free_.push_back(slot);
    --size_;
}

}  // namespace gpufs
