#include "view/monitor/report_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>

#include "base/cat.h"
#include "base/text.h"
#include "view/json.h"
#include "view/marks.h"
#include "view/monitor/folded.h"
#include "view/monitor/histogram.h"
#include "view/monitor/histogram_scale.h"
#include "view/monitor/stack_tree.h"
#include "view/table.h"

namespace gpufs {
namespace {

using Aggregate = Aggregation::Kind;
using Words = std::span<const std::uint64_t>;

constexpr std::uint64_t kNoWords[4] = {};

// One thing that an aggregation knows.
struct Fact {
    std::string_view name;
    std::uint64_t word = 0;
    bool is_signed = false;
    bool has_unit = false;
};

// At most five, without memory of their own: there is one for each key.
class Facts {
public:
    Facts(std::initializer_list<Fact> facts) : size_(facts.size()) {
        std::ranges::copy(facts, facts_.begin());
    }
    const Fact* begin() const { return facts_.data(); }
    const Fact* end() const { return facts_.data() + size_; }
    std::size_t size() const { return size_; }

private:
    std::array<Fact, 5> facts_{};
    std::size_t size_;
};

Facts facts_of(const Aggregation& how, Words words) {
    const bool is_signed = how.is_signed;
    switch (how.kind) {
        case Aggregate::count:
            return {{"count", words[0], false, false}};
        case Aggregate::sum:
            return {{"sum", words[0], is_signed, true}};
        case Aggregate::min:
            return {{"min", words[0], is_signed, true}};
        case Aggregate::max:
            return {{"max", words[0], is_signed, true}};
        case Aggregate::avg:
            return {{"count", words[0], false, false},
                    {"avg", mean_of(how, words), is_signed, true}};
        case Aggregate::stats:
        case Aggregate::log2:
        case Aggregate::log_linear:
        case Aggregate::linear:
            return {{"count", words[0], false, false},
                    {"sum", words[1], is_signed, true},
                    {"avg", mean_of(how, words), is_signed, true},
                    {"min", words[2], is_signed, true},
                    {"max", words[3], is_signed, true}};
        case Aggregate::none:
            break;
    }
    return {};
}

std::string_view unit_of(const MapDeclaration& map) {
    return map.value.members.empty() ? std::string_view() : map.value.members[0].type.unit;
}

std::string fact_text(const MapDeclaration& map, const Fact& fact) {
    return quantity_text(fact.word, fact.is_signed, fact.has_unit ? unit_of(map) : "");
}

// How much it is each second; absent where that is not known, and where an aggregation is not one
// that grows.
std::optional<double> rate_of(const Aggregation& how, Words words, std::uint64_t during_ns) {
    const bool grows =
        how.kind == Aggregate::count || (how.kind == Aggregate::sum && !how.is_signed);
    if (!grows || during_ns == 0) return std::nullopt;
    return static_cast<double>(words[0]) * 1e9 / static_cast<double>(during_ns);
}

std::string decimal(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", number);
    return text;
}

// "12.5/s", "3.4M/s"
std::string rate_text(const MapDeclaration& map, double rate) {
    const bool is_plain = map.aggregation.kind == Aggregate::count || unit_of(map).empty();
    return cat(is_plain ? decimal(rate)
                        : quantity_text(static_cast<std::uint64_t>(rate), false, unit_of(map)),
               "/s");
}

// A map of one element: its key says nothing.
bool is_single(const MapDeclaration& map) {
    return map.is_array() && map.max_entries == 1;
}

// The key's members: those for columns, the stacks, and what stands on them: functions that a map
// has names for are those of GPUs, which the stack's innermost function launched.
struct KeyPlans {
    std::vector<ValuePlan> columns, stacks, launched;

