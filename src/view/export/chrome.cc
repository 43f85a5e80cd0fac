#include "view/export/chrome.h"

#include <array>

#include "base/cat.h"
#include "base/hex.h"
#include "view/exact_number.h"
#include "view/json.h"

namespace gpufs {
namespace {

// Linux gives processes numbers below this (PID_MAX_LIMIT).
constexpr std::uint64_t kNoProcess = std::uint64_t{1} << 22;

void append_value(std::string& out, const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::text:
            append_json_quoted(out, argument.text);
            return;
        case Argument::Kind::address:
            append_json_quoted(out, hex(argument.number));
            return;
        case Argument::Kind::unsigned_number:
        case Argument::Kind::signed_number:
            append_exact_json(out, argument.number, argument.kind == Argument::Kind::signed_number);
            return;
    }
}

void append_microseconds(std::string& out, std::uint64_t ns) {
    append(out, ns / 1000);
    const std::uint64_t rest = ns % 1000;
    out += '.';
    for (const std::uint64_t digit : {rest / 100, rest / 10 % 10, rest % 10})
        out += static_cast<char>('0' + digit);
}

Argument number(std::string_view name, std::int64_t value) {
    return {name, Argument::Kind::signed_number, static_cast<std::uint64_t>(value), {}};
}

}  // namespace

void ChromeWriter::start(const TimelineFacts&, std::uint64_t) {}

void ChromeWriter::open_event(std::string_view phase, const Place& place, std::uint64_t time) {
    out_ += is_first_ ? "[\n" : ",\n";
    is_first_ = false;
    out_ += "{\"ph\":\"";
    out_ += phase;
    out_ += "\",\"pid\":";
    append(out_, place.pid);
    out_ += ",\"tid\":";
    append(out_, place.tid);
    out_ += ",\"ts\":";
    append_microseconds(out_, time);
}

void ChromeWriter::close_event() {
    constexpr std::size_t kFull = 64 << 10;
    out_ += '}';
    if (out_.size() < kFull) return;
    write_(out_);
    out_.clear();
}

void ChromeWriter::add_text(std::string_view key, std::string_view text) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
    append_json_quoted(out_, text);
}

void ChromeWriter::add_arguments(std::span<const Argument> arguments) {
    if (arguments.empty()) return;
    out_ += ",\"args\":{";
    for (const Argument& one : arguments) {
        if (&one != arguments.data()) out_ += ',';
        append_json_quoted(out_, one.name);
        out_ += ':';
        append_value(out_, one);
    }
    out_ += '}';
}

void ChromeWriter::add_name(std::string_view what, const Place& place, std::string_view name) {
    open_event("M", place, 0);
    add_text("name", what);
    const Argument argument{"name", Argument::Kind::text, 0, name};
    add_arguments({&argument, 1});
    close_event();
}

// A group is a process of its own, with the names of those that it is in; what is in no group is a
// task.
void ChromeWriter::add_track(const Track& track) {
    Place& place = places_[track.id];
    if (track.kind == Track::Kind::task) {
        place = {
            static_cast<unsigned>(track.pid), static_cast<unsigned>(track.tid), track.name, {}};
        if (track.pid == track.tid) add_name("process_name", place, track.name);
        add_name("thread_name", place, track.name);
        return;
    }
    const auto parent = places_.find(track.parent);
    if (track.kind == Track::Kind::group) {
        place = {kNoProcess + track.id, 0, track.name, {}};
        if (parent != places_.end()) place.name = cat(parent->second.name, ' ', track.name);
        add_name("process_name", place, place.name);
        return;
    }
    const std::uint64_t pid = parent == places_.end() ? kNoProcess : parent->second.pid;
    place = {pid, track.id, track.name, track.unit};
    if (track.kind == Track::Kind::lane) add_name("thread_name", place, track.name);
}

