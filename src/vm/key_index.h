#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpufs {

// Which of numbered slots holds a key: a hash table of keys of one size. Slots that were freed are
// given out again, the last one first. Looking up allocates nothing.
class KeyIndex {
public:
    explicit KeyIndex(std::size_t key_bytes) : key_bytes_(key_bytes) {}

    std::optional<std::uint32_t> find(std::span<const std::byte> key) const;
    // Takes a slot for a key that is not there.
    std::uint32_t insert(std::span<const std::byte> key);
    // Takes another slot for a key that is there; the one it had is free.
    std::uint32_t move(std::uint32_t slot);
    void erase(std::uint32_t slot);

    std::size_t size() const noexcept { return size_; }
    // One more than the highest slot that was ever taken.
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
    std::vector<std::uint32_t> table_;  // slots, kEmpty between; as many as a power of 2
    std::size_t size_ = 0;
    // By slot.
    std::vector<std::byte> keys_;
    std::vector<std::uint32_t> hashes_;
    std::vector<bool> is_taken_;
    std::vector<std::uint32_t> free_;
};

}  // namespace gpufs