    KeyPlans(const MapDeclaration& map, const Layout& key) {
        if (is_single(map)) return;
        const bool is_stacked = has_stacks(key);
        for (ValuePlan& plan : plan_values(key)) {
            const bool is_launched = is_stacked && !plan.type.text_map.empty();
            (plan.is_stack() ? stacks
             : is_launched   ? launched
                             : columns)
                .push_back(std::move(plan));
        }
    }
};

Table::Align align_of(const ValuePlan& plan) {
    return plan.is_number() ? Table::Align::right : Table::Align::left;
}

void append_value(std::string& out, const ValuePlan& plan, std::span<const std::byte> bytes,
                  ValueWriter& values) {
    if (plan.type.unit.empty())
        values.text(out, plan, bytes);
    else
        out += quantity_text(integer_at(plan, bytes), plan.type.is_signed, plan.type.unit);
}

std::string value_text(const ValuePlan& plan, std::span<const std::byte> bytes,
                       ValueWriter& values) {
    std::string text;
    append_value(text, plan, bytes, values);
    return text;
}

// The frames of all stacks of a key, the outermost first: the process's, then the kernel's.
std::vector<StackFrame> stack_of(const KeyPlans& plans, std::span<const std::byte> key,
                                 ValueWriter& values) {
    std::vector<StackFrame> frames;
    const auto add = [&](const ValuePlan& plan) {
        const bool is_kernel = plan.type.kind == ValueType::Kind::kernel_stack;
        std::vector<std::string> part = values.frames(plan, key);
        std::ranges::reverse(part);
        for (const std::string& frame : part)
            frames.push_back({values.shown(frame),
                              is_kernel ? kernel_frame_kind(frame) : user_frame_kind(frame)});
    };
    for (const ValueType::Kind kind :
         {ValueType::Kind::user_stack, ValueType::Kind::kernel_stack}) {
        for (const ValuePlan& plan : plans.stacks) {
            // Often there is only one of the two; that says enough.
            const bool is_none = static_cast<std::int64_t>(integer_at(plan, key)) < 0;
            if (plan.type.kind == kind && !(is_none && plans.stacks.size() > 1)) add(plan);
        }
    }
    if (frames.empty()) add(plans.stacks.front());
    for (const ValuePlan& plan : plans.launched)
        frames.push_back({value_text(plan, key, values), FrameKind::gpu});
    return frames;
}

std::vector<std::string> frames_of(const KeyPlans& plans, std::span<const std::byte> key,
                                   ValueWriter& values) {
    std::vector<std::string> names;
    for (StackFrame& frame : stack_of(plans, key, values)) names.push_back(std::move(frame.name));
    return names;
}

// What a stack weighs in a tree: the sum where there is one that only grows, else the count.
bool weighs_sum(const Aggregation& how) {
    return !how.is_signed && (how.kind == Aggregate::sum || how.kind == Aggregate::avg ||
                              how.kind == Aggregate::stats);
}
std::uint64_t weight_of(const Aggregation& how, Words words) {
    if (!weighs_sum(how)) return count_of(how, words);
    return how.kind == Aggregate::sum ? words[0] : words[1];
}

std::vector<std::string> key_cells(const KeyPlans& plans, std::span<const std::byte> key,
                                   ValueWriter& values) {
    std::vector<std::string> cells;
    for (const ValuePlan& plan : plans.columns) cells.push_back(value_text(plan, key, values));
    return cells;
}

std::vector<Table::Column> key_columns(const KeyPlans& plans) {
    std::vector<Table::Column> columns;
    for (const ValuePlan& plan : plans.columns)
        columns.push_back({upper_case(plan.name), align_of(plan)});
    return columns;
}

std::vector<Table::Column> fact_columns(const Aggregation& how, std::vector<Table::Column> before) {
    for (const Fact& fact : facts_of(how, kNoWords)) before.push_back({upper_case(fact.name)});
    return before;
}

using TrendTexts = std::span<const std::string>;  // one a row, or none

std::string table_of_facts(const MapDeclaration& map, const ReportRows& rows, const KeyPlans& plans,
                           ValueWriter& values, const Screen& screen, TrendTexts trends) {
    std::vector<Table::Column> columns = fact_columns(map.aggregation, key_columns(plans));
    if (rate_of(map.aggregation, kNoWords, rows.during_ns)) columns.push_back({"RATE"});
    if (!trends.empty()) columns.push_back({"TREND"});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
        const MapEntry& entry = rows.entries[i];
        for (const ValuePlan& plan : plans.columns) {
            append_value(table.text(), plan, entry.key, values);
            table.end_cell();
        }
        for (const Fact& fact : facts_of(map.aggregation, entry.words)) {
            table.text() += fact_text(map, fact);
            table.end_cell();
        }
        if (const auto rate = rate_of(map.aggregation, entry.words, rows.during_ns)) {
            table.text() += rate_text(map, *rate);
            table.end_cell();
        }
        if (!trends.empty()) {
            table.text() += trends[i];
            table.end_cell();
        }
    }
    return table.to_text(screen);
}

// The histograms of all rows as sparklines on one scale, and a line that tells it.
struct Shapes {
    std::vector<std::string> rows;
    std::string scale;
};

Shapes shapes_of(const MapDeclaration& map, const ReportRows& rows, Plot plot) {
    constexpr std::size_t kMostMarks = 16;
    if (plot == Plot::none) return {};
    HistogramScale scale(map.aggregation, kMostMarks);
    for (const MapEntry& entry : rows.entries)
        for (const HistogramBucket& bucket : entry.buckets) scale.widen(bucket.number);
    Shapes shapes;
    for (const MapEntry& entry : rows.entries) {
        std::vector<double> counts(scale.size());
        for (const HistogramBucket& bucket : entry.buckets)
            counts[scale.step_of(bucket.number)] += static_cast<double>(bucket.count);
        shapes.rows.push_back(sparkline(counts, plot));
    }
    shapes.scale = cat("SHAPE is from ", scale.range_text(unit_of(map)), '\n');
    return shapes;
}

std::string table_of_percentiles(const MapDeclaration& map, const ReportRows& rows,
                                 const KeyPlans& plans, ValueWriter& values, const Screen& screen,
                                 TrendTexts trends, std::span<const std::string_view> left_out) {
    const Aggregation& how = map.aggregation;
    const auto is_shown = [&](std::string_view name) {
        return std::ranges::find(left_out, name) == left_out.end();
    };
    const Shapes shapes = shapes_of(map, rows, screen.plot);
    std::vector<Table::Column> columns = key_columns(plans);
    columns.push_back({"COUNT"});
    for (const auto& [name, value] : percentiles(how, {}, {}, ""))
        if (is_shown(name)) columns.push_back({upper_case(name)});
    if (!shapes.rows.empty()) columns.push_back({"SHAPE", Table::Align::left});
    if (!trends.empty()) columns.push_back({"TREND"});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
        const MapEntry& entry = rows.entries[i];
        std::vector<std::string> cells = key_cells(plans, entry.key, values);
        cells.push_back(cat(count_of(how, entry.words)));
        for (auto& [name, value] : percentiles(how, entry.words, entry.buckets, unit_of(map)))
            if (is_shown(name)) cells.push_back(std::move(value));
        if (!shapes.rows.empty()) cells.push_back(shapes.rows[i]);
        if (!trends.empty()) cells.push_back(trends[i]);
        table.add(cells);
    }
    return table.to_text(screen) + shapes.scale;
}

