#include "gpufs/engine/map_contents.h"

#include <algorithm>
#include <cstring>

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

bool is_less(const Aggregation& how, std::uint64_t a, std::uint64_t b) {
    return how.is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

std::vector<std::uint64_t> words_of(std::span<const std::byte> bytes) {
    std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
    return words;
}

bool is_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

bool holds_entries(std::uint32_t type) {
    return type != BPF_MAP_TYPE_RINGBUF && type != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
           type != BPF_MAP_TYPE_STACK_TRACE;
}

}  // namespace

void merge_words(const Aggregation& how, const std::vector<std::uint64_t>& from,
                 std::vector<std::uint64_t>& into) {
    into.resize(std::max(into.size(), from.size()));
    const auto add = [&](std::size_t i) { into[i] += from[i]; };
    const auto keep = [&](std::size_t i, bool is_new, bool most) {
        const bool is_further =
            most ? is_less(how, into[i], from[i]) : is_less(how, from[i], into[i]);
        if (is_new || is_further) into[i] = from[i];
    };
    switch (how.kind) {
        case Kind::none:
            break;
        case Kind::min:
        case Kind::max:  // the extreme, and 1 once there is one
            if (from[1] == 0) break;
            keep(0, into[1] == 0, how.kind == Kind::max);
            into[1] = 1;
            break;
        case Kind::stats:  // count, total, least, most
            if (from[0] == 0) break;
            keep(2, into[0] == 0, false);
            keep(3, into[0] == 0, true);
            add(0);
            add(1);
            break;
        case Kind::count:
        case Kind::sum:
        case Kind::avg:
        case Kind::log2:
        case Kind::log_linear:
        case Kind::linear:
            for (std::size_t i = 0; i < from.size(); ++i) add(i);
    }
}

std::vector<MapEntry> read_map(const Monitor& monitor, std::string_view name) {
    std::vector<MapEntry> entries;
    const MapDeclaration* declared = monitor.program().find_map(name);
    const BpfMap* map = monitor.map(name);
    if (!declared || !map || !holds_entries(declared->type)) return entries;
    const bool is_array =
        declared->type == BPF_MAP_TYPE_ARRAY || declared->type == BPF_MAP_TYPE_PERCPU_ARRAY;
    const Aggregation& how = declared->aggregation;
    const std::size_t bytes = declared->value_bytes();
    map->for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        if (is_array && is_zero(value)) return;
        MapEntry entry;
        entry.key.assign(key.begin(), key.end());
        for (std::size_t at = 0; at + bytes <= value.size(); at += map->copy_bytes()) {
            const auto one = value.subspan(at, bytes);
            if (how.kind == Kind::none)
                entry.values.emplace_back(one.begin(), one.end());
            else
                merge_words(how, words_of(one), entry.words);
        }
        entries.push_back(std::move(entry));
    });
    if (how.kind != Kind::none)
        std::ranges::stable_sort(entries, [&](const MapEntry& a, const MapEntry& b) {
            return is_less(how, b.words[0], a.words[0]);
        });
    return entries;
}

}  // namespace gpufs
