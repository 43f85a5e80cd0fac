#include "engine/session/settings.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/session/scratch_instance.h"
#include "kernel/host/cpus.h"
#include "kernel/host/pid_namespace.h"
#include "lang/trace_dat/ring_page.h"

namespace gpufs {
namespace {

constexpr const char* kNone = "none";

std::string first_line(const Tracefs& at, std::string_view file) {
    return std::string(trim(at.read_if_readable(file).value_or("")));
}

std::string read_clock(const Tracefs& at) {
    return std::string(chosen_word(first_line(at, "trace_clock")));
}

constexpr const char* kBufferFile = "buffer_size_kb";

std::string buffer_file_of(unsigned cpu) {
    return cat("per_cpu/cpu", cpu, '/', kBufferFile);
}

// Kilobytes of a CPU's buffer: one number, or where CPUs differ, one for each possible CPU.
std::vector<std::uint64_t> read_buffer_kb(const Tracefs& at) {
    const std::string common = first_line(at, kBufferFile);
    if (common != "X") return {parse_buffer_kb(common)};
    std::vector<std::uint64_t> sizes;
    for (const unsigned cpu : possible_cpus())
        sizes.push_back(parse_buffer_kb(first_line(at, buffer_file_of(cpu))));
    return sizes;
}

std::string buffer_text(const Tracefs& at) {
    std::vector<std::string> sizes;
    for (const std::uint64_t kb : read_buffer_kb(at)) sizes.push_back(size_to_text(kb * 1024));
    return join(sizes, ",");
}

// Whether this is the size in a new instance: 1408 KB, rounded up to whole sub-buffers by newer
// kernels.
bool is_default_buffer(const Tracefs& top, std::uint64_t kb) {
    constexpr std::uint64_t kDefaultBytes = 1441792;
    if (kb == kDefaultBytes / 1024) return true;
    const auto header = top.read_if_readable("events/header_page");
    if (!header) return false;
    const PageLayout page = parse_page_layout(*header);
    const std::uint64_t data = page.page_bytes - page.data_offset;
    return kb == (kDefaultBytes + data - 1) / data * data / 1024;
}

std::string pids_of(const Tracefs& at) {
    const auto pids = split(at.read_if_readable("set_event_pid").value_or(""), '\n');
    return pids.empty() ? kNone : join(pids, ",");
}

bool is_on(const Tracefs& at, const std::string& option) {
    return first_line(at, "options/" + option) == "1";
}

// Options that are on in a new instance; all others are off.
bool is_on_by_default(std::string_view option) {
    constexpr std::string_view kOn[] = {"print-parent", "trace_printk",  "annotate", "context-info",
                                        "record-cmd",   "overwrite",     "irq-info", "markers",
                                        "hash-ptr",     "function-trace"};
    return std::ranges::count(kOn, option) > 0;
}

// The options common to all tracers. Other files in options/ belong to one tracer.
std::vector<std::pair<std::string, bool>> core_options(const Tracefs& at) {
    std::vector<std::pair<std::string, bool>> options;
    for (std::string& word : split(at.read("trace_options"), '\n')) {
        const bool off = word.starts_with("no") && !at.has("options/" + word);
        options.emplace_back(off ? word.substr(2) : word, !off);
    }
    return options;
}

bool parse_switch(const Setting& setting) {
    if (setting.value == "on" || setting.value == "1") return true;
    if (setting.value == "off" || setting.value == "0") return false;
    throw UsageError(cat(setting.name, " is on or off, not '", setting.value, "'"));
}

std::string on_off(bool on) {
    return on ? "on" : "off";
}

// The file of a setting, the text that sets it and the text that restores it; what is to be noted
// about it, if anything.
struct FileWrite {
    std::string file, text, previous, note = {};
    bool records_all_meanwhile = false;  // while the kernel has neither text
};

// One, or one for each file.
using FileWrites = std::vector<FileWrite>;

FileWrites set_buffer(const Session&, const Tracefs& at, const Setting& setting) {
    constexpr std::uint64_t kLeastKb = 8;
    std::vector<std::uint64_t> sizes, before = read_buffer_kb(at);
    for (const std::string& size : split(setting.value, ',')) {
        sizes.push_back((parse_size("buffer", size) + 1023) / 1024);
        if (sizes.back() < kLeastKb) throw UsageError("buffer needs at least 8k a CPU");
    }
    const auto& cpus = possible_cpus();
    if (sizes.empty() || (sizes.size() != 1 && sizes.size() != cpus.size()))
        throw UsageError(cat("buffer takes one size, or one for each of ",
                             counted(cpus.size(), "CPU"), ": not '", setting.value, "'"));
    if (sizes.size() == 1 && before.size() == 1)
        return {{kBufferFile, cat(sizes.front()), cat(before.front())}};
    sizes.resize(cpus.size(), sizes.front());
    before.resize(cpus.size(), before.front());
    FileWrites writes;
    for (std::size_t i = 0; i < cpus.size(); ++i)
        writes.push_back({buffer_file_of(cpus[i]), cat(sizes[i]), cat(before[i])});
    return writes;
}

FileWrites set_clock(const Session&, const Tracefs& at, const Setting& setting) {
    std::vector<std::string> clocks = split(first_line(at, "trace_clock"), ' ');
    for (std::string& clock : clocks)
        std::erase_if(clock, [](char c) { return c == '[' || c == ']'; });
    if (std::ranges::count(clocks, setting.value) == 0)
        throw UsageError(cat("this kernel has no trace clock '", setting.value, "'"),
                         cat("it has: ", join(clocks, " ")));
    return {{"trace_clock", setting.value, read_clock(at)}};
}

FileWrites set_pids(const Session&, const Tracefs& at, const Setting& setting) {
    const auto pids =
        setting.value == kNone ? std::vector<std::string>() : split(setting.value, ',');
    for (const std::string& pid : pids) {
        if (!whole_number<unsigned>(pid))
            throw UsageError(cat("pids takes numbers, not '", pid, "'"),
                             "such as pids=1234,1240; pids=none takes the limit away");
    }
    if (pids.empty() && setting.value != kNone)
        throw UsageError("pids takes numbers, or 'none'", "such as pids=1234,1240");
    if (!pids.empty()) require_initial_pids();
    const auto before = split(at.read_if_readable("set_event_pid").value_or(""), '\n');
    return {{"set_event_pid",
             join(pids, " "),
             join(before, " "),
             {},
             !pids.empty() && !before.empty()}};
}

FileWrites set_cpus(const Session&, const Tracefs& at, const Setting& setting) {
    FileWrite write{"tracing_cpumask", {}, first_line(at, "tracing_cpumask")};
    const auto& possible = possible_cpus();
    if (setting.value == "all") {
        write.text = cpu_mask(possible);
        return {write};
    }
    const auto cpus = parse_cpu_list("cpus", setting.value);
    const auto online = online_cpus();
    // One that is offline may come back, and a session may have it from before it went.
    std::vector<unsigned> offline;
    for (const unsigned cpu : cpus) {
        if (std::ranges::count(possible, cpu) == 0)
            throw UsageError(cat("there is no CPU ", cpu),
                             cat("there are: ", cpu_list_to_text(possible)));
        if (std::ranges::count(online, cpu) == 0) offline.push_back(cpu);
    }
    write.text = cpu_mask(cpus);
    if (!offline.empty()) write.note = cat(" (not online now: ", cpu_list_to_text(offline), ")");
    return {write};
}

FileWrites set_option(const Session& session, const Tracefs& at, const Setting& setting) {
    const std::string name = setting.name == "children" ? "event-fork" : setting.name;
    if (name.find('/') != name.npos || !at.has("options/" + name)) {
        std::vector<std::string> names = list_directory(at.path("options"));
        for (const char* own : {"buffer", "clock", "pids", "children", "cpus"})
            names.emplace_back(own);
        std::string hint = did_you_mean(setting.name, names);
        throw UsageError(
            cat("this kernel has no trace option '", setting.name, "'"),
            hint.empty() ? cat("'gpufs options", session.exists() ? session.option() : " --global",
                               "' shows what there is")
                         : hint);
    }
    return {{"options/" + name, parse_switch(setting) ? "1" : "0", is_on(at, name) ? "1" : "0"}};
}

}  // namespace

std::vector<Setting> all_settings(const Session& session) {
    const Tracefs& at = session.tracefs();
    std::vector<Setting> settings = {
        {"buffer", buffer_text(at)},
        {"clock", read_clock(at)},
        {"pids", pids_of(at)},
        {"children", on_off(is_on(at, "event-fork"))},
        {"cpus", cpu_list_to_text(parse_cpu_mask(first_line(at, "tracing_cpumask")))}};
    for (const auto& [name, on] : core_options(at))
        if (name != "event-fork") settings.push_back({name, on_off(on)});
    return settings;
}

std::vector<Setting> changed_settings(const Session& session) {
    const Tracefs& at = session.tracefs();
    std::vector<Setting> changed;
    for (const Setting& setting : all_settings(session)) {
        bool is_default = false;
        if (setting.name == "buffer") {
            const std::vector<std::uint64_t> sizes = read_buffer_kb(at);
            is_default = sizes.size() == 1 && is_default_buffer(session.top(), sizes.front());
        } else if (setting.name == "clock") {
            is_default = setting.value == "local";
        } else if (setting.name == "pids") {
            is_default = setting.value == kNone;
        } else if (setting.name == "cpus") {
            is_default = std::ranges::includes(parse_cpu_mask(first_line(at, "tracing_cpumask")),
                                               online_cpus());
        } else {
            is_default = setting.value == on_off(is_on_by_default(setting.name));
        }
        if (!is_default) changed.push_back(setting);
    }
    return changed;
}

SessionPlan plan_settings(const Session& session, const std::vector<Setting>& settings) {
    using Writer = FileWrites (*)(const Session&, const Tracefs&, const Setting&);
    constexpr std::pair<std::string_view, Writer> kWriters[] = {
        {"buffer", set_buffer}, {"clock", set_clock}, {"pids", set_pids}, {"cpus", set_cpus}};
    SessionPlan plan;
    plan_session(plan, session);
    // The checks use the top level's settings for a session that does not exist yet.
    const Tracefs& now = session.exists() ? session.tracefs() : session.top();
    for (const Setting& setting : settings) {
        Writer writer = set_option;
        for (const auto& [name, write] : kWriters)
            if (name == setting.name) writer = write;
        std::string note;
        for (const FileWrite& write : writer(session, now, setting)) {
            const bool pauses = write.records_all_meanwhile && first_line(now, "tracing_on") == "1";
            if (pauses) plan.changes.replace(session.tracefs(), "tracing_on", "0", "1");
            plan.changes.replace(session.tracefs(), write.file, write.text, write.previous);
            if (pauses) plan.changes.replace(session.tracefs(), "tracing_on", "1", "0");
            note += write.note;
        }
        plan.notes.push_back(
            cat(setting.name, "=", setting.value, " in ", session.described(), note));
    }
    return plan;
}

std::vector<std::string> commands_to_set_again(const Session& session,
                                               const std::vector<EventState>& states) {
    std::vector<std::string> commands, with_variables;
    const std::string option = session.option();
    std::string settings;
    for (const Setting& setting : changed_settings(session))
        settings += cat(" ", shell_quote(cat(setting.name, "=", setting.value)));
    if (!settings.empty()) commands.push_back(cat("gpufs options", settings, option));
    for (const EventState& state : states) {
        const std::string no_enable = state.is_enabled ? "" : " --no-enable";
        if (!state.filter.empty())
            commands.push_back(cat("gpufs filter -e ", state.event, " ", shell_quote(state.filter),
                                   no_enable, option));
        else if (state.is_enabled)
            commands.push_back(cat("gpufs filter -e ", state.event, " --all", option));
        for (const Trigger& trigger : state.triggers) {
            if (!trigger.is_known()) {
                commands.push_back(
                    cat("# not set by gpufs: ", state.event, ": ", trigger.to_text()));
                continue;
            }
            if (trigger.count == 0ul) {
                commands.push_back(cat("# spent: ", state.event, ": ", trigger.to_text()));
                continue;
            }
            std::string command = cat("gpufs trigger ", trigger.action);
            if (!trigger.argument.empty())
                command +=
                    ' ' + (trigger.is_hist() ? shell_quote(trigger.argument) : trigger.argument);
            command += cat(" -e ", state.event);
            if (!trigger.condition.empty()) command += " --if " + shell_quote(trigger.condition);
            if (trigger.count) command += cat(" --count ", *trigger.count);
            // The kernel takes "$ts0" only once another trigger has made it.
            (trigger.argument.find('$') == std::string::npos ? commands : with_variables)
                .push_back(command + no_enable + option);
        }
    }
    commands.insert(commands.end(), with_variables.begin(), with_variables.end());
    if (!read_buffer_state(session.tracefs()).is_on) commands.push_back("gpufs stop" + option);
    return commands;
}

BufferState read_buffer_state(const Tracefs& at) {
    BufferState state;
    state.is_on = first_line(at, "tracing_on") == "1";
    if (!at.has("per_cpu")) return state;
    for (const std::string& cpu : list_directory(at.path("per_cpu")))
        state +=
            parse_buffer_counts(at.read_if_readable(cat("per_cpu/", cpu, "/stats")).value_or(""));
    return state;
}

}  // namespace gpufs
