#include "view/bt/time_series.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "base/cat.h"
#include "view/bt/json_words.h"
#include "view/bt/time_text.h"
#include "view/bt/value_bytes.h"

namespace gpufs::bt {

namespace {

constexpr int kGraph = 53;  // columns with the two borders
constexpr std::string_view kTimeHead = "hh:mm:ss";

// How exactly an interval's begin is told.
struct Fraction {
    std::string_view unit;
    std::size_t digits = 0;
};
Fraction fraction_of(std::int64_t interval_ns) {
    if (interval_ns >= 1'000'000'000) return {"", 0};
    if (interval_ns >= 1'000'000) return {".ms", 3};
    if (interval_ns >= 1'000) return {".us", 6};
    return {".ns", 9};
}

std::string series_number(const Type& type, std::uint64_t number) {
    return type.is_signed ? cat(static_cast<std::int64_t>(number)) : cat(number);
}

// The least and the largest value, which are the graph's borders; one more at each side if they are
// the same.
struct Range {
    std::uint64_t least = 0, most = 0;
    bool is_signed = false;

    // As a part of the way from the least to the most. In float, so that points are where bpftrace
    // has them.
    int column(std::uint64_t value, int columns) const {
        const auto part = static_cast<float>(value - least), all = static_cast<float>(most - least);
        return all > 0
                   ? std::min(columns, static_cast<int>(static_cast<float>(columns) * part / all))
                   : columns / 2;
    }
    // Where 0 is, if it is between them.
    std::optional<int> zero() const {
        const auto low = static_cast<std::int64_t>(least), high = static_cast<std::int64_t>(most);
        if (!is_signed || low >= 0 || high <= 0) return std::nullopt;
        return std::min(column(0, kGraph), kGraph - 2);
    }
};

Range range_of(const Type& type, const std::vector<SeriesPoint>& points) {
    std::optional<Range> range;
    for (const SeriesPoint& point : points) {
        if (!point.value) continue;
        if (!range) range = Range{*point.value, *point.value, type.is_signed};
        if (compare_numbers(*point.value, range->least, type.is_signed) < 0)
            range->least = *point.value;
        if (compare_numbers(*point.value, range->most, type.is_signed) > 0)
            range->most = *point.value;
    }
    Range out = range.value_or(Range{});
    if (out.least != out.most) return out;
    using Limits = std::numeric_limits<std::int64_t>;
    const auto lowest = type.is_signed ? static_cast<std::uint64_t>(Limits::min()) : 0;
    const auto highest =
        type.is_signed ? static_cast<std::uint64_t>(Limits::max()) : ~std::uint64_t{0};
    if (out.least != lowest) --out.least;
    if (out.most != highest) ++out.most;
    return out;
}

// The values at the two borders, above and below the graph.
void append_borders(std::string& out, const Type& type, const Range& range, std::size_t indent) {
    constexpr std::size_t kLeft = 21, kRight = kGraph - kLeft;
    const std::string least = series_number(type, range.least),
                      most = series_number(type, range.most);
    out.append(indent, ' ');
    out += least;
    out.append(kLeft - std::min(kLeft, least.size()), ' ');
    out.append(kRight - std::min(kRight, most.size()), ' ');
    out += most;
    out += '\n';
}

std::string utc_text(std::uint64_t wall_ns) {
    const auto second = static_cast<std::time_t>(wall_ns / 1'000'000'000);
    std::tm utc{};
    ::gmtime_r(&second, &utc);
    char text[64];
    const std::size_t length = ::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
    return cat(std::string_view(text, length), '.', fraction_text(wall_ns, 9));
}

}  // namespace

std::vector<SeriesPoint> series_points(const Type& type, const EpochValues& values,
                                       std::uint64_t last, ValueNames& names) {
    const std::uint64_t oldest = last < type.count ? 0 : last - type.count + 1;
    std::vector<SeriesPoint> out;
    const auto first = values.lower_bound(oldest);
    if (first == values.end()) return out;
    for (std::uint64_t epoch = first->first; epoch <= last; ++epoch) {
        const std::uint64_t begin = epoch * static_cast<std::uint64_t>(type.step);
        out.push_back({names.wall_ns(ValueNames::Clock::tai, begin), std::nullopt});
        if (const auto found = values.find(epoch); found != values.end())
            out.back().value = found->second;
    }
    return out;
}

void append_series(std::string& out, const Type& type, const std::vector<SeriesPoint>& points) {
    if (points.empty()) {
        out += "<no data>\n";
        return;
    }
    const Fraction fraction = fraction_of(type.step);
    const std::string head = cat(kTimeHead, fraction.unit);
    const std::size_t indent =
        kTimeHead.size() + (fraction.digits > 0 ? fraction.digits + 1 : 0) + 1;
    const Range range = range_of(type, points);
    append_borders(out, type, range, indent);
    out += head;
    out.append(indent - head.size(), ' ');
    out += cat('|', std::string(kGraph - 2, '_'), "|\n");
    const std::optional<int> zero = range.zero();
    for (const SeriesPoint& point : points) {
        std::string line(kGraph, ' ');
        line.front() = line.back() = '|';
        const auto put = [&](int column, char mark) {
            line[static_cast<std::size_t>(column)] = mark;
        };
        if (zero) put(*zero, '.');
        if (point.value) put(range.column(*point.value, kGraph - 1), '*');
        out += time_text("%H:%M:%S", point.wall_ns);
        if (fraction.digits > 0) out += cat('.', fraction_text(point.wall_ns, fraction.digits));
        out += cat(' ', line, ' ', point.value ? series_number(type, *point.value) : "-", '\n');
    }
    out.append(indent, ' ');
    out += cat('v', std::string(kGraph - 2, '_'), "v\n");
    append_borders(out, type, range, indent);
}

void append_series_json(std::string& out, const Type& type,
                        const std::vector<SeriesPoint>& points) {
    bool is_first = true;
    out += '[';
    for (const SeriesPoint& point : points) {
        if (!point.value) continue;
        if (!is_first) out += ',';
        is_first = false;
        out += cat(R"({"interval_start":")", utc_text(point.wall_ns), R"(","value":)");
        append_json_number(out, *point.value, type.is_signed);
        out += '}';
    }
    out += ']';
}

}  // namespace gpufs::bt
