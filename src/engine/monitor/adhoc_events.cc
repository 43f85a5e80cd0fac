#include "engine/monitor/adhoc_events.h"

#include "lang/asm/probe_word.h"
#include "lang/program/function_fields.h"

namespace gpufs {
namespace {

// A probe without a format: "kprobe", "vfs_read".
AdhocEvent event_of(ProbeTarget target, const AdhocWord& word) {
    AdhocEvent event;
    const std::size_t colon = word.text.find(':');
    event.format.system = word.text.substr(0, colon);
    event.format.name = word.text.substr(colon + 1);
    event.format.fields = function_fields(target.kind);
    event.target = std::move(target);
    return event;
}

void add_tracepoints(const ProbeTarget& target, const SourceText& source, KernelFacts& machine,
                     Diagnostics& mistakes, std::vector<AdhocEvent>& into) {
    const std::vector<std::string> names =
        target.has_glob ? machine.events().names(target.name) : std::vector{target.name};
    const std::size_t before = into.size();
    for (const std::string& name : names) {
        const EventFormat* format = machine.events().find_format(name);
        if (!format) continue;
        AdhocEvent event{target, *format, true, target.has_glob};
        event.target.name = name;
        event.target.has_glob = false;
        into.push_back(std::move(event));
    }
    if (into.size() == before)
        mistakes.error(
            source, target.at.span,
            target.has_glob
                ? cat("no event of ", machine.described(), " matches '", target.name, "'")
                : cat(machine.described(), " has no event '", target.name, "'"),
            machine.events().hint(target.name));
}

}  // namespace

std::vector<AdhocEvent> find_adhoc_events(const SourceText& source,
                                          std::span<const AdhocWord> words, KernelFacts& machine,
                                          Diagnostics& mistakes) {
    std::vector<AdhocEvent> events;
    for (const AdhocWord& word : words) {
        try {
            ProbeTarget target = parse_probe_word(source, word.at.source, word.at.span);
            if (target.kind == ProbeTarget::Kind::tracepoint)
                add_tracepoints(target, source, machine, mistakes, events);
            else
                events.push_back(event_of(std::move(target), word));
        } catch (const SourceError& e) {
            mistakes.error(source, e);
        }
    }
    return events;
}

}  // namespace gpufs