// A row for each histogram. The least says little, and there is room for eight columns; where marks
// stand beside them, for less.
std::string table_of_percentiles(const MapDeclaration& map, const ReportRows& rows,
                                 const KeyPlans& plans, ValueWriter& values, const Screen& screen,
                                 TrendTexts trends) {
    constexpr std::string_view kLeftOut[] = {"min", "p99.9", "p95", "avg"};
    const auto text = [&](std::size_t left_out, const Screen& size) {
        return table_of_percentiles(map, rows, plans, values, size, trends,
                                    std::span(kLeftOut).first(left_out));
    };
    const bool has_marks = screen.plot != Plot::none || !trends.empty();
    if (!has_marks || screen.columns == 0) return text(1, screen);
    for (std::size_t left_out = 1; left_out < std::size(kLeftOut); ++left_out) {
        const std::string whole = text(left_out, {0, 0, screen.plot});
        if (columns_of(whole.substr(0, whole.find('\n'))) <= screen.columns) return whole;
    }
    return text(std::size(kLeftOut), screen);
}

// A row for all stacks of one key, and below it their tree.
std::string table_of_stacks(const MapDeclaration& map, const ReportRows& rows,
                            const KeyPlans& plans, ValueWriter& values, const Screen& screen) {
    struct Group {
        std::vector<std::string> cells;
        std::vector<std::uint64_t> words;
        StackTree tree;
    };
    std::vector<Group> groups;
    std::map<std::vector<std::string>, std::size_t> places;
    for (const MapEntry& entry : rows.entries) {
        std::vector<std::string> cells = key_cells(plans, entry.key, values);
        const auto [place, is_new] = places.emplace(cells, groups.size());
        if (is_new)
            groups.push_back(
                {std::move(cells), std::vector<std::uint64_t>(entry.words.size()), {}});
        Group& group = groups[place->second];
        merge_words(map.aggregation, entry.words, group.words);
        group.tree.add(frames_of(plans, entry.key, values),
                       weight_of(map.aggregation, entry.words));
    }
    std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
        return weight_of(map.aggregation, a.words) > weight_of(map.aggregation, b.words);
    });
    Table table(fact_columns(map.aggregation, key_columns(plans)));
    for (Group& group : groups) {
        for (const Fact& fact : facts_of(map.aggregation, group.words))
            group.cells.push_back(fact_text(map, fact));
        table.add(group.cells);
        table.add_below(group.tree.to_text(stack_unit(map), screen));
    }
    return table.to_text(screen);
}

