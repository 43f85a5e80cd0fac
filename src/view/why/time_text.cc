#include "view/why/time_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/sorted.h"
#include "base/text.h"
#include "lang/symbols/probe_functions.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/stall/text.h"

namespace gpufs {
namespace {

constexpr std::size_t kFunctions = 2;
// Rows of their own; the rest is one more.
constexpr std::size_t kRows = 7;

// Entries of a system call: __x64_sys_futex.
std::string_view called_by(std::string_view function) {
    for (const std::string_view prefix :
         {"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_"})
        if (function.starts_with(prefix)) return function.substr(prefix.size());
    return {};
}

// "futex_wait" of "futex_wait.constprop.0 [module]".
std::string bare(std::string_view function) {
    return std::string(function.substr(0, function.find_first_of(". +")));
}

std::vector<std::string> functions_of(const TimePart& part, const ValueNames& names) {
    std::vector<std::string> functions = part.stack_names;
    auto place = ValueNames::Place::inner_frame;
    for (const std::uint64_t address : part.stack) {
        functions.push_back(bare(names.kernel ? names.kernel(address, place) : ""));
        place = ValueNames::Place::outer_frame;
    }
    functions.erase(functions.begin(), std::ranges::find_if_not(functions, is_probe_function));
    return functions;
}

// Whether it is `place` that /proc/TID/stack told of a task that was blocked already: that leaves
// out the functions of the scheduler and of locks, which are innermost.
bool is_same_place(const std::vector<std::string>& whole, const std::vector<std::string>& place) {
    constexpr std::size_t kMostLeftOut = 6;
    if (place.empty()) return false;
    const auto at = std::ranges::find(whole, place.front());
    const auto left_out = static_cast<std::size_t>(at - whole.begin());
    return left_out != 0 && left_out <= kMostLeftOut &&
           std::ranges::equal(place,
                              std::span(at, whole.end())
                                  .first(std::min<std::size_t>(
                                      place.size(), static_cast<std::size_t>(whole.end() - at))));
}

// The functions of each part; where a stack lacks the innermost of them, they are those of the one
// other place that it can be, if there is one.
std::vector<std::vector<std::string>> functions_of(const TimeAccount& account,
                                                   const ValueNames& names) {
    std::vector<std::vector<std::string>> all;
    for (const TimePart& part : account.parts) all.push_back(functions_of(part, names));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (account.parts[i].stack_names.empty()) continue;
        std::set<std::vector<std::string>> whole;
        for (std::size_t k = 0; k < all.size(); ++k)
            if (account.parts[k].stack_names.empty() && is_same_place(all[k], all[i]))
                whole.insert(all[k]);
        if (whole.size() == 1) all[i] = *whole.begin();
    }
    return all;
}

// Without the stack, but with what it says.
TimeRow row_of(const TimePart& part, const std::vector<std::string>& functions) {
    TimeRow row;
    row.part = part;
    row.part.stack.clear();
    row.part.stack_names.clear();
    for (const std::string& function : functions)
        if (const std::string_view call = called_by(function); !call.empty())
            row.call = std::string(call);
    for (const std::string& function : stack_in_short(functions, kFunctions)) {
        if (!called_by(function).empty()) break;
        if (!function.empty()) row.where.push_back(bare(function));
    }
    return row;
}

std::string task_of(const TimePart& part) {
    return task_text(part.comm, part.pid);
}

std::string fence_text(const TimePart& part, int own) {
    if (part.pid == 0) return "";
    return part.pid == own ? ", its own" : cat(", of ", task_of(part));
}

std::string blocked_text(const TimeRow& row) {
    std::string text = row.call.empty() ? "blocked" : cat("blocked in ", row.call);
    for (std::size_t i = 0; i < row.where.size(); ++i)
        text += cat(i != 0 ? " < " : row.call.empty() ? " in " : ": ", row.where[i]);
    return text;
}

std::string row_text(const TimeRow& row, int own) {
    const TimePart& part = row.part;
    switch (part.use) {
        case TimeUse::cpu:
            return "on a CPU";
        case TimeUse::ready:
            return "waiting for a CPU";
        case TimeUse::blocked:
            return blocked_text(row);
        case TimeUse::fence:
            return cat("waiting for a fence of ", part.driver, ' ', part.timeline,
                       fence_text(part, own));
        case TimeUse::queued:
            return cat("queued for ring ", part.timeline,
                       part.pid == 0     ? ", behind no job: for what it depends on, or a worker"
                       : part.pid == own ? ", behind its own"
                                         : cat(", behind ", task_of(part)));
        case TimeUse::runs:
            return cat("running on ring ", part.timeline, fence_text(part, own));
        case TimeUse::moves:
            return cat("moving buffers",
                       part.timeline.empty() ? "" : cat(" on ring ", part.timeline),
                       fence_text(part, own));
        case TimeUse::unseen:
            break;
    }
    return "not known: the kernel left out a switch";
}

std::string right_aligned(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string_view use_name(TimeUse use) {
    constexpr std::array<std::string_view, 8> kNames{"cpu",    "ready", "blocked", "fence",
                                                     "queued", "runs",  "moves",   "unseen"};
    return kNames.at(static_cast<std::size_t>(use));
}

auto told_of(const TimeRow& row) {
    const TimePart& part = row.part;
    return std::tie(part.use, part.driver, part.timeline, part.pid, part.comm, row.call, row.where);
}

}  // namespace

std::vector<TimeRow> time_rows(const TimeAccount& account, const ValueNames& names) {
    std::vector<TimeRow> rows;
    const auto functions = functions_of(account, names);
    for (std::size_t i = 0; i < functions.size(); ++i) {
        if (account.parts[i].ns == 0) continue;
        TimeRow row = row_of(account.parts[i], functions[i]);
        const auto same = std::ranges::find_if(
            rows, [&](const TimeRow& one) { return told_of(one) == told_of(row); });
        if (same == rows.end())
            rows.push_back(std::move(row));
        else
            same->part.ns += row.part.ns;
    }
    sort_stably(rows, [](const TimeRow& a, const TimeRow& b) {
        return std::tie(b.part.ns, a.part.use, a.call) < std::tie(a.part.ns, b.part.use, b.call);
    });
    return rows;
}

// Those that lose most by rounding down get what is missing.
std::vector<unsigned> shares_of(const std::vector<std::uint64_t>& parts) {
    constexpr unsigned kAll = 1000;
    const std::uint64_t total = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
    std::vector<unsigned> shares(parts.size());
    if (total == 0) return shares;
    std::vector<std::pair<double, std::size_t>> cut;
    unsigned missing = kAll;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double share = static_cast<double>(parts[i]) * kAll / static_cast<double>(total);
        shares[i] = static_cast<unsigned>(share);
        missing -= shares[i];
        cut.emplace_back(static_cast<double>(shares[i]) - share, i);
    }
    sort_stably(cut);
    for (std::size_t i = 0; i < std::min<std::size_t>(missing, cut.size()); ++i)
        ++shares[cut[i].second];
    return shares;
}

