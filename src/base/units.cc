#include "base/units.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/scan.h"
#include "base/sorted.h"
#include "base/text.h"

namespace gpufs {

std::optional<WholeNumber> parse_whole_number(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const bool is_hex = text.starts_with("0x");
    if (is_hex) text.remove_prefix(2);
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
    const auto magnitude = whole_number<std::uint64_t>(text, is_hex ? 16 : 10);
    if (!magnitude || (is_negative && *magnitude > kLowest)) return std::nullopt;
    return WholeNumber{*magnitude, is_negative};
}

unsigned long parse_positive(std::string_view what, std::string_view text) {
    const auto number = whole_number<unsigned long>(text);
    if (number.value_or(0) == 0)
        throw UsageError(cat(what, " takes a positive number, not '", text, "'"));
    return *number;
}

std::uint64_t unit_size(std::string_view unit) {
    if (unit == "us") return 1'000;
    if (unit == "ms") return 1'000'000;
    if (unit == "s") return 1'000'000'000;
    if (unit == "pages") return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return 1;
}

std::uint64_t parse_size(std::string_view what, std::string_view text) {
    const auto fail = [&] {
        return UsageError(cat(what, " takes a size, not '", text, "'"), "such as 64k, 4M or 1G");
    };
    std::string_view digits = text;
    if (digits.size() > 1 && digits.ends_with('B')) digits.remove_suffix(1);
    unsigned shift = 0;
    if (!digits.empty()) {
        constexpr std::string_view kUnits = "kKmMgG";
        if (const auto unit = kUnits.find(digits.back()); unit != kUnits.npos) {
            shift = 10 * (static_cast<unsigned>(unit) / 2 + 1);
            digits.remove_suffix(1);
        }
    }
    const auto n = whole_number<std::uint64_t>(digits);
    if (!n || *n > std::numeric_limits<std::uint64_t>::max() >> shift) throw fail();
    return *n << shift;
}

std::string size_to_text(std::uint64_t bytes) {
    constexpr std::string_view kUnits = "kMG";
    std::size_t unit = 0;
    while (unit < kUnits.size() && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? cat(bytes) : cat(bytes, kUnits[unit - 1]);
}

namespace {

// "1.5" of `unit_ns`, in ns. Exact where there is no fraction of a ns: times since 1970 have more
// digits than a double.
std::optional<std::int64_t> multiple(std::string_view number, std::int64_t unit_ns) {
    constexpr std::size_t kMostDigits = 18;  // of a fraction that counts: 10^18 fits 64 bits
    const std::size_t point = std::min(number.find('.'), number.size());
    std::string_view fraction = number.substr(std::min(point + 1, number.size()));
    if (point == 0 && fraction.empty()) return std::nullopt;
    const bool is_digits = fraction.find_first_not_of("0123456789") == fraction.npos;
    fraction = fraction.substr(0, kMostDigits);
    const auto whole = point == 0 ? 0 : whole_number<std::int64_t>(number.substr(0, point));
    const auto part = fraction.empty() ? 0 : whole_number<std::int64_t>(fraction);
    if (!is_digits || !whole || !part) return std::nullopt;
    double one = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i) one *= 10;
    const auto rest = static_cast<std::int64_t>(
        std::llround(static_cast<double>(*part) / one * static_cast<double>(unit_ns)));
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(*whole, unit_ns, &ns) || __builtin_add_overflow(ns, rest, &ns))
        return std::nullopt;
    return ns;
}

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view what, std::string_view text) {
    struct Unit {
        std::string_view name;
        std::int64_t ns;
    };
    constexpr Unit kUnits[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000},
                               {"h", 3'600'000'000'000},
                               {"", 1'000'000'000}};
    const std::size_t behind = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto unit = std::ranges::find(kUnits, text.substr(behind), &Unit::name);
    const auto ns =
        unit == std::end(kUnits) ? std::nullopt : multiple(text.substr(0, behind), unit->ns);
    if (!ns)
        throw UsageError(cat(what, " takes a time, not '", text, "'"),
                         "such as 500us, 1ms, 30s or 10m; a bare number is seconds");
    return std::chrono::nanoseconds(*ns);
}

std::string duration_to_text(std::chrono::nanoseconds time) {
    struct Unit {
        std::string_view name;
        std::int64_t ns;
    };
    constexpr Unit kUnits[] = {
        {"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000},
        {"ms", 1'000'000},        {"us", 1'000},         {"ns", 1}};
    if (time.count() == 0) return "0s";
    for (const Unit& unit : kUnits)
        if (time.count() % unit.ns == 0) return cat(time.count() / unit.ns, unit.name);
    return {};
}

std::vector<unsigned> parse_cpu_list(std::string_view what, std::string_view text) {
    std::vector<unsigned> cpus;
    for (const std::string& piece : split(text, ',')) {
        const auto dash = piece.find('-');
        const auto first = whole_number<unsigned>(std::string_view(piece).substr(0, dash));
        const auto last = dash == piece.npos
                              ? first
                              : whole_number<unsigned>(std::string_view(piece).substr(dash + 1));
        if (!first || !last || *last < *first || *last >= kMaxCpus)
            throw UsageError(cat(what, " takes a list of CPUs, not '", text, "'"), "such as 0-3,7");
        for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    }
    if (cpus.empty())
        throw UsageError(cat(what, " takes a list of CPUs, not '", text, "'"), "such as 0-3,7");
    sort_unique(cpus);
    return cpus;
}

std::string cpu_list_to_text(const std::vector<unsigned>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += last == i ? cat(cpus[i]) : cat(cpus[i], '-', cpus[last]);
        i = last + 1;
    }
    return text;
}

std::string cpu_mask(const std::vector<unsigned>& cpus) {
    std::vector<std::uint32_t> words(1);
    for (const unsigned cpu : cpus) {
        if (cpu / 32 >= words.size()) words.resize(cpu / 32 + 1);
        words[cpu / 32] |= 1u << (cpu % 32);
    }
    std::string mask;
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
        char digits[8];
        const auto end = std::to_chars(digits, digits + sizeof digits, *word, 16).ptr;
        const auto length = static_cast<std::size_t>(end - digits);
        if (!mask.empty()) mask += ',' + std::string(8 - length, '0');
        mask.append(digits, length);
    }
    return mask;
}

std::vector<unsigned> parse_cpu_mask(std::string_view mask) {
    std::vector<unsigned> cpus;
    const auto words = split(trim(mask), ',');
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto bits = whole_number<std::uint64_t>(words[words.size() - 1 - i], 16);
        if (!bits) throw Error(cat("'", trim(mask), "' is no CPU mask"));
        for (unsigned bit = 0; bit < 32; ++bit)
            if (*bits >> bit & 1) cpus.push_back(static_cast<unsigned>(i) * 32 + bit);
    }
    return cpus;
}

}  // namespace gpufs