// Maps that keep data: a row a value, and where there are several, by CPU.
std::string table_of_data(const MapDeclaration& map, const ReportRows& rows, const KeyPlans& plans,
                          ValueWriter& values, const Screen& screen) {
    const std::vector<ValuePlan> members = plan_values(map.value);
    const bool has_cpus = std::ranges::any_of(
        rows.entries, [](const MapEntry& entry) { return entry.values.size() > 1; });
    std::vector<Table::Column> columns = key_columns(plans);
    if (has_cpus) columns.push_back({"CPU"});
    for (const ValuePlan& plan : members)
        columns.push_back({upper_case(plan.name), align_of(plan)});
    Table table(std::move(columns));
    for (const MapEntry& entry : rows.entries) {
        for (std::size_t cpu = 0; cpu < entry.values.size(); ++cpu) {
            std::vector<std::string> cells = key_cells(plans, entry.key, values);
            if (has_cpus) cells.push_back(cat(cpu));
            for (const ValuePlan& plan : members)
                cells.push_back(value_text(plan, entry.values[cpu], values));
            table.add(cells);
        }
    }
    return table.to_text(screen);
}

// "comm bash, cpu 3"; of a lone member just the value.
std::string key_line(const KeyPlans& plans, std::span<const std::byte> key, ValueWriter& values) {
    std::string line;
    for (const ValuePlan& plan : plans.columns) {
        if (!line.empty()) line += ", ";
        if (plans.columns.size() > 1) line += cat(plan.name, ' ');
        line += value_text(plan, key, values);
    }
    if (!line.empty()) line += ':';
    return line;
}

std::string histograms(const MapDeclaration& map, const ReportRows& rows, const KeyPlans& plans,
                       ValueWriter& values, const Screen& screen) {
    std::string text;
    for (const MapEntry& entry : rows.entries) {
        if (!text.empty()) text += '\n';
        const std::string key = key_line(plans, entry.key, values);
        if (!key.empty()) text += cat(key, '\n');
        if (!plans.stacks.empty())
            for (const std::string& frame : frames_of(plans, entry.key, values))
                text += cat("        ", frame, '\n');
        text += histogram_text(map.aggregation, entry.buckets, unit_of(map), screen);
        text += percentiles_text(map.aggregation, entry.words, entry.buckets, unit_of(map)) + '\n';
    }
    return text;
}

// "n: 15", "n: 15, 7.5/s", "waits: count 2, avg 5"
std::string single_line(const MapDeclaration& map, const Report& report, const MapEntry& entry,
                        std::uint64_t during_ns, TrendTexts trends) {
    const std::string trend = trends.empty() ? std::string() : cat("  ", trends.front());
    const Facts facts = facts_of(map.aggregation, entry.words);
    const auto rate = rate_of(map.aggregation, entry.words, during_ns);
    if (facts.size() == 1)
        return cat(report.title, ": ", fact_text(map, *facts.begin()),
                   rate ? cat(", ", rate_text(map, *rate)) : "", trend, '\n');
    std::string text;
    for (const Fact& fact : facts)
        text += cat(text.empty() ? "" : ", ", fact.name, ' ', fact_text(map, fact));
    return cat(report.title, ": ", text, trend, '\n');
}

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
    if (const auto rate = rate_of(how, entry.words, during_ns)) row.raw("rate", decimal(*rate));
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