// An arrow binds to the slice that it is in.
void ChromeWriter::add_flow(const Happening& what, const Place& place) {
    if (what.flow == 0) return;
    const bool is_new = flows_.try_emplace(what.flow, true).second;
    open_event(is_new ? "s" : what.is_flow_end ? "f" : "t", place, what.time);
    add_text("name", "job");
    add_text("cat", "flow");
    out_ += ",\"id\":";
    append(out_, what.flow);
    if (what.is_flow_end) add_text("bp", "e");
    close_event();
    if (what.is_flow_end) flows_.erase(what.flow);
}

void ChromeWriter::begin(const Happening& slice) {
    const Place& place = places_[slice.track];
    open_event("B", place, slice.time);
    add_text("name", slice.name);
    add_text("cat", slice.category);
    add_arguments(slice.arguments);
    close_event();
    add_flow(slice, place);
}

void ChromeWriter::end(std::uint32_t track, std::uint64_t time,
                       std::span<const Argument> arguments) {
    open_event("E", places_[track], time);
    add_arguments(arguments);
    close_event();
}

// Arrows lead between slices only, so an instant with one is the shortest slice there is.
void ChromeWriter::instant(const Happening& instant) {
    const Place& place = places_[instant.track];
    open_event(instant.flow != 0 ? "X" : "i", place, instant.time);
    out_ += instant.flow != 0 ? ",\"dur\":0.001" : ",\"s\":\"t\"";
    add_text("name", instant.name);
    add_text("cat", instant.category);
    add_arguments(instant.arguments);
    close_event();
    add_flow(instant, place);
}

void ChromeWriter::count(std::uint32_t track, std::uint64_t time, std::int64_t value) {
    const Place& place = places_[track];
    open_event("C", place, time);
    add_text("name", place.name);
    const Argument argument = number(place.unit, value);
    add_arguments({&argument, 1});
    close_event();
}

ChromeWriter::Place& ChromeWriter::cpu_place(int cpu) {
    const auto [it, is_new] = cpus_.try_emplace(cpu);
    if (!is_new) return it->second;
    it->second = {kNoProcess, static_cast<unsigned>(cpu), cat("CPU ", cpu), {}};
    if (cpus_.size() == 1) add_name("process_name", it->second, "Scheduler");
    add_name("thread_name", it->second, it->second.name);
    return it->second;
}

void ChromeWriter::switch_task(const TaskSwitch& change) {
    const Place& place = cpu_place(change.cpu);
    int& running = running_[change.cpu];
    if (running != 0) {
        open_event("E", place, change.time);
        const Argument state = number("end_state", change.prev_state);
        // Another task goes than came: the switch between them is not recorded.
        if (running == change.prev_pid) add_arguments({&state, 1});
        close_event();
    }
    running = change.next_pid;
    if (running == 0) return;
    open_event("B", place, change.time);
    add_text("name", change.next_comm);
    add_text("cat", "sched");
    const std::array<Argument, 2> arguments{number("tid", change.next_pid),
                                            number("prio", change.next_prio)};
    add_arguments(arguments);
    close_event();
}

void ChromeWriter::lose(const Gap& gap) {
    const auto it = running_.find(gap.cpu);
    if (it == running_.end() || it->second == 0) return;
    open_event("E", cpu_place(gap.cpu), gap.since);
    close_event();
    it->second = 0;
}

void ChromeWriter::wake(const Wakeup& wakeup) {
    open_event("i", cpu_place(wakeup.cpu), wakeup.time);
    out_ += ",\"s\":\"t\"";
    add_text("name", cat("wakes ", wakeup.comm));
    add_text("cat", "sched");
    const std::array<Argument, 4> arguments{number("tid", wakeup.pid), number("prio", wakeup.prio),
                                            number("target_cpu", wakeup.target_cpu),
                                            number("waker", wakeup.waker)};
    add_arguments(arguments);
    close_event();
}

void ChromeWriter::finish() {
    out_ += is_first_ ? "[]\n" : "\n]\n";
    write_(out_);
    out_.clear();
}

}  // namespace gpufs
