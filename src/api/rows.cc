#include "api/rows.h"

#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/suggest.h"
#include "view/report/report_cells.h"

namespace gpufs::api {
namespace {

bool is_plain_number(const ValueType& type) {
    using enum ValueType::Kind;
    return (type.kind == integer && type.words.empty()) || type.kind == time ||
           type.kind == process;
}

Value value_of(ValueWriter& values, const ValuePlan& plan, std::span<const std::byte> bytes) {
    if (plan.is_stack()) return values.frames(plan, bytes);
    if (is_plain_number(plan.type)) {
        const std::uint64_t number = integer_at(plan, bytes);
        if (plan.type.is_signed) return static_cast<std::int64_t>(number);
        return number;
    }
    std::string text;
    values.text(text, plan, bytes);
    return text;
}

Members members_of(const Layout& layout, std::span<const std::byte> bytes, ValueWriter& values,
                   std::string_view skip = {}) {
    Members members;
    for (const ValuePlan& plan : plan_values(layout, skip))
        members.emplace_back(plan.name, value_of(values, plan, bytes));
    return members;
}

std::int64_t number(std::uint64_t word) {
    return static_cast<std::int64_t>(word);
}

void take_words(const Aggregation& how, std::span<const std::uint64_t> words, Row& row) {
    using enum Aggregation::Kind;
    switch (how.kind) {
        case none:
            return;
        case count:
            row.count = words[0];
            return;
        case sum:
            row.sum = number(words[0]);
            return;
        case min:
            row.min = number(words[0]);
            return;
        case max:
            row.max = number(words[0]);
            return;
        case avg:
            row.count = words[0];
            row.sum = number(words[1]);
            return;
        case stats:
        case log2:
        case log_linear:
        case linear:
            row.count = words[0];
            row.sum = number(words[1]);
            row.min = number(words[2]);
            row.max = number(words[3]);
            return;
    }
}

const MapDeclaration& require_map(const gpufs::Program& program, const std::string& name) {
    std::vector<std::string> names;
    for (const MapDeclaration* map : reported_maps(program)) {
        if (map->name == name) return *map;
        names.push_back(map->name);
    }
    throw UsageError(cat(program.name, " reports no map '", name, "'"), did_you_mean(name, names));
}

}  // namespace

std::vector<Row> rows_of(const RunningProgram& running, const std::string& map,
                         ValueWriter& values) {
    const MapDeclaration& declared = require_map(running.program(), map);
    const Report report = reports_of(running.program(), declared).front();
    MapReader reader(running);
    const ReportRows found = shown_rows(declared, report, reader.read(map), values);
    std::vector<Row> rows;
    for (const MapEntry& entry : found.entries) {
        Row& row = rows.emplace_back();
        row.key = members_of(found.key, entry.key, values);
        take_words(declared.aggregation, entry.words, row);
        for (const HistogramBucket& bucket : entry.buckets)
            row.histogram.push_back({number(bucket.least), number(bucket.most), bucket.count});
        for (const std::vector<std::byte>& value : entry.values)
            row.data.push_back(members_of(declared.value, value, values));
    }
    return rows;
}

VisitRecord visit_with(const OnRecord& on_record, ValueWriter& values) {
    return [&](const RecordLayout& layout, std::span<const std::byte> bytes) {
        if (on_record && !layout.is_for_freeze())
            on_record({layout.name, members_of(layout.layout, bytes, values, "id")});
    };
}

std::vector<Loss> losses_of(const LossLedger& losses) {
    std::vector<Loss> missing;
    for (const auto& [what, loss] : losses.kinds())
        if (!loss.is_zero()) missing.push_back({what, loss.least, loss.most});
    return missing;
}

std::vector<Loss> losses_of(const RunningProgram& running, LossLedger known) {
    MapReader maps(running);
    return losses_of(read_losses(std::move(known), running, maps));
}

}  // namespace gpufs::api
