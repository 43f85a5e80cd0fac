#include "view/report/trends.h"

#include <algorithm>

#include "view/marks.h"
#include "view/report/report_cells.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

bool is_plain_number(const Member& member) {
    return member.type.kind == ValueType::Kind::integer && member.type.words.empty() &&
           member.type.flags.empty();
}

// What is counted, or data with one number: the first of it.
bool has_trend(const MapDeclaration& map) {
    const std::vector<Member>& members = map.value.members;
    return map.aggregation.kind != Kind::none ||
           (!members.empty() && is_plain_number(members.front()) &&
            std::ranges::count_if(members, is_plain_number) == 1);
}

// All begin with their count, but for those that are one value. Of data that number.
std::vector<std::uint64_t> words_of(const MapDeclaration& map, const MapEntry& entry) {
    if (map.aggregation.kind != Kind::none) return {entry.words.begin(), entry.words.end()};
    if (entry.values.size() != 1) return {};
    return {integer_at(plan_value(map.value, map.value.members.front()), entry.values.front())};
}

double trend_value(const MapDeclaration& map, std::span<const std::uint64_t> words) {
    if (words.empty()) return 0;
    const Aggregation& how = map.aggregation;
    const bool is_value = how.kind == Kind::sum || how.kind == Kind::min || how.kind == Kind::max;
    const bool is_signed = how.kind == Kind::none ? map.value.members.front().type.is_signed
                                                  : is_value && how.is_signed;
    return is_signed ? static_cast<double>(static_cast<std::int64_t>(words[0]))
                     : static_cast<double>(words[0]);
}

// By what the columns of the key hold. Of a text without what is behind its end: some are as wide
// as the widest of their interval.
std::vector<std::byte> row_of(const KeyPlans& plans, std::span<const std::byte> key) {
    std::vector<std::byte> row;
    for (const ValuePlan& plan : plans.columns) {
        std::span<const std::byte> bytes = key.subspan(plan.offset, plan.type.bytes);
        const bool is_text = plan.type.kind == ValueType::Kind::text;
        if (is_text) bytes = std::as_bytes(std::span(text_at(plan, key)));
        row.insert(row.end(), bytes.begin(), bytes.end());
        if (is_text) row.emplace_back();
    }
    return row;
}

// Values get older by so many intervals.
template <class Values>
void shift(Values& values, std::uint64_t intervals) {
    const auto by = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(intervals, values.size()));
    std::shift_left(values.begin(), values.end(), by);
    std::fill(values.end() - by, values.end(), 0);
}

}  // namespace

void Trends::add(const std::string& report, const MapDeclaration& map, const ReportRows& rows) {
    if (!has_trend(map)) return;
    const KeyPlans plans(map, rows.key);
    std::map<std::vector<std::byte>, std::vector<std::uint64_t>> now;
    for (const MapEntry& entry : rows.entries) {
        const bool is_full = now.size() == kMostRows;
        if (is_full && plans.stacks.empty()) break;
        std::vector<std::byte> key = row_of(plans, entry.key);
        if (is_full && !now.contains(key)) continue;
        const auto [row, is_new] = now.try_emplace(std::move(key), words_of(map, entry));
        if (!is_new && map.aggregation.kind != Kind::none)
            merge_words(map.aggregation, entry.words, row->second);
    }
    Rows& known = reports_[report];
    ++known.interval;
    for (const auto& [key, words] : now) {
        Row& row = known.rows[key];
        shift(row.values, known.interval - row.last);
        row.last = known.interval;
        row.values.back() = trend_value(map, words);
    }
    std::erase_if(known.rows,
                  [&](const auto& row) { return known.interval - row.second.last >= kIntervals; });
}

std::vector<std::string> Trends::texts(const std::string& report, const MapDeclaration& map,
                                       const ReportRows& rows, Plot plot) const {
    if (!has_trend(map)) return {};
    const KeyPlans plans(map, rows.key);
    std::vector<std::string> texts;
    const auto known = reports_.find(report);
    for (const MapEntry& entry : rows.entries) {
        Values values{};
        if (known != reports_.end()) {
            const auto row = known->second.rows.find(row_of(plans, entry.key));
            if (row != known->second.rows.end()) {
                values = row->second.values;
                shift(values, known->second.interval - row->second.last);
            }
        }
        texts.push_back(sparkline(values, plot));
    }
    return texts;
}

}  // namespace gpufs
