#include "view/pictures/heat_panels.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/cat.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

// Those members of the key that have words, in the order of the first report.
std::vector<const Member*> kind_members(const MapDeclaration& map,
                                        std::span<const Report> reports) {
    std::vector<const Member*> members;
    const auto add = [&](const Member* member) {
        if (member && !member->type.words.empty()) members.push_back(member);
    };
    if (reports.empty() || reports.front().is_total) return members;
    for (const std::string& name : reports.front().by) add(map.key.find(name));
    if (reports.front().by.empty())
        for (const Member& member : map.key.members) add(&member);
    return members;
}

std::uint64_t number_in(std::span<const std::byte> key, const Member& member) {
    std::uint64_t number = 0;
    std::memcpy(&number, key.data() + member.offset, std::min(member.type.bytes, sizeof number));
    return number;
}

std::string words_in(const MapDeclaration& map, std::span<const Member* const> members,
                     std::span<const std::byte> key) {
    ValueWriter values;
    std::string words;
    for (const Member* member : members) {
        if (!words.empty()) words += ", ";
        values.text(words, plan_value(map.key, *member), key);
    }
    return words;
}

// What was counted between two samples; where the map was emptied, since then.
HeatMap::Counts added_since(const HeatMap::Counts& before, const HeatMap::Counts& now) {
    HeatMap::Counts added;
    for (const auto& [bucket, count] : now) {
        const auto old = before.find(bucket);
        const std::uint64_t had = old == before.end() ? 0 : old->second;
        if (const std::uint64_t more = count >= had ? count - had : count; more != 0)
            added[bucket] = more;
    }
    return added;
}

}  // namespace

HeatPanels::OfMap& HeatPanels::found(const MapDeclaration& map, std::span<const Report> reports,
                                     std::uint64_t from_ns) {
    const std::string unit =
        map.value.members.empty() ? std::string() : map.value.members[0].type.unit;
    auto known = std::ranges::find(maps_, map.name, &OfMap::name);
    if (known == maps_.end())
        known = maps_.insert(known, {map.name, map.name, unit, from_ns, {}, {}});
    if (!reports.empty()) known->title = reports.front().title;
    return *known;
}

// Kinds that are new get a picture.
HeatPanels::Counts HeatPanels::counts_of(const MapDeclaration& map, std::span<const Report> reports,
                                         const MapEntries& entries, OfMap& heats) {
    const std::vector<const Member*> members = kind_members(map, reports);
    Counts all;
    for (const MapEntry& entry : entries) {
        Kind kind;
        for (const Member* member : members) kind.push_back(number_in(entry.key, *member));
        if (!heats.kinds.contains(kind)) {
            OfKind made{words_in(map, members, entry.key), HeatMap(map.aggregation), {}};
            made.map.add(heats.begin_ns, heats.begin_ns, {});
            heats.kinds.emplace(kind, std::move(made));
        }
        HeatMap::Counts& counts = all[std::move(kind)];
        for (const HistogramBucket& bucket : entry.buckets) counts[bucket.number] += bucket.count;
    }
    return all;
}

void HeatPanels::add(const MapDeclaration& map, std::span<const Report> reports,
                     const MapEntries& entries, std::uint64_t from_ns, std::uint64_t to_ns) {
    OfMap& heats = found(map, reports, from_ns);
    Counts counts = counts_of(map, reports, entries, heats);
    for (auto& [kind, heat] : heats.kinds) heat.map.add(from_ns, to_ns, counts[kind]);
}

void HeatPanels::sample(const MapDeclaration& map, std::span<const Report> reports,
                        const MapEntries& entries, std::uint64_t now_ns) {
    OfMap& heats = found(map, reports, begin_ns_);
    const std::uint64_t from_ns = heats.sampled_ns.value_or(begin_ns_);
    Counts counts = counts_of(map, reports, entries, heats);
    for (auto& [kind, heat] : heats.kinds) {
        HeatMap::Counts& now = counts[kind];
        heat.map.add(from_ns, now_ns, added_since(heat.sampled, now));
        heat.sampled = std::move(now);
    }
    heats.sampled_ns = now_ns;
}

void HeatPanels::pass_time(std::uint64_t now_ns) {
    for (OfMap& heats : maps_)
        if (heats.sampled_ns) heats.sampled_ns = std::max(*heats.sampled_ns, now_ns);
}

bool HeatPanels::wants_sample(std::uint64_t now_ns) const {
    // All are sampled together.
    if (maps_.empty() || !maps_.front().sampled_ns) return true;
    std::uint64_t column_ns = 0;
    for (const auto& [kind, heat] : maps_.front().kinds)
        column_ns = std::max(column_ns, heat.map.column_ns());
    return now_ns - *maps_.front().sampled_ns >= column_ns / 4 * 3;
}

std::vector<HeatPanel> HeatPanels::panels() const {
    std::vector<HeatPanel> panels;
    for (const OfMap& heats : maps_)
        for (const auto& [kind, heat] : heats.kinds)
            if (!heat.map.is_empty())
                panels.push_back({cat(heats.title, heat.words.empty() ? "" : ": ", heat.words),
                                  heats.unit, heat.map});
    return panels;
}

}  // namespace gpufs
