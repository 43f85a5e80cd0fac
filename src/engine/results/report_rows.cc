#include "engine/results/report_rows.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;
using Bytes = std::vector<std::byte>;

// The chosen members of the key, laid out anew.
Layout grouped_layout(const MapDeclaration& map, const Report& report) {
    if (report.by.empty() && !report.is_total) return map.key;
    Layout layout;
    for (const std::string& name : report.by)
        if (const Member* member = map.key.find(name)) layout.add(name, member->type);
    return layout;
}

Bytes grouped_key(const MapDeclaration& map, const Layout& layout, const Bytes& key) {
    Bytes made(layout.bytes);
    for (const Member& to : layout.members) {
        const Member* from = map.key.find(to.name);
        std::memcpy(made.data() + to.offset, key.data() + from->offset, to.type.bytes);
    }
    return made;
}

void group(const MapDeclaration& map, const Layout& layout, std::vector<MapEntry>& entries) {
    std::map<Bytes, std::size_t> places;
    std::vector<MapEntry> groups;
    for (MapEntry& entry : entries) {
        Bytes key = grouped_key(map, layout, entry.key);
        const auto [place, is_new] = places.emplace(key, groups.size());
        if (is_new) {
            entry.key = std::move(key);
            groups.push_back(std::move(entry));
            continue;
        }
        MapEntry& into = groups[place->second];
        if (map.aggregation.kind != Kind::none)
            merge_words(map.aggregation, entry.words, into.words);
        if (map.aggregation.is_histogram())
            merge_buckets(map.aggregation, entry.buckets, into.buckets);
        for (Bytes& value : entry.values) into.values.push_back(std::move(value));
    }
    entries = std::move(groups);
}

std::strong_ordering compare_member(const Member& member, const Bytes& a, const Bytes& b) {
    const std::byte *x = a.data() + member.offset, *y = b.data() + member.offset;
    const ValueType& type = member.type;
    const bool is_bytes = type.kind == ValueType::Kind::text ||
                          type.kind == ValueType::Kind::raw_bytes ||
                          type.kind == ValueType::Kind::ip_address;
    if (is_bytes) return std::memcmp(x, y, type.bytes) <=> 0;
    std::uint64_t m = 0, n = 0;  // little-endian
    std::memcpy(&m, x, type.bytes);
    std::memcpy(&n, y, type.bytes);
    if (!type.is_signed) return m <=> n;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(type.bytes);
    return static_cast<std::int64_t>(m << unused) <=> static_cast<std::int64_t>(n << unused);
}

std::strong_ordering compare_keys(const Layout& layout, const Bytes& a, const Bytes& b) {
    for (const Member& member : layout.members)
        if (const auto order = compare_member(member, a, b); order != 0) return order;
    return std::strong_ordering::equal;
}

// What entries are sorted by, as a word to compare.
std::uint64_t sort_word(const Aggregation& how, std::string_view column,
                        const std::vector<std::uint64_t>& words) {
    switch (how.kind) {
        case Kind::avg:
            if (column == "count") return words[0];
            return column == "sum" ? words[1] : mean_of(how, words);
        case Kind::stats:
            if (column == "count") return words[0];
            if (column == "avg") return mean_of(how, words);
            if (column == "min") return words[2];
            return column == "max" ? words[3] : words[1];
        case Kind::log2:
        case Kind::log_linear:
        case Kind::linear:
            if (column == "sum") return words[1];
            if (column == "avg") return mean_of(how, words);
            if (column == "min") return words[2];
            return column == "max" ? words[3] : words[0];
        case Kind::count:
        case Kind::sum:
        case Kind::min:
        case Kind::max:
            return words[0];
        case Kind::none:
            break;
    }
    return 0;
}

// Numbers of values have no sign, whatever those have.
bool is_signed_column(const Aggregation& how, std::string_view column) {
    return how.is_signed && column != "count" && !(how.is_histogram() && column.empty());
}

void sort(const MapDeclaration& map, const Report& report, const Layout& layout,
          std::vector<MapEntry>& entries) {
    const Aggregation& how = map.aggregation;
    const bool by_key =
        how.kind == Kind::none || report.sort == "key" || (report.sort.empty() && map.is_array());
    const bool by_value = how.kind == Kind::none && report.sort == "value";
    const bool least_first = report.sort == "min" || (report.sort.empty() && how.kind == Kind::min);
    const bool is_signed = is_signed_column(how, report.sort);
    // The words to compare stand side by side, and entries are moved once.
    struct Place {
        std::uint64_t word;
        std::size_t at;
    };
    std::vector<Place> places;
    places.reserve(entries.size());
    constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
    for (const MapEntry& entry : entries) {
        std::uint64_t word = by_key || by_value ? 0 : sort_word(how, report.sort, entry.words);
        if (is_signed) word ^= kSignBit;
        places.push_back({least_first ? word : ~word, places.size()});
    }
    std::ranges::sort(places, [&](const Place& x, const Place& y) {
        if (x.word != y.word) return x.word < y.word;
        const MapEntry &a = entries[x.at], &b = entries[y.at];
        if (by_value && a.values != b.values) {
            for (const Member& member : map.value.members)
                if (const auto order = compare_member(member, a.values[0], b.values[0]); order != 0)
                    return order > 0;
        }
        if (const auto order = compare_keys(layout, a.key, b.key); order != 0) return order < 0;
        return x.at < y.at;
    });
    std::vector<MapEntry> sorted;
    sorted.reserve(entries.size());
    for (const Place& place : places) sorted.push_back(std::move(entries[place.at]));
    entries = std::move(sorted);
}

}  // namespace

ReportRows report_rows(const MapDeclaration& map, const Report& report,
                       std::vector<MapEntry> entries) {
    ReportRows rows{grouped_layout(map, report), std::move(entries)};
    if (!report.by.empty() || report.is_total) group(map, rows.key, rows.entries);
    sort(map, report, rows.key, rows.entries);
    return rows;
}

Report default_report(const MapDeclaration& map) {
    Report report;
    report.title = map.name;
    report.map = map.name;
    return report;
}

std::vector<const MapDeclaration*> reported_maps(const Program& program) {
    std::vector<const MapDeclaration*> maps;
    for (const MapDeclaration& map : program.maps) {
        const bool has_entries = map.type != BPF_MAP_TYPE_RINGBUF &&
                                 map.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
                                 map.type != BPF_MAP_TYPE_STACK_TRACE;
        if (!has_entries || !map.loss.empty() || !map.tally.empty()) continue;
        if (map.aggregation.kind == Kind::none &&
            std::ranges::find(program.reports, map.name, &Report::map) == program.reports.end())
            continue;
        maps.push_back(&map);
    }
    return maps;
}

std::vector<Report> reports_of(const Program& program, const MapDeclaration& map) {
    std::vector<Report> reports;
    std::ranges::copy_if(program.reports, std::back_inserter(reports),
                         [&](const Report& report) { return report.map == map.name; });
    if (reports.empty()) reports.push_back(default_report(map));
    return reports;
}

}  // namespace gpufs
