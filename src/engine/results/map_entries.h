#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace gpufs {

// What one bucket of a histogram holds: `least` and `most` are of values that came. Words of
// signed histograms have a sign.
struct HistogramBucket {
    std::uint32_t number = 0;  // 0 to Aggregation::buckets() - 1
    std::uint64_t count = 0, total = 0, least = 0, most = 0;

    bool operator==(const HistogramBucket&) const = default;
};

// One entry of a map, all CPUs together, as it lies in MapEntries.
struct MapEntry {
    std::span<const std::byte> key;
    // An aggregation's words, as Aggregation says: added up, or the least, or the most. Of a
    // histogram those of `stats`, of all its buckets.
    std::span<const std::uint64_t> words;
    // Of a histogram: those in use, by number.
    std::span<const HistogramBucket> buckets;
    // Of a map that keeps data: one value, or one a CPU.
    std::span<const std::vector<std::byte>> values;
};

// Entries of one map. Its keys have one length, and so have its words: they lie side by side, since
// memory costs more to touch for the first time than all that is done with it.
class MapEntries {
public:
    class Iterator {
    public:
        using value_type = MapEntry;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        Iterator(const MapEntries& of, std::size_t at) : of_(&of), at_(at) {}
        MapEntry operator*() const { return (*of_)[at_]; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        Iterator operator++(int) { return {*of_, at_++}; }
        bool operator==(const Iterator&) const = default;

    private:
        const MapEntries* of_ = nullptr;
        std::size_t at_ = 0;
    };

    MapEntries() = default;
    MapEntries(std::size_t key_bytes, std::size_t word_count)
        : key_bytes_(key_bytes), word_count_(word_count) {}

    std::size_t key_bytes() const { return key_bytes_; }
    std::size_t word_count() const { return word_count_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    MapEntry operator[](std::size_t i) const;
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size_}; }

    void reserve(std::size_t entries);
    // The new entry's place; its words are 0.
    std::size_t add(std::span<const std::byte> key);
    std::span<std::byte> key(std::size_t i);
    std::span<std::uint64_t> words(std::size_t i);
    std::vector<HistogramBucket>& buckets(std::size_t i);
    std::vector<std::vector<std::byte>>& values(std::size_t i);

    // Leaves the entries of these places, in this order. None may be there twice.
    void choose(std::span<const std::size_t> places);
    // Leaves the first ones.
    void truncate(std::size_t entries);

private:
    std::size_t key_bytes_ = 0, word_count_ = 0, size_ = 0;
    std::vector<std::byte> keys_;
    std::vector<std::uint64_t> words_;
    // As long as the last entry that has any.
    std::vector<std::vector<HistogramBucket>> buckets_;
    std::vector<std::vector<std::vector<std::byte>>> values_;
};

}  // namespace gpufs
