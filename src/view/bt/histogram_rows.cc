#include "view/bt/histogram_rows.h"

#include <algorithm>

#include "base/cat.h"
#include "view/bt/json_words.h"
#include "view/bt/value_bytes.h"

namespace gpufs::bt {

namespace {

// A bound between two slots. Between two plain ones that follow each other is a single number.
struct Bound {
    std::int64_t number = 0;  // of a hist's last slot 2^63, which is told by its unsigned value
    std::string text;
    bool is_plain = false;
};

Bound plain_bound(std::int64_t number) {
    return {number, cat(number), true};
}

// Where slot `slot` of a hist ends and the next one begins. Up to 2^(bits + 1) each slot is one
// number; after it, 2^bits slots are as wide as each other, and the next ones twice that.
Bound hist_bound(const Type& type, std::uint32_t slot) {
    if (slot <= 2U << type.bits) return plain_bound(slot);
    const std::uint64_t per_power = std::uint64_t{1} << type.bits;
    const std::uint64_t mantissa = per_power + (slot & (per_power - 1));
    const unsigned power = (slot >> type.bits) - 1;  // the slot is 2^power wide
    Bound out;
    out.number = static_cast<std::int64_t>(mantissa << power);
    out.text = cat(mantissa << power % 10);
    if (power >= 10) out.text += " KMGTPE"[power / 10];
    return out;
}

Bound lhist_bound(const Type& type, std::int64_t number) {
    constexpr std::int64_t kKilo = 1024, kMega = kKilo * kKilo;
    if (type.step % kKilo != 0) return plain_bound(number);
    Bound out{number, cat(number), false};
    if (number == 0) return out;
    if (number % kMega == 0)
        out.text = cat(number / kMega, 'M');
    else if (number % kKilo == 0)
        out.text = cat(number / kKilo, 'K');
    return out;
}

// The end of a lhist's slot.
std::int64_t lhist_end(const Type& type, std::uint32_t slot) {
    // The product alone may be 2^63 or more.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(type.low) +
                                     std::uint64_t{slot} * static_cast<std::uint64_t>(type.step));
}

bool is_lhist(const Type& type) {
    return type.is(Type::Kind::lhist);
}

HistogramRow row_of_slot(const Type& type, std::uint32_t slot, bool is_old) {
    const auto bound = [&](std::uint32_t of) {
        return is_lhist(type) ? lhist_bound(type, lhist_end(type, of)) : hist_bound(type, of);
    };
    HistogramRow row;
    const Bound end = bound(slot);
    const bool is_open = is_lhist(type) && end.number > type.high;
    if (!is_open) row.last = static_cast<std::int64_t>(static_cast<std::uint64_t>(end.number) - 1);
    if (slot == 0) {
        row.label = cat("(..., ", end.text, ')');
        return row;
    }
    // 0.17 has the last row begin at the end, also where a step goes beyond it.
    const Bound begin = is_open && is_old ? lhist_bound(type, type.high) : bound(slot - 1);
    row.first = begin.number;
    const bool is_single = !(is_old && is_lhist(type)) && begin.is_plain && end.is_plain &&
                           begin.number + 1 == end.number;
    if (is_open)
        row.label = cat('[', begin.text, ", ...)");
    else if (is_single)
        row.label = cat('[', begin.text, ']');
    else
        row.label = cat('[', begin.text, ", ", end.text, ')');
    return row;
}

}  // namespace

std::vector<HistogramRow> histogram_rows(const Type& type, const SlotCounts& counts,
                                         std::uint64_t div, bool is_old) {
    // bpftrace 0.17 counts all from 2^31 on together.
    constexpr std::uint64_t kLastOfOld = 33;
    const bool is_cut = is_old && type.is(Type::Kind::hist) && type.bits == 0;
    if (is_cut && !counts.empty() && counts.rbegin()->first > kLastOfOld) {
        SlotCounts fewer;
        for (const auto& [slot, count] : counts) fewer[std::min(slot, kLastOfOld)] += count;
        return histogram_rows(type, fewer, div, is_old);
    }
    std::optional<std::uint32_t> first;
    std::uint32_t last = 0;
    for (const auto& [slot, count] : counts) {
        if (count == 0 || slot >= type.slots()) continue;
        last = static_cast<std::uint32_t>(slot);
        if (!first) first = last;
    }
    std::vector<HistogramRow> rows;
    if (!first) return rows;
    for (std::uint32_t slot = *first; slot <= last; ++slot) {
        rows.push_back(row_of_slot(type, slot, is_old));
        const auto counted = counts.find(slot);
        if (counted == counts.end()) continue;
        rows.back().weight = counted->second;
        rows.back().count = is_lhist(type) ? counted->second : divided(counted->second, false, div);
    }
    return rows;
}

void append_rows(std::string& out, const std::vector<HistogramRow>& rows) {
    constexpr std::size_t kLabel = 16, kCount = 8, kBar = 52;
    std::uint64_t most = 1;
    for (const HistogramRow& row : rows) most = std::max(most, row.weight);
    for (const HistogramRow& row : rows) {
        const std::string count = cat(row.count);
        // In float, so that bars are as long as bpftrace's.
        const float part = static_cast<float>(row.weight) / static_cast<float>(most);
        const auto bar = std::min(kBar, static_cast<std::size_t>(part * float{kBar}));
        out += row.label;
        out.append(kLabel - std::min(kLabel, row.label.size()), ' ');
        out.append(kCount - std::min(kCount, count.size()), ' ');
        out += count;
        out += " |";
        out.append(bar, '@');
        out.append(kBar - bar, ' ');
        out += "|\n";
    }
}

void append_rows_json(std::string& out, const std::vector<HistogramRow>& rows) {
    out += '[';
    bool is_first_row = true;
    for (const HistogramRow& row : rows) {
        if (!is_first_row) out += ',';
        is_first_row = false;
        bool is_first = true;
        const auto member = [&](std::string_view name, std::uint64_t number, bool is_signed) {
            append_json_name(out, name, is_first);
            append_json_number(out, number, is_signed);
        };
        out += '{';
        if (row.first) member("min", static_cast<std::uint64_t>(*row.first), true);
        if (row.last) member("max", static_cast<std::uint64_t>(*row.last), true);
        member("count", row.count, false);
        out += '}';
    }
    out += ']';
}

}  // namespace gpufs::bt
