#include "engine/results/map_contents.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/sorted.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

bool is_less(const Aggregation& how, std::uint64_t a, std::uint64_t b) {
    return how.is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

// When it is full: others make room, or have all their elements from the beginning.
bool refuses_keys(const MapDeclaration& map) {
    return map.type == BPF_MAP_TYPE_HASH || map.type == BPF_MAP_TYPE_PERCPU_HASH;
}

// The words of a histogram from its buckets, whose order and number are any.
void complete_histogram(const Aggregation& how, MapEntries& entries, std::size_t i) {
    std::vector<HistogramBucket>& buckets = entries.buckets(i);
    std::vector<HistogramBucket> of_cpus = std::exchange(buckets, {});
    sort_stably(of_cpus, {}, &HistogramBucket::number);
    merge_buckets(how, of_cpus, buckets);
    const std::span<std::uint64_t> words = entries.words(i);
    std::ranges::fill(words, 0);
    for (const HistogramBucket& one : buckets)
        merge_words(how, std::array{one.count, one.total, one.least, one.most}, words);
}

// What was there before can be taken away from what is there now.
bool adds_up(const Aggregation& how) {
    return how.kind != Kind::none && how.kind != Kind::min && how.kind != Kind::max &&
           how.kind != Kind::stats;
}

// Makes numbers of the extremes. Where there is no value they are 0.
void decode(const Aggregation& how, std::span<std::uint64_t> words) {
    const bool is_extreme = how.kind == Kind::min || how.kind == Kind::max;
    const bool has_both = how.kind == Kind::stats || how.is_histogram();
    if ((is_extreme && words[1] == 0) || (has_both && words[0] == 0)) {
        std::ranges::fill(words, 0);
    } else if (is_extreme) {
        words[0] ^= extreme_mask(how.is_signed, how.kind == Kind::min);
    } else if (has_both) {
        words[2] ^= extreme_mask(how.is_signed, true);
        words[3] ^= extreme_mask(how.is_signed, false);
    }
}

constexpr std::size_t kMostWords = 4;  // of `stats`

std::size_t word_count_of(const MapDeclaration& map) {
    if (map.aggregation.kind == Kind::none) return 0;
    return map.aggregation.is_histogram() ? kMostWords : map.value_bytes() / sizeof(std::uint64_t);
}

}  // namespace

bool holds_entries(std::uint32_t type) {
    return type != BPF_MAP_TYPE_RINGBUF && type != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
           type != BPF_MAP_TYPE_STACK_TRACE;
}

std::vector<std::uint64_t> decoded_words(const Aggregation& how, std::span<const std::byte> value) {
    std::vector<std::uint64_t> words(value.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), value.data(), words.size() * sizeof(std::uint64_t));
    decode(how, words);
    return words;
}

bool is_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

bool is_stack(const ValueType& type) {
    return type.kind == ValueType::Kind::kernel_stack || type.kind == ValueType::Kind::user_stack;
}

void merge_words(const Aggregation& how, std::span<const std::uint64_t> from,
                 std::span<std::uint64_t> into) {
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
        case Kind::log2:
        case Kind::log_linear:
        case Kind::linear:
            if (from[0] == 0) break;
            keep(2, into[0] == 0, false);
            keep(3, into[0] == 0, true);
            add(0);
            add(1);
            break;
        case Kind::count:
        case Kind::sum:
        case Kind::avg:
            for (std::size_t i = 0; i < from.size(); ++i) add(i);
    }
}

void merge_buckets(const Aggregation& how, std::span<const HistogramBucket> from,
                   std::vector<HistogramBucket>& into) {
    std::vector<HistogramBucket> all;
    all.reserve(from.size() + into.size());
    std::ranges::merge(from, into, std::back_inserter(all), {}, &HistogramBucket::number,
                       &HistogramBucket::number);
    into.clear();
    for (const HistogramBucket& one : all) {
        if (into.empty() || into.back().number != one.number) {
            into.push_back(one);
            continue;
        }
        HistogramBucket& to = into.back();
        if (is_less(how, one.least, to.least)) to.least = one.least;
        if (is_less(how, to.most, one.most)) to.most = one.most;
        to.count += one.count;
        to.total += one.total;
    }
}

