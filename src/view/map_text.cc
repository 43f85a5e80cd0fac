#include "gpufs/view/map_text.h"

#include "gpufs/view/histogram.h"
#include "gpufs/view/json.h"
#include "gpufs/view/value_text.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

struct Column {
    std::string name, value;
};

std::string number(const Aggregation& how, std::uint64_t word) {
    return how.is_signed ? cat(static_cast<std::int64_t>(word)) : cat(word);
}

std::string mean(const Aggregation& how, std::uint64_t count, std::uint64_t total) {
    if (count == 0) return "0";
    return how.is_signed ? cat(static_cast<std::int64_t>(total) / static_cast<std::int64_t>(count))
                         : cat(total / count);
}

// The bounds of a slot: [from, to). Signed as the bounds of `linear` are.
struct Slot {
    std::int64_t from = 0, to = 0;
};
Slot slot_of(const Aggregation& how, std::size_t i) {
    const auto n = static_cast<std::int64_t>(i);
    if (how.kind == Kind::linear) {
        const std::int64_t from = how.low + (n - 1) * how.step;
        return {from, from + how.step};
    }
    const std::int64_t each = std::int64_t{1} << how.sub_bits;
    if (n < each) return {n, n + 1};
    const std::int64_t power = n / each - 1;
    const std::int64_t from = (each + n % each) << power;
    return {from, from + (std::int64_t{1} << power)};
}

// The slots that count something, each a line.
std::vector<Column> slots(const Aggregation& how, const std::vector<std::uint64_t>& words) {
    std::vector<Column> rows;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == 0) continue;
        const bool is_linear = how.kind == Kind::linear;
        const Slot slot = slot_of(how, i);
        std::string bounds = cat('[', slot.from, ", ", slot.to, ')');
        if (is_linear && i == 0) bounds = cat("(-inf, ", how.low, ')');
        if (is_linear && i + 1 == words.size()) bounds = cat('[', slot.from, ", inf)");
        rows.push_back({std::move(bounds), cat(words[i])});
    }
    return rows;
}

bool is_histogram(const Aggregation& how) {
    return how.kind == Kind::log2 || how.kind == Kind::log_linear || how.kind == Kind::linear;
}

Log2Histogram log2_of(const std::vector<std::uint64_t>& words) {
    Log2Histogram histogram;
    for (std::size_t i = 0; i < words.size(); ++i) histogram.add_to_bucket(i, words[i]);
    return histogram;
}

// What one entry's words mean, where they are no histogram.
std::vector<Column> columns(const Aggregation& how, const std::vector<std::uint64_t>& words) {
    switch (how.kind) {
        case Kind::count:
            return {{"count", cat(words[0])}};
        case Kind::sum:
            return {{"sum", number(how, words[0])}};
        case Kind::min:
            return {{"min", number(how, words[0])}};
        case Kind::max:
            return {{"max", number(how, words[0])}};
        case Kind::avg:
            return {{"avg", mean(how, words[0], words[1])}, {"count", cat(words[0])}};
        case Kind::stats:
            return {{"count", cat(words[0])},
                    {"avg", mean(how, words[0], words[1])},
                    {"sum", number(how, words[1])},
                    {"min", number(how, words[2])},
                    {"max", number(how, words[3])}};
        default:
            return {};
    }
}

std::string unit_of(const MapDeclaration& map) {
    return map.value.members.empty() ? std::string() : map.value.members[0].type.unit;
}

std::string histogram_text(const MapDeclaration& map, const MapEntry& entry) {
    if (map.aggregation.kind == Kind::log2) return log2_of(entry.words).to_text(unit_of(map));
    std::string text;
    for (const Column& row : slots(map.aggregation, entry.words))
        text += cat(text.empty() ? "" : "\n", row.name, ' ', row.value);
    return text;
}

}  // namespace

std::string map_text(const MapDeclaration& map, std::span<const MapEntry> entries) {
    if (entries.empty()) return {};
    std::string text = cat(map.name, ":\n");
    for (const MapEntry& entry : entries) {
        const std::string key = values_text(map.key, entry.key);
        text += cat("  ", key);
        if (is_histogram(map.aggregation)) {
            text += cat('\n', histogram_text(map, entry), '\n');
            continue;
        }
        for (const Column& column : columns(map.aggregation, entry.words))
            text += cat(' ', column.name, '=', column.value);
        for (const auto& value : entry.values) text += cat(": ", values_text(map.value, value));
        text += '\n';
    }
    return text;
}

std::string map_json(const MapDeclaration& map, std::span<const MapEntry> entries) {
    JsonArray rows;
    for (const MapEntry& entry : entries) {
        JsonObject row;
        row.raw("key", values_json(map.key, entry.key));
        for (const Column& column : columns(map.aggregation, entry.words))
            row.raw(column.name, column.value);
        if (map.aggregation.kind == Kind::log2) {
            row.raw("histogram", log2_of(entry.words).to_json());
        } else if (is_histogram(map.aggregation)) {
            JsonArray histogram;
            for (const Column& slot : slots(map.aggregation, entry.words))
                histogram.add(
                    JsonObject().text("range", slot.name).raw("count", slot.value).done());
            row.raw("histogram", histogram.done());
        }
        JsonArray values;
        for (const auto& value : entry.values) values.add(values_json(map.value, value));
        if (!entry.values.empty()) row.raw("values", values.done());
        rows.add(row.done());
    }
    return JsonObject().text("map", map.name).raw("entries", rows.done()).done();
}

}  // namespace gpufs