std::string time_text(const TimeAccount& account, const std::vector<TimeRow>& rows,
                      std::uint64_t during_ns, Controls controls) {
    std::vector<std::pair<std::string, std::uint64_t>> lines;
    // One more row is no longer than the line that would stand for it.
    const std::size_t shown = rows.size() <= kRows + 1 ? rows.size() : kRows;
    for (std::size_t i = 0; i < shown; ++i)
        lines.emplace_back(row_text(rows[i], account.pid), rows[i].part.ns);
    if (shown < rows.size()) {
        std::uint64_t rest = 0;
        for (std::size_t i = shown; i < rows.size(); ++i) rest += rows[i].part.ns;
        lines.emplace_back(cat("in ", rows.size() - shown, " other ways"), rest);
    }
    std::vector<std::uint64_t> times;
    for (const auto& line : lines) times.push_back(line.second);
    const std::vector<unsigned> shares = shares_of(times);
    std::string text = printable(
        cat(task_text(account.comm, account.pid), ": ", counted(account.threads, "thread"), ", ",
            duration_text(account.total_ns()), " of thread time in ", duration_text(during_ns)),
        controls);
    text += '\n';
    std::vector<std::string> durations;
    for (const std::uint64_t ns : times) durations.push_back(duration_text(ns));
    std::size_t width = 11;
    for (const std::string& time : durations) width = std::max(width, time.size() + 1);
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += cat(right_aligned(cat(shares[i] / 10, '.', shares[i] % 10, " %"), 9),
                    right_aligned(durations[i], width), "  ", printable(lines[i].first, controls),
                    '\n');
    return text;
}

std::string time_json(const TimeAccount& account, const std::vector<TimeRow>& rows,
                      std::uint64_t during_ns) {
    JsonArray parts;
    for (const TimeRow& row : rows) {
        const TimePart& part = row.part;
        JsonObject told;
        told.text("part", use_name(part.use)).number("ns", part.ns);
        told.text_or_null("driver", part.driver).text_or_null("timeline", part.timeline);
        told.number_or_null("pid", part.pid == 0 ? std::nullopt : std::optional(part.pid));
        told.text_or_null("comm", part.comm).text_or_null("syscall", row.call);
        told.raw("where", json_texts_or_null(row.where));
        parts.add(told.done());
    }
    JsonObject why;
    why.text("why", account.comm).number("pid", account.pid).number("threads", account.threads);
    why.number("during_ns", during_ns).number("ns", account.total_ns()).raw("parts", parts.done());
    return why.done();
}

}  // namespace gpufs
