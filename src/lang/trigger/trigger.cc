#include "lang/trigger/trigger.h"

#include <algorithm>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/trigger/hist_spec.h"

namespace gpufs {
namespace {

bool takes_event(std::string_view action) {
    return action == "enable_event" || action == "disable_event";
}

// Parses "count=5", "5" or "unlimited", the word behind the last colon. False for anything else.
bool parse_count(std::string_view word, std::optional<unsigned long>& count) {
    if (word == "unlimited") {
        count.reset();
        return true;
    }
    if (word.starts_with("count=")) word.remove_prefix(6);
    const auto number = whole_number<unsigned long>(word);
    if (number) count = number;
    return number.has_value();
}

// Linux 7.3 shows a key common_cpu with its name twice, and does not take it back so.
std::string in_one_spelling(std::string_view argument) {
    constexpr std::string_view kTwice = "common_cpucommon_cpu";
    std::string text(argument);
    for (auto at = text.find(kTwice); at != text.npos; at = text.find(kTwice, at))
        text.erase(at, kTwice.size() / 2);
    return text;
}

}  // namespace

std::string Trigger::kind() const {
    if (action == "traceon" || action == "traceoff") return "traceon or traceoff";
    if (takes_event(action)) return cat("enable_event or disable_event:", argument);
    if (is_hist()) return cat("hist:", hist_kind(argument));
    return action;
}

std::string Trigger::to_text() const {
    std::string text = action;
    if (!argument.empty()) text += ':' + argument;
    if (count) text += cat(':', *count);
    if (!condition.empty()) text += " if " + condition;
    return text;
}

std::string Trigger::removal() const {
    if (is_hist()) return '!' + to_text();
    return '!' + (takes_event(action) ? cat(action, ':', argument) : action);
}

bool Trigger::is_known() const {
    return std::ranges::count(kTriggerActions, action) > 0;
}

Trigger parse_trigger(std::string_view line) {
    Trigger trigger;
    line = trim(line);
    for (const std::string_view state : {" [active]", " [paused]", " [disabled]"})
        if (line.starts_with("hist:") && line.ends_with(state)) line.remove_suffix(state.size());
    if (const auto condition = line.find(" if "); condition != line.npos) {
        trigger.condition = trim(line.substr(condition + 4));
        line = trim(line.substr(0, condition));
    }
    const auto colon = line.find(':');
    trigger.action = line.substr(0, colon);
    if (colon == line.npos) return trigger;
    std::string_view rest = line.substr(colon + 1);
    if (trigger.is_known() && !trigger.is_hist()) {
        const auto last = rest.rfind(':');
        if (parse_count(last == rest.npos ? rest : rest.substr(last + 1), trigger.count))
            rest = last == rest.npos ? std::string_view() : rest.substr(0, last);
    }
    trigger.argument = trigger.is_hist() ? in_one_spelling(rest) : std::string(rest);
    return trigger;
}

std::vector<Trigger> parse_triggers(std::string_view file) {
    std::vector<Trigger> triggers;
    for (const std::string_view line : lines_of(file))
        if (!trim(line).empty() && line[0] != '#') triggers.push_back(parse_trigger(line));
    return triggers;
}

std::optional<std::vector<std::string>> available_triggers(std::string_view file) {
    const auto lines = lines_of(file);
    if (lines.size() < 2 || lines[0] != "# Available triggers:") return std::nullopt;
    return split(trim(lines[1].substr(1)), ' ');
}

}  // namespace gpufs
