#include "engine/results/report_rows.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

#include "base/bytes.h"

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

Bytes grouped_key(const MapDeclaration& map, const Layout& layout, std::span<const std::byte> key) {
    Bytes made(layout.bytes);
    for (const Member& to : layout.members) {
        const Member* from = map.key.find(to.name);
        std::memcpy(made.data() + to.offset, key.data() + from->offset, to.type.bytes);
    }
    return made;
}

// Whether the members of the key, as they lie, are what is grouped by: the kernel's entries are the
// groups then. Where there are bytes between members, equal ones may be several of its keys.
bool is_whole_key(const MapDeclaration& map, const Layout& layout) {
    std::size_t bytes = 0;
    for (const Member& member : map.key.members) {
        if (member.type.kind == ValueType::Kind::file_path) return false;  // one path, several keys
        const Member* same = layout.find(member.name);
        if (!same || same->offset != member.offset) return false;
        bytes += member.type.bytes;
    }
    return bytes == map.key.bytes && bytes == layout.bytes;
}

MapEntries grouped(const MapDeclaration& map, const Layout& layout, const MapEntries& entries) {
    std::map<Bytes, std::size_t> places;
    MapEntries groups(layout.bytes, entries.word_count());
    for (const MapEntry& entry : entries) {
        const auto [place, is_new] =
            places.emplace(grouped_key(map, layout, entry.key), groups.size());
        if (is_new) groups.add(place->first);
        const std::size_t group = place->second;
        if (map.aggregation.kind != Kind::none)
            merge_words(map.aggregation, entry.words, groups.words(group));
        if (map.aggregation.is_histogram())
            merge_buckets(map.aggregation, entry.buckets, groups.buckets(group));
        if (!entry.values.empty()) {
            std::vector<Bytes>& values = groups.values(group);
            values.insert(values.end(), entry.values.begin(), entry.values.end());
        }
    }
    return groups;
}

// Gives the stacks of one text the bytes of the first of them. False if each has its own text. The
// addresses of a user stack are those of its process, and name nothing in another one.
bool unite_stacks(const Layout& shown, const MapDeclaration& map, MapEntries& entries,
                  const StackText& stack_text) {
    bool has_changed = false;
    const auto process = std::ranges::find(map.key.members, ValueType::Kind::process,
                                           [](const Member& member) { return member.type.kind; });
    const bool has_process =
        process != map.key.members.end() && shown.find(process->name) != nullptr;
    for (const Member& member : map.key.members) {
        if (!is_stack(member.type) || !shown.find(member.name)) continue;
        std::map<std::string, Bytes> first;  // by text
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto key = entries.key(i);
            const auto own = key.subspan(member.offset, member.type.bytes);
            std::string text = stack_text(member, key);
            if (has_process && member.type.kind == ValueType::Kind::user_stack)
                text.append(chars_of(key.subspan(process->offset, process->type.bytes)));
            const auto [same, is_new] = first.try_emplace(std::move(text), own.begin(), own.end());
            if (is_new || std::ranges::equal(own, same->second)) continue;
            std::ranges::copy(same->second, own.begin());
            has_changed = true;
        }
    }
    return has_changed;
}

bool is_compared_by_bytes(const ValueType& type) {
    return type.kind == ValueType::Kind::text || type.kind == ValueType::Kind::raw_bytes ||
           type.kind == ValueType::Kind::ip_address || type.bytes > sizeof(std::uint64_t);
}

// A word by which a member is ordered: whole numbers, and the first 8 bytes of the others.
std::uint64_t order_word(const Member& member, std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data() + member.offset;
    const ValueType& type = member.type;
    std::uint64_t word = 0;  // little-endian
    std::memcpy(&word, at, std::min(type.bytes, sizeof word));
    if (is_compared_by_bytes(type)) return __builtin_bswap64(word);
    if (!type.is_signed) return word;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(type.bytes);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << unused) >> unused) ^
           kSignBit;
}

std::strong_ordering compare_member(const Member& member, std::span<const std::byte> a,
                                    std::span<const std::byte> b) {
    if (!is_compared_by_bytes(member.type)) return order_word(member, a) <=> order_word(member, b);
    return std::memcmp(a.data() + member.offset, b.data() + member.offset, member.type.bytes) <=> 0;
}

std::strong_ordering compare_keys(const Layout& layout, std::span<const std::byte> a,
                                  std::span<const std::byte> b) {
    for (const Member& member : layout.members)
        if (const auto order = compare_member(member, a, b); order != 0) return order;
    return std::strong_ordering::equal;
}

// What entries are sorted by, as a word to compare.
std::uint64_t sort_word(const Aggregation& how, std::string_view column,
                        std::span<const std::uint64_t> words) {
    switch (how.kind) {
        case Kind::avg:
            if (column == "count") return words[0];
            return column == "sum" ? words[1] : mean_of(how, words);
        case Kind::stats:
            if (column == "count") return words[0];
            if (column == "avg" || (column.empty() && how.is_rate)) return mean_of(how, words);
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
          MapEntries& entries) {
    const Aggregation& how = map.aggregation;
    const bool by_key =
        how.kind == Kind::none || report.sort == "key" || (report.sort.empty() && map.is_array());
    const bool by_value = how.kind == Kind::none && report.sort == "value";
    const bool least_first = report.sort == "min" || (report.sort.empty() && how.kind == Kind::min);
    const bool is_signed = is_signed_column(how, report.sort);
    // The words to compare stand side by side, and entries are moved once.
    struct Place {
        std::uint64_t word, key;
        std::size_t at;
    };
    std::vector<Place> places;
    places.reserve(entries.size());
    const Member* first = layout.members.empty() || by_value ? nullptr : &layout.members.front();
    for (const MapEntry& entry : entries) {
        std::uint64_t word = by_key || by_value ? 0 : sort_word(how, report.sort, entry.words);
        if (is_signed) word ^= kSignBit;
        places.push_back(
            {least_first ? word : ~word, first ? order_word(*first, entry.key) : 0, places.size()});
    }
    std::ranges::sort(places, [&](const Place& x, const Place& y) {
        if (x.word != y.word) return x.word < y.word;
        if (x.key != y.key) return x.key < y.key;
        const MapEntry a = entries[x.at], b = entries[y.at];
        if (by_value) {
            for (const Member& member : map.value.members)
                if (const auto order = compare_member(member, a.values[0], b.values[0]); order != 0)
                    return order > 0;
        }
        if (const auto order = compare_keys(layout, a.key, b.key); order != 0) return order < 0;
        return x.at < y.at;
    });
    std::vector<std::size_t> order;
    order.reserve(places.size());
    for (const Place& place : places) order.push_back(place.at);
    entries.choose(order);
}

}  // namespace

ReportRows report_rows(const MapDeclaration& map, const Report& report, MapEntries entries,
                       const StackText& stack_text) {
    ReportRows rows{grouped_layout(map, report), std::move(entries)};
    const bool has_new_keys = stack_text && unite_stacks(rows.key, map, rows.entries, stack_text);
    const bool is_grouped = !report.by.empty() || report.is_total;
    if (has_new_keys || (is_grouped && !is_whole_key(map, rows.key)))
        rows.entries = grouped(map, rows.key, rows.entries);
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
        if (!holds_entries(map.type) || !map.loss.empty() || !map.tally.empty()) continue;
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
