#include "engine/results/map_entries.h"

#include <algorithm>
#include <utility>

namespace gpufs {
namespace {

template <class T>
std::span<const T> part_of(const std::vector<std::vector<T>>& all, std::size_t i) {
    return i < all.size() ? std::span<const T>(all[i]) : std::span<const T>();
}

template <class T>
std::vector<T>& part_in(std::vector<std::vector<T>>& all, std::size_t i) {
    if (i >= all.size()) all.resize(i + 1);
    return all[i];
}

template <class T>
std::vector<T> chosen(const std::vector<T>& all, std::size_t length,
                      std::span<const std::size_t> places) {
    std::vector<T> made;
    made.reserve(places.size() * length);
    for (const std::size_t place : places) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(place * length);
        made.insert(made.end(), from, from + static_cast<std::ptrdiff_t>(length));
    }
    return made;
}

template <class T>
std::vector<std::vector<T>> chosen_parts(std::vector<std::vector<T>> all,
                                         std::span<const std::size_t> places) {
    std::vector<std::vector<T>> made;
    if (all.empty()) return made;
    made.reserve(places.size());
    for (const std::size_t place : places) made.push_back(std::move(part_in(all, place)));
    return made;
}

}  // namespace

MapEntry MapEntries::operator[](std::size_t i) const {
    return {std::span(keys_).subspan(i * key_bytes_, key_bytes_),
            std::span(words_).subspan(i * word_count_, word_count_), part_of(buckets_, i),
            part_of(values_, i)};
}

void MapEntries::reserve(std::size_t entries) {
    keys_.reserve(entries * key_bytes_);
    words_.reserve(entries * word_count_);
}

std::size_t MapEntries::add(std::span<const std::byte> key) {
    keys_.insert(keys_.end(), key.begin(), key.begin() + static_cast<std::ptrdiff_t>(key_bytes_));
    words_.resize(words_.size() + word_count_);
    return size_++;
}

std::span<std::byte> MapEntries::key(std::size_t i) {
    return std::span(keys_).subspan(i * key_bytes_, key_bytes_);
}

std::span<std::uint64_t> MapEntries::words(std::size_t i) {
    return std::span(words_).subspan(i * word_count_, word_count_);
}

std::vector<HistogramBucket>& MapEntries::buckets(std::size_t i) {
    return part_in(buckets_, i);
}

std::vector<std::vector<std::byte>>& MapEntries::values(std::size_t i) {
    return part_in(values_, i);
}

void MapEntries::choose(std::span<const std::size_t> places) {
    keys_ = chosen(keys_, key_bytes_, places);
    words_ = chosen(words_, word_count_, places);
    buckets_ = chosen_parts(std::move(buckets_), places);
    values_ = chosen_parts(std::move(values_), places);
    size_ = places.size();
}

void MapEntries::truncate(std::size_t entries) {
    if (entries >= size_) return;
    size_ = entries;
    keys_.resize(size_ * key_bytes_);
    words_.resize(size_ * word_count_);
    buckets_.resize(std::min(buckets_.size(), size_));
    values_.resize(std::min(values_.size(), size_));
}

}  // namespace gpufs
