#include "view/report/report_json.h"

#include <algorithm>
#include <iterator>

#include "base/cat.h"
#include "view/json.h"
#include "view/monitor/histogram.h"
#include "view/report/report_cells.h"

namespace gpufs {
namespace {

std::string object_of(const std::vector<ValuePlan>& plans, std::span<const std::byte> bytes,
                      ValueWriter& values) {
    JsonObject object;
    for (const ValuePlan& plan : plans) {
        std::string value;
        values.json(value, plan, bytes);
        object.raw(plan.name, value);
    }
    return object.done();
}

std::string entry_json(const MapDeclaration& map, const std::vector<ValuePlan>& key,
                       std::uint64_t during_ns, const MapEntry& entry, ValueWriter& values) {
    const Aggregation& how = map.aggregation;
    JsonObject row;
    row.raw("key", object_of(key, entry.key, values));
    for (const Fact& fact : facts_of(how, entry.words))
        row.raw(fact.name,
                fact.is_signed ? cat(static_cast<std::int64_t>(fact.word)) : cat(fact.word));
    if (const auto rate = rate_of(how, entry.words, during_ns)) row.raw("rate", rate_number(*rate));
    if (how.is_histogram())
        row.raw("percentiles", percentiles_json(how, entry.buckets))
            .raw("histogram", histogram_json(how, entry.buckets));
    JsonArray data;
    for (const auto& value : entry.values)
        data.add(object_of(plan_values(map.value), value, values));
    if (!entry.values.empty()) row.raw("values", data.done());
    return row.done();
}

}  // namespace

std::string report_json(const MapDeclaration& map, const Report& report, const ReportRows& rows,
                        ValueWriter& values) {
    const bool is_data = map.aggregation.kind == Aggregation::Kind::none;
    std::vector<ValuePlan> key = is_single(map) ? std::vector<ValuePlan>() : plan_values(rows.key);
    JsonArray entries;
    for (const MapEntry& entry : rows.entries)
        entries.add(entry_json(map, key, rows.during_ns, entry, values));
    JsonObject object;
    object.text("map", map.name).text("title", report.title);
    if (!is_data && !unit_of(map).empty())
        object.text("unit", cat(unit_of(map), map.aggregation.is_rate ? "/s" : ""));
    if (is_data) std::ranges::move(plan_values(map.value), std::back_inserter(key));
    if (const std::string units = units_json(key); !units.empty()) object.raw("units", units);
    object.raw("entries", entries.done());
    return object.done();
}

}  // namespace gpufs