std::uint64_t count_of(const Aggregation& how, std::span<const std::uint64_t> words) {
    switch (how.kind) {
        case Kind::none:
            return 0;
        case Kind::count:
        case Kind::avg:
        case Kind::stats:
        case Kind::log2:
        case Kind::log_linear:
        case Kind::linear:
            return words[0];
        case Kind::sum:
            return 1;
        case Kind::min:
        case Kind::max:
            return words[1];
    }
    return 0;
}

std::uint64_t mean_of(const Aggregation& how, std::span<const std::uint64_t> words) {
    if (words[0] == 0) return 0;
    if (!how.is_signed) return words[1] / words[0];
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(words[1]) /
                                      static_cast<std::int64_t>(words[0]));
}

void MapReader::read_histograms(const MapDeclaration& declared, std::span<const std::byte> key,
                                std::span<const std::byte> value,
                                std::map<std::vector<std::byte>, std::size_t>& places,
                                MapEntries& entries) const {
    const std::vector<std::uint64_t> words = decoded_words(declared.aggregation, value);
    if (words[0] == 0) return;
    // Of one value, the total is the extremes, too: those may be of values that were cleared.
    const bool is_one = words[0] == 1;
    std::uint32_t number = 0;
    std::memcpy(&number, key.data() + (declared.is_array() ? 0 : declared.bucket_at()),
                sizeof number);
    std::vector<std::byte> own(key.begin(),
                               key.begin() + static_cast<std::ptrdiff_t>(declared.key.bytes));
    if (declared.is_array()) {
        const auto buckets = static_cast<std::uint32_t>(declared.aggregation.buckets());
        const auto index = static_cast<std::uint32_t>(number / buckets % declared.max_entries);
        number %= buckets;
        std::memcpy(own.data(), &index, sizeof index);
    } else {
        number >>= 16;  // without the CPU
    }
    const auto [place, is_new] = places.emplace(std::move(own), entries.size());
    if (is_new) entries.add(place->first);
    entries.buckets(place->second)
        .push_back({number, words[0], words[1], words[is_one ? 1 : 2], words[is_one ? 1 : 3]});
}

MapReader::Contents MapReader::contents(const MapDeclaration& declared, ProgramMap& map,
                                        Taking taking) const {
    Contents read;
    MapEntries& entries = read.entries;
    entries = MapEntries(declared.key.bytes, word_count_of(declared));
    const Aggregation& how = declared.aggregation;
    const std::size_t bytes = declared.value_bytes();
    // Memory that is not written to costs nothing; entries that move do.
    constexpr std::size_t kMostReserved = 1 << 18;
    if (!how.is_histogram() && !declared.is_array())
        entries.reserve(std::min<std::size_t>(map.spec().max_entries, kMostReserved));
    std::map<std::vector<std::byte>, std::size_t> places;  // of histograms
    const auto visit = [&](std::span<const std::byte> key, std::span<const std::byte> value) {
        ++read.places;
        if (declared.is_array() && is_zero(value)) return;
        if (declared.is_array() && taking == Taking::yes)
            read.elements.emplace_back(key.begin(), key.end());
        if (how.is_histogram()) return read_histograms(declared, key, value, places, entries);
        const std::size_t entry = entries.add(key);
        for (std::size_t at = 0; at + bytes <= value.size(); at += map.copy_bytes()) {
            const auto one = value.subspan(at, bytes);
            if (how.kind == Kind::none) {
                entries.values(entry).emplace_back(one.begin(), one.end());
                continue;
            }
            std::array<std::uint64_t, kMostWords> words;
            const std::span of_cpu = std::span(words).first(entries.word_count());
            std::memcpy(of_cpu.data(), one.data(), of_cpu.size_bytes());
            decode(how, of_cpu);
            merge_words(how, of_cpu, entries.words(entry));
        }
    };
    const auto cleared = cleared_.find(declared.name);
    if (taking == Taking::yes && !declared.is_array())
        map.take_each(visit);
    else if (cleared != cleared_.end())
        cleared->second.for_each(visit);
    else
        map.for_each(visit);
    if (how.is_histogram())
        for (std::size_t i = 0; i < entries.size(); ++i) complete_histogram(how, entries, i);
    return read;
}

