#include "gpufs/event.h"

#include "api/event_info.h"
#include "engine/trace/kernel_events.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs::api {

EventInfo info_of(const EventFormat& format) {
    EventInfo info{format.full_name(), format.id, {}};
    for (const Field& field : format.fields)
        if (!field.is_common) info.fields.push_back({field.name, field.declaration()});
    return info;
}

std::vector<std::string> event_names(const std::vector<std::string>& patterns) {
    Events events = kernel_events(find_tracefs());
    return patterns.empty() ? events.names() : events.match(patterns);
}

EventInfo event_info(const std::string& name) {
    Events events = kernel_events(find_tracefs());
    return info_of(events.require(name));
}

std::vector<std::string> events_for(const std::string& expression) {
    Events events = kernel_events(find_tracefs());
    std::vector<std::string> names;
    for (const EventFormat& event :
         events.with_fields_of(parse_expression({"expression", expression})))
        names.push_back(event.full_name());
    return names;
}

std::string tracefs_filter(const std::string& expression, const std::string& event) {
    Events events = kernel_events(find_tracefs());
    return to_filter(parse_expression({"expression", expression}), events.require(event));
}

}  // namespace gpufs::api
