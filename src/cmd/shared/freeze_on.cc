#include "cmd/shared/freeze_on.h"

#include "base/error.h"
#include "base/text.h"
#include "view/json.h"

namespace gpufs {
namespace {

// A kernel stack behind each event.
constexpr const char* kStacks = "options/stacktrace";

Expression parse(const std::string& text) {
    return parse_expression({"--freeze-on", text});
}

// The events of the program's tracepoints that this machine has.
std::vector<std::string> events_of(const Program& program, const Tracefs& tracefs) {
    std::vector<std::string> events;
    const auto add = [&](const std::vector<ProbeTarget>& alternatives) {
        for (const ProbeTarget& target : alternatives) {
            if (target.kind != ProbeTarget::Kind::tracepoint || target.has_glob) continue;
            if (!tracefs.has(event_directory(target.name))) continue;
            events.push_back(target.name);
            return;
        }
    };
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets) add(alternatives);
    return events;
}

void set_events(const Tracefs& instance, const std::vector<std::string>& events, bool enable) {
    for (const std::string& event : events)
        instance.write(event_directory(event) + "/enable", enable ? "1\n" : "0\n", Write::replace);
}

bool records_already(const Session& session) {
    return session.exists() && !trim(session.tracefs().read("set_event")).empty();
}

}  // namespace

FreezeOn::FreezeOn(const Program& program, const std::string& condition, const Session& session)
    : condition_text_(condition), session_(session), condition_(program, parse(condition)) {
    if (records_already(session_)) {
        if (trim(session_.tracefs().read("tracing_on")) == "0")
            throw Error(
                cat(session_.described(), " is stopped already"),
                cat("'gpufs start", session_.option(), "' lets it record; or --session NAME"));
        return;
    }
    events_ = events_of(program, session_.top());
    own_ = std::make_unique<FreezeSession>(session_, [this](const Tracefs& instance) {
        set_events(instance, events_, false);
        if (sets_stacks_) instance.write(kStacks, "0\n", Write::replace);
    });
    const Tracefs& instance = session_.tracefs();
    sets_stacks_ = instance.has(kStacks) && trim(instance.read(kStacks)) == "0";
    if (sets_stacks_) instance.write(kStacks, "1\n", Write::replace);
    set_events(instance, events_, true);
}

void FreezeOn::look_at(const RecordLayout& layout, std::span<const std::byte> record) {
    if (is_frozen_ || !condition_.holds(layout, record)) return;
    if (own_)
        own_->freeze();
    else
        session_.tracefs().write("tracing_on", "0\n", Write::replace);
    is_frozen_ = true;
}

std::string FreezeOn::end_text() const {
    if (!is_frozen_) return cat("nothing to freeze for: '", condition_text_, "' never held");
    return cat(session_.described(), " stopped when '", condition_text_, "' held: 'gpufs show",
               session_.option(), "' has what led to it, 'gpufs ", own_ ? "reset" : "start",
               session_.option(), own_ ? "' removes it" : "' lets it record again");
}

std::string FreezeOn::end_json() const {
    return JsonObject().text("freeze_on", condition_text_).boolean("frozen", is_frozen_).done();
}

}  // namespace gpufs
