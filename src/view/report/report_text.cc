#include "view/report/report_text.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "base/cat.h"
#include "base/sorted.h"
#include "base/text.h"
#include "view/marks.h"
#include "view/monitor/histogram.h"
#include "view/monitor/histogram_scale.h"
#include "view/monitor/stack_tree.h"
#include "view/report/report_cells.h"
#include "view/table.h"

namespace gpufs {
namespace {

using Aggregate = Aggregation::Kind;
constexpr std::uint64_t kNoWords[4] = {};

// `words`: of which it is a fact.
std::string fact_text(const MapDeclaration& map, const Fact& fact,
                      std::span<const std::uint64_t> words) {
    return cat(fact.is_mean
                   ? mean_text(map.aggregation, words, unit_of(map))
                   : quantity_text(fact.word, fact.is_signed, fact.has_unit ? unit_of(map) : ""),
               fact.has_unit && map.aggregation.is_rate ? "/s" : "");
}

// "12.5/s", "3.4M/s"
std::string rate_text(const MapDeclaration& map, double rate) {
    const bool is_plain = map.aggregation.kind == Aggregate::count || unit_of(map).empty();
    return cat(is_plain ? rate_number(rate)
                        : quantity_text(static_cast<std::uint64_t>(rate), false, unit_of(map)),
               "/s");
}

Table::Align align_of(const ValuePlan& plan) {
    return plan.is_number() ? Table::Align::right : Table::Align::left;
}

std::vector<std::string> frames_of(const KeyPlans& plans, std::span<const std::byte> key,
                                   ValueWriter& values) {
    std::vector<std::string> names;
    for (StackFrame& frame : stack_of(plans, key, values)) names.push_back(std::move(frame.name));
    return names;
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
    if (!trends.empty()) columns.push_back({"TREND", Table::Align::newest});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
        const MapEntry& entry = rows.entries[i];
        for (const ValuePlan& plan : plans.columns) {
            append_value(table.text(), plan, entry.key, values);
            table.end_cell();
        }
        for (const Fact& fact : facts_of(map.aggregation, entry.words)) {
            table.text() += fact_text(map, fact, entry.words);
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
    if (!trends.empty()) columns.push_back({"TREND", Table::Align::newest});
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
        std::string whole = text(left_out, {0, 0, screen.plot});
        if (columns_of(whole.substr(0, whole.find('\n'))) <= screen.columns) return whole;
    }
    return text(std::size(kLeftOut), screen);
}

// "and 12 more: 4.5 ms"
std::string more_text(const MapDeclaration& map, const StackGroup& left_out) {
    return cat("and ", left_out.stacks,
               " more: ", quantity_text(left_out.weight, false, stack_unit(map)), '\n');
}

// A row for all stacks of one key, and below it their tree. Of the stacks, `most` are drawn.
std::string table_of_stacks(const MapDeclaration& map, const ReportRows& rows, std::size_t most,
                            const KeyPlans& plans, ValueWriter& values, const Screen& screen,
                            TrendTexts trends) {
    struct Group {
        std::vector<std::string> cells;
        std::vector<std::uint64_t> words;
        StackTree tree;
        std::string trend;
    };
    std::vector<Group> groups;
    std::map<std::vector<std::string>, std::size_t> places;
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
        const MapEntry& entry = rows.entries[i];
        std::vector<std::string> cells = key_cells(plans, entry.key, values);
        const auto [place, is_new] = places.emplace(cells, groups.size());
        if (is_new)
            groups.push_back({std::move(cells),
                              std::vector<std::uint64_t>(entry.words.size()),
                              {},
                              trends.empty() ? "" : trends[i]});
        Group& group = groups[place->second];
        merge_words(map.aggregation, entry.words, group.words);
        group.tree.add(frames_of(plans, entry.key, values),
                       weight_of(map.aggregation, entry.words));
    }
    sort_stably(groups, [&](const Group& a, const Group& b) {
        return weight_of(map.aggregation, a.words) > weight_of(map.aggregation, b.words);
    });
    std::vector<Table::Column> columns = fact_columns(map.aggregation, key_columns(plans));
    if (!trends.empty()) columns.push_back({"TREND", Table::Align::newest});
    Table table(std::move(columns));
    std::vector<StackGroup> weights;
    for (const Group& group : groups) weights.push_back(group.tree.all());
    const std::vector<std::size_t> shares = share_out(weights, most);
    StackGroup left_out;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (shares[i] == 0) {
            left_out += weights[i];
            continue;
        }
        Group& group = groups[i];
        for (const Fact& fact : facts_of(map.aggregation, group.words))
            group.cells.push_back(fact_text(map, fact, group.words));
        if (!trends.empty()) group.cells.push_back(std::move(group.trend));
        table.add(group.cells);
        table.add_below(group.tree.to_text(stack_unit(map), screen, shares[i]));
    }
    return cat(table.to_text(screen), left_out.stacks == 0 ? "" : more_text(map, left_out));
}

