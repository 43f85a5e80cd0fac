#include "lang/trace_text/line.h"

#include <algorithm>

#include "base/kernel_abi.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/event/resched_letters.h"

namespace gpufs {
namespace {

constexpr std::size_t kCommWidth = 16;
constexpr std::size_t kLinesToLookAt = 40;

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// The number of a CPU.
std::optional<int> take_cpu(Scan& scan) {
    const auto cpu = scan.take_number<unsigned>();
    if (!cpu || *cpu >= kMaxCpus) return std::nullopt;
    return static_cast<int>(*cpu);
}

// "220.941431", "220.941431123", or a count without a point.
bool take_time(Scan& scan, TraceTextLine& line) {
    const auto whole = scan.take_number<std::uint64_t>();
    if (!whole) return false;
    line.time = *whole;
    line.is_ns = false;
    if (!scan.take(".")) return true;
    const std::string_view digits = scan.take_all(is_digit);
    if (digits.empty() || digits.size() > 9 || *whole > UINT64_MAX / 1'000'000'000 - 1)
        return false;
    std::uint64_t part = 0;
    for (std::size_t i = 0; i < 9; ++i)
        part = part * 10 + (i < digits.size() ? static_cast<std::uint64_t>(digits[i] - '0') : 0);
    line.time = *whole * 1'000'000'000 + part;
    line.is_ns = true;
    return true;
}

unsigned hex_digit(char c) {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    return c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10) : 0;
}

// "d..2.": trace_print_lat_fmt() in kernel/trace/trace_output.c.
CommonFields flags_of(std::string_view letters) {
    CommonFields common;
    const auto letter = [&](std::size_t at) { return at < letters.size() ? letters[at] : '.'; };
    if (letter(0) == 'd' || letter(0) == 'D') common.flags |= kTraceIrqsOff;
    if (letter(0) == 'b' || letter(0) == 'D') common.flags |= kTraceBhOff;
    const std::size_t resched = kReschedLetters.find(letter(1));
    if (resched != kReschedLetters.npos) {
        if ((resched & 1) != 0) common.flags |= kTraceNeedResched;
        if ((resched & 2) != 0) common.flags |= kTraceReschedLazy;
        if ((resched & 4) != 0) common.flags |= kTracePreemptResched;
    }
    switch (letter(2)) {
        case 'Z':
            common.flags |= kTraceNmi | kTraceHardirq;
            break;
        case 'z':
            common.flags |= kTraceNmi;
            break;
        case 'H':
            common.flags |= kTraceHardirq | kTraceSoftirq;
            break;
        case 'h':
            common.flags |= kTraceHardirq;
            break;
        case 's':
            common.flags |= kTraceSoftirq;
            break;
        default:
            break;
    }
    common.preempt_count = hex_digit(letter(3)) | hex_digit(letter(4)) << 4;
    return common;
}

// The columns from "-PID" on.
bool parse_columns(std::string_view text, TraceTextLine& line) {
    Scan scan(text);
    if (!scan.take("-")) return false;
    const auto pid = scan.take_number<int>();
    if (!pid) return false;
    if (scan.take_all(is_blank).empty()) return false;
    if (scan.take("(")) {
        scan.take_all(is_blank);
        const auto process = scan.take_number<int>();
        if (!process && scan.take_all([](char c) { return c == '-'; }).empty()) return false;
        line.process = process.value_or(0);
        if (!scan.take(")") || scan.take_all(is_blank).empty()) return false;
    }
    if (!scan.take("[")) return false;
    const auto cpu = take_cpu(scan);
    if (!cpu || !scan.take("]")) return false;
    if (scan.take_all(is_blank).empty()) return false;
    const std::string_view word = scan.rest().substr(0, scan.rest().find(' '));
    if (word.size() >= 4 && word.size() <= 6 && !word.ends_with(':')) {
        line.common = flags_of(word);
        scan.take(word);
        if (scan.take_all(is_blank).empty()) return false;
    }
    if (!take_time(scan, line) || !scan.take(": ")) return false;
    line.cpu = *cpu;
    line.common.pid = *pid;
    line.text = scan.rest();
    return true;
}

// "sched_switch: ...": the name, which is taken off the text.
void take_event(TraceTextLine& line) {
    const auto end =
        std::ranges::find_if_not(line.text, [](char c) { return is_word_char(c) || c == '-'; });
    const auto length = static_cast<std::size_t>(end - line.text.begin());
    if (length == 0 || end == line.text.end() || *end != ':') return;
    line.event = line.text.substr(0, length);
    line.text.remove_prefix(length + 1);
    const auto begin = line.text.find_first_not_of(' ');
    line.text.remove_prefix(std::min(begin, line.text.size()));
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

// The kernel's name of a task has 16 characters, also one with a '-' and digits in it; behind a
// buffer's name, which trace-cmd puts in front, the first place that fits is it.
std::optional<TraceTextLine> parse_trace_line(std::string_view line) {
    TraceTextLine found;
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::size_t dash = kCommWidth;
    if (line.size() <= kCommWidth || !parse_columns(line.substr(kCommWidth), found)) {
        for (dash = line.find('-'); dash != line.npos; dash = line.find('-', dash + 1))
            if (parse_columns(line.substr(dash), found)) break;
        if (dash == line.npos) return std::nullopt;
    }
    found.comm = line.substr(0, dash);
    if (found.comm.size() > kCommWidth) {
        // "cpu:  " is a buffer's name.
        const auto end = found.comm.find(": ");
        if (end != found.comm.npos) found.comm.remove_prefix(end + 1);
    }
    found.comm = trimmed(found.comm);
    take_event(found);
    return found;
}

std::optional<LostLine> parse_lost_line(std::string_view line) {
    LostLine lost;
    Scan scan(line);
    if (!scan.take("CPU:")) return std::nullopt;
    const auto cpu = take_cpu(scan);
    if (!cpu || !scan.take(" [")) return std::nullopt;
    const bool is_kernels = scan.take("LOST ");
    lost.cpu = *cpu;
    lost.count = scan.take_number<std::uint64_t>().value_or(0);
    scan.take(" ");
    if (!scan.take(is_kernels ? "EVENTS]" : "EVENTS DROPPED]")) return std::nullopt;
    return lost;
}

bool take_heading(std::string_view line, TraceHeading& heading) {
    Scan scan(line);
    if (scan.take("cpus=")) {
        const auto cpus = scan.take_number<std::size_t>();
        if (cpus && *cpus <= kMaxCpus) heading.cpus = *cpus;
        return cpus.has_value();
    }
    if (scan.take("# entries-in-buffer/entries-written: ")) {
        const auto there = scan.take_number<std::uint64_t>();
        if (there && scan.take("/"))
            if (const auto written = scan.take_number<std::uint64_t>(); written > there)
                heading.overwritten = *written - *there;
        const auto cpus = line.find("#P:");
        if (cpus == line.npos) return true;
        Scan number(line.substr(cpus + 3));
        const auto count = number.take_number<std::size_t>();
        if (count && *count <= kMaxCpus) heading.cpus = *count;
        return true;
    }
    return line.starts_with('#') || line.starts_with("version = ") ||
           (line.starts_with("CPU ") && line.ends_with(" is empty"));
}

bool begins_as_trace_text(std::string_view begin) {
    if (begin.find('\0') != begin.npos) return false;
    std::size_t seen = 0;
    for (const std::string_view line : lines_of(begin)) {
        if (line.starts_with("# tracer: ") || line.starts_with("cpus=")) return true;
        if (parse_trace_line(line)) return true;
        if (++seen == kLinesToLookAt) break;
    }
    return false;
}

}  // namespace gpufs
