#include "lang/adhoc/hist_times.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/program/power_bucket.h"

namespace gpufs {
namespace {

void put(const Member& member, const HistCell& cell, std::vector<std::byte>& key) {
    std::byte* const to = key.data() + member.offset;
    if (member.type.kind == ValueType::Kind::text)
        std::memcpy(to, cell.text.data(), std::min(cell.text.size(), member.type.bytes - 1));
    else
        std::memcpy(to, &cell.number, std::min(sizeof cell.number, member.type.bytes));
}

// The values are those of the layout's members; without any, there are no keys.
std::vector<std::byte> key_of(const Layout& layout, std::span<const HistCell> values) {
    std::vector<std::byte> key(layout.bytes);
    for (std::size_t i = 0; i < values.size(); ++i) put(layout.members.at(i), values[i], key);
    return key;
}

const Layout& latency_key(const LatencyHists& hists) {
    return hists.program.find_map(kLatencyMap)->key;
}

// What a handler kept, of names in this order: "max: 12  lat: 12  v0: cat". Fewer, where it is of
// another form.
std::vector<HistCell> kept_values(const std::vector<std::string>& notes,
                                  const std::vector<std::string>& names) {
    std::vector<HistCell> values;
    const auto note =
        std::ranges::find_if(notes, [](const std::string& one) { return one.starts_with("max:"); });
    if (note == notes.end()) return values;
    std::string_view rest = *note;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string name = cat("  ", names[i], ':');
        const auto from = rest.find(name);
        if (from == rest.npos) break;
        rest.remove_prefix(from + name.size());
        const auto end = i + 1 < names.size() ? rest.find(cat("  ", names[i + 1], ':')) : rest.npos;
        HistCell& value = values.emplace_back();
        value.text = trim(rest.substr(0, end));
        value.number = Scan(value.text).take_number<std::uint64_t>().value_or(0);
    }
    return values;
}

}  // namespace

std::vector<TimeBucket> time_buckets(const LatencyHists& hists, const HistListing& listing) {
    const MapDeclaration& map = *hists.program.find_map(kLatencyMap);
    const std::size_t keys = hists.by.size();
    std::vector<TimeBucket> buckets;
    for (const HistEntry& entry : listing.entries) {
        if (entry.keys.size() != keys + 1 || entry.values.size() != 2) continue;
        const HistCell& range = entry.keys.back();
        TimeBucket bucket{key_of(map.key, std::span(entry.keys).first(keys)),
                          power_bucket(map.aggregation.bucket_bits(), range.from / hists.unit_ns),
                          entry.values[0].number,
                          entry.values[1].number,
                          range.from,
                          range.to};
        // Of a single one the sum is the time.
        if (bucket.count == 1) bucket.least = bucket.most = bucket.total;
        buckets.push_back(std::move(bucket));
    }
    return buckets;
}

std::vector<TimeExtreme> time_extremes(const LatencyHists& hists, const HistListing& listing) {
    const std::size_t keys = hists.by.size();
    std::vector<TimeExtreme> extremes;
    for (const HistEntry& entry : listing.entries) {
        const std::vector<HistCell> kept = kept_values(entry.notes, {kHistTime});
        if (kept.empty() || entry.keys.size() < keys) continue;
        extremes.push_back(
            {key_of(latency_key(hists), std::span(entry.keys).first(keys)), kept[0].number});
    }
    return extremes;
}

std::optional<LongestPair> longest_pair(const LatencyHists& hists, const HistListing& listing) {
    std::vector<std::string> names = {kHistTime, kHistEnd};
    std::vector<std::size_t> places;  // of the key's members among them
    for (const LatencyHists::Column& column : hists.longest_by) {
        const auto known = std::ranges::find(names, column.field);
        places.push_back(static_cast<std::size_t>(known - names.begin()));
        if (known == names.end()) names.push_back(column.field);
    }
    for (const HistEntry& entry : listing.entries) {
        const std::vector<HistCell> kept = kept_values(entry.notes, names);
        if (kept.size() < names.size()) continue;
        std::vector<HistCell> values;
        values.reserve(places.size());
        for (const std::size_t place : places) values.push_back(kept[place]);
        return LongestPair{key_of(hists.program.find_map(kLongestMap)->key, values), kept[0].number,
                           kept[1].number};
    }
    return std::nullopt;
}

}  // namespace gpufs
