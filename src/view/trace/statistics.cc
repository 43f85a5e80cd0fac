#include "view/trace/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/cat.h"
#include "base/sorted.h"
#include "base/text.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/losses.h"
#include "view/table.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

using Counts = std::vector<std::pair<int, std::uint64_t>>;

// The largest first.
Counts by_count(const std::map<int, std::uint64_t>& counts) {
    Counts sorted(counts.begin(), counts.end());
    sort_stably(sorted, std::greater(), &std::pair<int, std::uint64_t>::second);
    return sorted;
}

// As report_json() has them.
JsonObject entry(const JsonObject& key, std::uint64_t count) {
    return JsonObject().raw("key", key.done()).number("count", count);
}

}  // namespace

void TraceStatistics::add(const TraceRecord& record) {
    if (count_++ == 0)
        first_ = record.timestamp;
    else if (record.timestamp > last_ && record.timestamp - last_ > longest_.length)
        longest_ = {last_, record.timestamp - last_};
    last_ = record.timestamp;
    ++events_[record.id()];
    ++tasks_[common_fields(record.bytes).pid];
    ++cpus_[record.cpu].records;
}

void TraceStatistics::set_lost(int cpu, const Loss& lost) {
    if (const auto known = cpus_.find(cpu); known != cpus_.end())
        known->second.lost = lost;
    else if (!lost.is_zero())
        cpus_[cpu].lost = lost;
}

std::string TraceStatistics::time_text(std::uint64_t time) const {
    std::string text;
    append_trace_time(text, time, context_.options.clock_is_ns);
    return text;
}

// Per second; where the clock counts something else there is none.
std::string TraceStatistics::rate_text(std::uint64_t count) const {
    if (!context_.options.clock_is_ns || last_ <= first_) return "-";
    const auto rate = static_cast<double>(count) * 1e9 / static_cast<double>(last_ - first_);
    return cat(std::llround(rate));
}

std::string TraceStatistics::event_name(int id) const {
    const TraceEvent* const event = context_.events.find(id);
    return event ? event->format.full_name() : cat("unknown event ", id);
}

std::string TraceStatistics::to_text(const TraceFile& file, const Screen& screen) const {
    const TraceFile::Facts& facts = file.facts();
    std::string out;
    const auto line = [&](std::string_view title, std::string_view value) {
        if (value.empty()) return;
        append_padded(out, title, -10);
        out += value;
        out += '\n';
    };
    const auto shown = [&](std::string_view text) { return printable(text, context_.controls); };
    line("machine", shown(facts.uname));
    line("recorder", shown(facts.recorder));
    line("format", cat(facts.format, facts.compression.empty() ? "" : ", " + facts.compression));
    line("clock", shown(facts.clock));
    for (const TraceFile::Buffer& buffer : file.buffers())
        if (!buffer.name.empty())
            line("instance", cat(shown(buffer.name), ", ", counted(buffer.bytes, "byte")));
    line("records", cat(count_));
    if (count_ > 0) {
        const bool is_time = context_.options.clock_is_ns;
        line("time", cat(time_text(first_), " to ", time_text(last_), ", ",
                         is_time ? duration_text(last_ - first_) : cat(last_ - first_)));
        line("rate", is_time ? cat(rate_text(count_), " a second") : "");
        line("gap", cat(is_time ? duration_text(longest_.length) : cat(longest_.length), " from ",
                        time_text(longest_.begin), ", the longest"));
    }
    Table events({{"EVENT", Table::Align::left}, {"COUNT"}, {"PER SECOND"}});
    for (const auto& [id, count] : by_count(events_))
        events.add({shown(event_name(id)), cat(count), rate_text(count)});
    Table tasks({{"COMM", Table::Align::left}, {"PID"}, {"COUNT"}, {"PER SECOND"}});
    for (const auto& [pid, count] : by_count(tasks_))
        tasks.add({shown(context_.tasks.comm(pid)), cat(pid), cat(count), rate_text(count)});
    Table cpus({{"CPU"}, {"COUNT"}, {"PER SECOND"}, {"LOST"}});
    for (const auto& [cpu, of] : cpus_)
        cpus.add({cat(cpu), cat(of.records), rate_text(of.records), loss_text(of.lost)});
    for (const Table* table : {&events, &tasks, &cpus}) out += '\n' + table->to_text(screen);
    if (!facts.statistics.empty())
        out += cat("\nThe kernel's counters at the end:\n",
                   printable_lines(facts.statistics, context_.controls));
    return out;
}

std::string TraceStatistics::to_json(const TraceFile& file) const {
    const TraceFile::Facts& facts = file.facts();
    JsonArray events, tasks, cpus;
    for (const auto& [id, count] : by_count(events_))
        events.add(entry(JsonObject().text("event", event_name(id)), count).done());
    for (const auto& [pid, count] : by_count(tasks_))
        tasks.add(
            entry(JsonObject().text("comm", context_.tasks.comm(pid)).number("tid", pid), count)
                .done());
    for (const auto& [cpu, of] : cpus_) {
        JsonObject one = entry(JsonObject().number("cpu", cpu), of.records);
        cpus.add(add_loss(one, "lost", of.lost).done());
    }
    JsonObject all;
    all.text("machine", facts.uname)
        .text("recorder", facts.recorder)
        .number("version", facts.version)
        .text("clock", facts.clock)
        .number("records", count_);
    const auto time = [&](std::uint64_t at) { return count_ > 0 ? time_text(at) : "null"; };
    all.raw("first", time(first_))
        .raw("last", time(last_))
        .raw("longest_gap", time(longest_.length))
        .raw("longest_gap_from", time(longest_.begin));
    return all.raw("events", events.done())
               .raw("tasks", tasks.done())
               .raw("cpus", cpus.done())
               .done() +
           '\n';
}

}  // namespace gpufs