// Maps that keep data: a row a value, and where there are several, by CPU.
std::string table_of_data(const MapDeclaration& map, const ReportRows& rows, const KeyPlans& plans,
                          ValueWriter& values, const Screen& screen, TrendTexts trends) {
    const std::vector<ValuePlan> members = plan_values(map.value);
    const bool has_cpus = std::ranges::any_of(
        rows.entries, [](const MapEntry& entry) { return entry.values.size() > 1; });
    std::vector<Table::Column> columns = key_columns(plans);
    if (has_cpus) columns.push_back({"CPU"});
    for (const ValuePlan& plan : members)
        columns.push_back({upper_case(plan.name), align_of(plan)});
    const bool has_trends = !trends.empty() && !has_cpus;
    if (has_trends) columns.push_back({"TREND", Table::Align::newest});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
        const MapEntry& entry = rows.entries[i];
        for (std::size_t cpu = 0; cpu < entry.values.size(); ++cpu) {
            std::vector<std::string> cells = key_cells(plans, entry.key, values);
            if (has_cpus) cells.push_back(cat(cpu));
            for (const ValuePlan& plan : members)
                cells.push_back(value_text(plan, entry.values[cpu], values));
            if (has_trends) cells.push_back(trends[i]);
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
        return cat(report.title, ": ", fact_text(map, *facts.begin(), entry.words),
                   rate ? cat(", ", rate_text(map, *rate)) : "", trend, '\n');
    std::string text;
    for (const Fact& fact : facts)
        text += cat(text.empty() ? "" : ", ", fact.name, ' ', fact_text(map, fact, entry.words));
    return cat(report.title, ": ", text, trend, '\n');
}

// Of what nothing was seen.
std::string none_text(const MapDeclaration& map, const Report& report) {
    const bool is_number = is_single(map) && map.aggregation.kind == Aggregate::count;
    return cat(report.title, ": ", is_number ? "0" : "none", '\n');
}

}  // namespace

std::string report_text(const MapDeclaration& map, const Report& report, ReportRows rows,
                        ValueWriter& values, const Screen& screen,
                        std::span<const std::string> trends) {
    if (rows.entries.empty()) return report.says_none ? none_text(map, report) : std::string();
    const KeyPlans plans(map, rows.key);
    const bool is_data = map.aggregation.kind == Aggregate::none;
    const bool is_drawn = map.aggregation.is_histogram();
    const std::size_t most = report.top == 0 ? std::numeric_limits<std::size_t>::max() : report.top;
    if (!is_data && !is_drawn && !plans.stacks.empty() && !is_single(map))
        return cat(report.title, '\n',
                   table_of_stacks(map, rows, most, plans, values, screen, trends));
    StackGroup left_out;
    for (std::size_t i = most; i < rows.entries.size(); ++i)
        left_out += {weight_of(map.aggregation, rows.entries[i].words), 1};
    if (left_out.stacks != 0) rows.entries.truncate(most);
    if (is_single(map) && !is_data && !is_drawn)
        return single_line(map, report, rows.entries[0], rows.during_ns, trends);
    std::string text = cat(report.title, '\n');
    if (is_drawn && report.is_table)
        text += table_of_percentiles(map, rows, plans, values, screen, trends);
    else if (is_drawn)
        text += histograms(map, rows, plans, values, screen);
    else if (is_data)
        text += table_of_data(map, rows, plans, values, screen, trends);
    else
        text += table_of_facts(map, rows, plans, values, screen, trends);
    if (left_out.stacks == 0) return text;
    const bool is_total =
        map.aggregation.kind == Aggregate::count || map.aggregation.kind == Aggregate::sum;
    return cat(text, is_total ? more_text(map, left_out) : cat("and ", left_out.stacks, " more\n"));
}

}  // namespace gpufs
