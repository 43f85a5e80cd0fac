#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpufs {

// A hash table from keys of one size to slot numbers. Freed slots are reused, last freed first.
// find() does not allocate.
class KeyIndex {
public:
    explicit KeyIndex(std::size_t key_bytes) : key_bytes_(key_bytes) {}

    std::optional<std::uint32_t> find(std::span<const std::byte> key) const;
    // Allocates a slot for a key, which must not be present.
    std::uint32_t insert(std::span<const std::byte> key);
    // Moves a key to a newly allocated slot, frees the old one, and returns the new one.
    std::uint32_t move(std::uint32_t slot);
    void erase(std::uint32_t slot);

    std::size_t size() const noexcept { return size_; }
    // One more than the highest slot ever allocated.
    std::uint32_t end() const noexcept { return static_cast<std::uint32_t>(hashes_.size()); }
    bool holds(std::uint32_t slot) const noexcept { return is_taken_[slot]; }
    std::span<const std::byte> key(std::uint32_t slot) const {
        return std::span(keys_).subspan(slot * key_bytes_, key_bytes_);
    }

private:
    static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
    static std::uint32_t hash_of(std::span<const std::byte> key);
    std::size_t mask() const { return table_.size() - 1; }
    std::size_t place_of(std::uint32_t slot) const;
    void put(std::uint32_t slot);
    void grow();
    std::uint32_t take_slot();

    std::size_t key_bytes_;
    std::vector<std::uint32_t>
        table_;  // open addressing; slots or kEmpty; its size is a power of 2
    std::size_t size_ = 0;
    // Indexed by slot:
    std::vector<std::byte> keys_;
    std::vector<std::uint32_t> hashes_;
    std::vector<bool> is_taken_;
    std::vector<std::uint32_t> free_;
};

}  // namespace gpufs
