#include "view/monitor/trends.h"

#include <algorithm>

#include "view/marks.h"

namespace gpufs {
namespace {

using Sums = Aggregation::Kind;

bool has_trend(const MapDeclaration& map) {
    return map.aggregation.kind != Sums::none;
}

// All begin with their count, but for those that are one value.
double trend_value(const Aggregation& how, const MapEntry& entry) {
    if (entry.words.empty()) return 0;
    const bool is_value = how.kind == Sums::sum || how.kind == Sums::min || how.kind == Sums::max;
    return is_value && how.is_signed
               ? static_cast<double>(static_cast<std::int64_t>(entry.words[0]))
               : static_cast<double>(entry.words[0]);
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
    Rows& known = reports_[report];
    ++known.interval;
    for (std::size_t i = 0; i < std::min(rows.entries.size(), kMostRows); ++i) {
        const std::span<const std::byte> key = rows.entries[i].key;
        Row& row = known.rows[{key.begin(), key.end()}];
        shift(row.values, known.interval - row.last);
        row.last = known.interval;
        row.values.back() = trend_value(map.aggregation, rows.entries[i]);
    }
    std::erase_if(known.rows,
                  [&](const auto& row) { return known.interval - row.second.last >= kIntervals; });
}

std::vector<std::string> Trends::texts(const std::string& report, const MapDeclaration& map,
                                       const ReportRows& rows, Plot plot) const {
    if (!has_trend(map)) return {};
    std::vector<std::string> texts;
    const auto known = reports_.find(report);
    for (const MapEntry& entry : rows.entries) {
        Values values{};
        if (known != reports_.end()) {
            const auto row = known->second.rows.find({entry.key.begin(), entry.key.end()});
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