// The first key that was met stands for the others of its path. Whoever shows the entries merges
// those of equal keys.
void MapReader::unite_file_paths(const MapDeclaration& declared, MapEntries& entries) const {
    for (const Member& member : declared.key.members) {
        if (member.type.kind != ValueType::Kind::file_path) continue;
        std::map<std::uint64_t, std::uint64_t> united;
        std::map<std::string, std::uint64_t> of_path;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            std::byte* const at = entries.key(i).data() + member.offset;
            std::uint64_t key = 0;
            std::memcpy(&key, at, sizeof key);
            const auto [known, is_new] = united.emplace(key, key);
            if (is_new)
                if (const auto path = file_path_in(running_, member.type.text_map, key))
                    known->second = of_path.emplace(*path, key).first->second;
            std::memcpy(at, &known->second, sizeof key);
        }
    }
}

MapEntries MapReader::read(std::string_view name) {
    const MapDeclaration* declared = running_.program().find_map(name);
    ProgramMap* map = running_.map(name);
    if (!declared || !map || !holds_entries(declared->type)) return {};
    MapEntries entries = current(*declared, *map).entries;
    unite_file_paths(*declared, entries);
    return entries;
}

MapReader::Contents MapReader::current(const MapDeclaration& declared, ProgramMap& map) {
    Contents read = contents(declared, map, Taking::no);
    if (keeps_) places_[declared.name] = read.places;
    return read;
}

MapEntries MapReader::take(std::string_view name) {
    const MapDeclaration* declared = running_.program().find_map(name);
    ProgramMap* map = running_.settled_map(name);
    if (!declared || !map || !holds_entries(declared->type)) return {};
    MapEntries entries = take_out(*declared, *map);
    unite_file_paths(*declared, entries);
    return entries;
}

void MapReader::clear(std::string_view name) {
    const MapDeclaration* declared = running_.program().find_map(name);
    ProgramMap* map = running_.map(name);
    if (!declared || !map || !holds_entries(declared->type)) return;
    const Aggregation& how = declared->aggregation;
    if (declared->is_array() && adds_up(how) && !running_.settled_map(name)) {
        const std::size_t words = how.is_histogram() ? 2 : word_count_of(*declared);
        cleared_.try_emplace(declared->name, *map, words).first->second.clear();
    } else {
        take_out(*declared, *map);
    }
}

MapEntries MapReader::take_out(const MapDeclaration& declared, ProgramMap& map) {
    Contents taken = contents(declared, map, Taking::yes);
    if (refuses_keys(declared) && taken.places >= map.spec().max_entries)
        full_when_taken_.insert(declared.name);
    const std::vector<std::byte> zeros(map.whole_value_bytes());
    for (const std::vector<std::byte>& element : taken.elements) map.update(element, zeros);
    return std::move(taken.entries);
}

std::vector<std::string> MapReader::full_maps() {
    std::set<std::string> full = full_when_taken_;
    for (const MapDeclaration& declared : running_.program().maps) {
        ProgramMap* map = running_.map(declared.name);
        if (!map || !refuses_keys(declared)) continue;
        const auto known = places_.find(declared.name);
        const std::size_t places =
            known == places_.end() ? current(declared, *map).places : known->second;
        if (places >= map->spec().max_entries) full.insert(declared.name);
    }
    return {full.begin(), full.end()};
}

std::uint64_t count_stack_collisions(const MapDeclaration& declared, const MapEntries& entries) {
    std::uint64_t all = 0;
    for (const Member& member : declared.key.members) {
        if (!is_stack(member.type)) continue;
        for (const MapEntry& entry : entries) {
            std::int32_t id = 0;
            std::memcpy(&id, entry.key.data() + member.offset, sizeof id);
            if (id == -EEXIST)
                all += std::max<std::uint64_t>(1, count_of(declared.aggregation, entry.words));
        }
    }
    return all;
}

}  // namespace gpufs