bool has_stacks(const Layout& layout) {
    return std::ranges::any_of(plan_values(layout), &ValuePlan::is_stack);
}

bool has_stacks(const Program& program) {
    return std::ranges::any_of(program.maps,
                               [](const MapDeclaration& map) { return has_stacks(map.key); });
}

std::string report_text(const MapDeclaration& map, const Report& report, ReportRows rows,
                        ValueWriter& values, const Screen& screen,
                        std::span<const std::string> trends) {
    if (rows.entries.empty()) return {};
    std::size_t left_out = 0;
    if (report.top != 0 && rows.entries.size() > report.top) {
        left_out = rows.entries.size() - report.top;
        rows.entries.truncate(report.top);
    }
    const KeyPlans plans(map, rows.key);
    const bool is_data = map.aggregation.kind == Aggregate::none;
    const bool is_drawn = map.aggregation.is_histogram();
    if (is_single(map) && !is_data && !is_drawn)
        return single_line(map, report, rows.entries[0], rows.during_ns, trends);
    std::string text = cat(report.title, '\n');
    if (is_drawn && report.is_table)
        text += table_of_percentiles(map, rows, plans, values, screen, trends);
    else if (is_drawn)
        text += histograms(map, rows, plans, values, screen);
    else if (is_data)
        text += table_of_data(map, rows, plans, values, screen);
    else if (plans.stacks.empty())
        text += table_of_facts(map, rows, plans, values, screen, trends);
    else
        text += table_of_stacks(map, rows, plans, values, screen);
    if (left_out != 0) text += cat("and ", left_out, " more\n");
    return text;
}

std::string report_json(const MapDeclaration& map, const Report& report, const ReportRows& rows,
                        ValueWriter& values) {
    const bool is_data = map.aggregation.kind == Aggregate::none;
    std::vector<ValuePlan> key = is_single(map) ? std::vector<ValuePlan>() : plan_values(rows.key);
    JsonArray entries;
    for (const MapEntry& entry : rows.entries)
        entries.add(entry_json(map, key, rows.during_ns, entry, values));
    JsonObject object;
    object.text("map", map.name).text("title", report.title);
    if (!is_data && !unit_of(map).empty()) object.text("unit", unit_of(map));
    if (is_data) std::ranges::move(plan_values(map.value), std::back_inserter(key));
    if (const std::string units = units_json(key); !units.empty()) object.raw("units", units);
    object.raw("entries", entries.done());
    return object.done();
}

std::vector<CountedStack> counted_stacks(const MapDeclaration& map, const ReportRows& rows,
                                         ValueWriter& values) {
    if (!has_stacks(rows.key)) return {};
    const KeyPlans plans(map, rows.key);
    std::vector<CountedStack> stacks;
    for (const MapEntry& entry : rows.entries) {
        CountedStack& stack = stacks.emplace_back();
        for (std::string& cell : key_cells(plans, entry.key, values))
            stack.frames.push_back({std::move(cell), FrameKind::key});
        for (StackFrame& frame : stack_of(plans, entry.key, values))
            stack.frames.push_back(std::move(frame));
        stack.weight = weight_of(map.aggregation, entry.words);
    }
    return stacks;
}

std::string_view stack_unit(const MapDeclaration& map) {
    return weighs_sum(map.aggregation) ? unit_of(map) : std::string_view();
}

std::string folded_text(const MapDeclaration& map, const ReportRows& rows, ValueWriter& values) {
    std::string text;
    for (CountedStack& stack : counted_stacks(map, rows, values)) {
        std::vector<std::string> fields;
        for (StackFrame& frame : stack.frames)
            fields.push_back(folded_field(std::move(frame.name)));
        text += cat(join(fields, ";"), ' ', stack.weight, '\n');
    }
    return text;
}

}  // namespace gpufs
