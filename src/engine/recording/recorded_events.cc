#include "engine/recording/recorded_events.h"

#include "base/cat.h"
#include "base/glob.h"
#include "base/text.h"

namespace gpufs {

void RecordedEvents::add(std::string_view system, std::string format_text) {
    const int id = declared_id(format_text);
    std::string full_name = cat(system, ':', declared_name(format_text));
    if (by_id_.contains(id)) return;
    ids_.try_emplace(full_name, id);
    by_id_.emplace(id, Recorded{std::move(full_name), std::move(format_text)});
}

std::vector<std::string> RecordedEvents::names() {
    std::vector<std::string> names;
    for (const auto& [id, event] : by_id_) names.push_back(event.full_name);
    return names;
}

std::optional<std::string> RecordedEvents::format_text(std::string_view full_name) {
    const auto it = ids_.find(full_name);
    return it == ids_.end() ? std::nullopt : std::optional(by_id_.at(it->second).text);
}

std::optional<std::string> RecordedEvents::find_name(int id) {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? std::nullopt : std::optional(it->second.full_name);
}

std::string RecordedEvents::advice(std::string_view missing) const {
    if (missing.find(':') != missing.npos && !is_glob(missing))
        return cat("'gpufs record -e ", missing, "' records it");
    return report("--stat") + " shows the events of the recording";
}

std::string RecordedEvents::field_advice() const {
    return report("--json") + " shows the fields of its records";
}

// The command, in quotes, that reads the recording with the option.
std::string RecordedEvents::report(std::string_view option) const {
    const bool has_path = !path_.empty() && path_ != "-";
    return cat("'gpufs report ", option, has_path ? cat(' ', shell_quote(path_)) : "", "'");
}

}  // namespace gpufs
