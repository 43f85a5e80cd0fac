#include "engine/probe/add.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/text.h"
#include "engine/probe/found_place.h"
#include "engine/probe/static_events.h"
#include "engine/session/session_probes.h"
#include "lang/probe/argument.h"
#include "lang/probe/definition.h"

namespace gpufs {
namespace {

std::vector<std::string> texts_at(const SourceText& source, const std::vector<Span>& spans) {
    std::vector<std::string> texts;
    for (const Span at : spans) texts.push_back(source.text.substr(at.begin, at.end - at.begin));
    return texts;
}

class Adder {
public:
    Adder(const Session& session, const SourceText& source, const std::string& file)
        : session_(session),
          source_(source),
          file_(file),
          definition_(parse_probe_definition(source)) {
        for (const ProbeLine& probe : probes_of(session.top(), session.probe_group()))
            known_.insert(probe.name);
    }

    ProbeAddition plan() {
        const ProbePlace place = parse_probe_place(source_, definition_.place_at, definition_.place,
                                                   names_code_file, file_);
        plan_session(made_.plan, session_);
        if (place.kind == ProbePlace::Kind::static_probe)
            add_static(place);
        else if (needs_debug_info(source_, definition_, place))
            add_by_source(place);
        else
            add_places(place);
        return std::move(made_);
    }

private:
    void add_places(const ProbePlace& place) {
        const bool is_user = place.kind == ProbePlace::Kind::in_file;
        parse_probe_arguments(source_, definition_.arguments,
                              {is_user, definition_.is_return, place.offset != 0});
        const auto found =
            find_places(session_.top(), source_, definition_, place, made_.plan.notes);
        if (definition_.name && found.size() > 1)
            throw SourceError(source_, definition_.name_at,
                              cat(found.size(), " functions match: each is an event of its own"),
                              "leave the name out: each event is named for its function");
        const auto arguments = texts_at(source_, definition_.arguments);
        for (const FoundPlace& one : found) {
            const std::string name = definition_.name
                                         ? *definition_.name
                                         : event_name_for(one.function, definition_.is_return);
            begin_event(name);
            write(name, one.text, arguments, definition_.arguments, is_user);
            tell(name, one.text, arguments, 1);
        }
    }

    void add_static(const ProbePlace& place) {
        require_probe_events(session_.top(), true);
        if (definition_.is_return)
            throw SourceError(source_, definition_.place_at, "a static probe has no return",
                              "leave out the 'r', or '%return'");
        add_events(find_static_events(source_, definition_, place, made_.plan.notes));
    }

    void add_by_source(const ProbePlace& place) {
        require_probe_events(session_.top(), true);
        add_events(find_source_events(source_, definition_, place, made_.plan.notes, made_.ways));
    }

    void add_events(std::vector<PlannedEvent> events) {
        for (const PlannedEvent& event : events) check(event);
        if (definition_.name && events.size() > 1)
            throw SourceError(source_, definition_.name_at,
                              cat(events.size(), " events come of this: one name is not enough"),
                              "leave the name out: each event is named for its probe");
        for (PlannedEvent& event : events) {
            if (definition_.name) event.name = *definition_.name;
            begin_event(event.name);
            for (const PlannedEvent::Place& one : event.places)
                write(event.name, one.text, one.arguments, event.arguments_at, true);
            tell(event.name, event.places.front().text, event.places.front().arguments,
                 event.places.size());
        }
    }

    // The arguments are checked as they will be written; a mistake in one is shown
    // where the user wrote it.
    void check(const PlannedEvent& event) {
        for (const PlannedEvent::Place& place : event.places)
            for (std::size_t i = 0; i < place.arguments.size(); ++i) {
                const SourceText text{source_.name, place.arguments[i]};
                try {
                    parse_probe_arguments(text, {{0, text.text.size()}}, {true, false, true});
                } catch (const SourceError& e) {
                    throw SourceError(source_, event.arguments_at[i], e.message(), e.hint());
                }
            }
    }

    void begin_event(const std::string& name) {
        const std::string event = cat(session_.probe_group(), ':', name);
        if (!known_.insert(name).second)
            throw UsageError(
                cat(session_.described(), " has a probe '", name, "' already"),
                cat("give this one another name: ", definition_.is_return ? "r" : "p", ":NAME ",
                    definition_.place, " …; or remove the other: gpufs probe remove ", name,
                    session_.option()));
        made_.events.push_back(event);
    }

    void write(const std::string& name, const std::string& place,
               const std::vector<std::string>& arguments, const std::vector<Span>& arguments_at,
               bool is_user) {
        const std::string letter = cat(definition_.is_return ? "r" : "p", definition_.most_active);
        const std::string event = cat(session_.probe_group(), '/', name);
        ProbeWrite made{
            cat(letter, ':', event, ' ', place),
            {definition_.name ? definition_.name_at : definition_.place_at, definition_.place_at}};
        for (const std::string& argument : arguments) made.line += ' ' + argument;
        made.words.insert(made.words.end(), arguments_at.begin(), arguments_at.end());
        // One undo removes all places of an event, and the first is undone last.
        const bool is_first = std::ranges::none_of(made_.writes, [&](const ProbeWrite& other) {
            return other.line.find(cat(':', event, ' ')) != std::string::npos;
        });
        made_.plan.changes.append(session_.top(), definition_file(session_.top(), is_user),
                                  made.line,
                                  is_first ? cat("-:", event) : cat("-:", event, ' ', place));
        made_.writes.push_back(std::move(made));
    }

    void tell(const std::string& name, const std::string& place,
              const std::vector<std::string>& arguments, std::size_t places) {
        made_.plan.notes.push_back(
            cat(session_.probe_group(), ':', name, ": ", definition_.is_return ? "return of " : "",
                place, places > 1 ? cat(" and ", places - 1, " more") : "",
                arguments.empty() ? "" : " ", join(arguments, " "), ", in ", session_.described()));
    }

    const Session& session_;
    const SourceText& source_;
    const std::string& file_;
    ProbeDefinition definition_;
    std::set<std::string> known_;
    ProbeAddition made_;
};

// An entry of error_log about a probe:
//
//   [  854.001001] trace_uprobe: error: Invalid register name
//     Command: p:gpufs/open /bin/bash:0x1139 a=%al
//                                              ^
struct Complaint {
    std::string reason, command;
    std::size_t at = 0;  // in the command
};
std::optional<Complaint> parse_complaint(std::string_view entry) {
    constexpr std::string_view kError = "error: ", kCommand = "Command: ";
    const auto lines = lines_of(entry);
    if (lines.size() < 3) return std::nullopt;
    const auto error = lines[0].find(kError), command = lines[1].find(kCommand),
               caret = lines[2].find('^');
    if (error == lines[0].npos || command == lines[1].npos || caret == lines[2].npos)
        return std::nullopt;
    const std::size_t begin = command + kCommand.size();
    return Complaint{std::string(lines[0].substr(error + kError.size())),
                     std::string(lines[1].substr(begin)), caret > begin ? caret - begin : 0};
}

}  // namespace

ProbeAddition plan_add_probe(const Session& session, const SourceText& definition,
                             const std::string& file) {
    return Adder(session, definition, file).plan();
}

void throw_refused(const SysError& refusal, const SourceText& definition,
                   const ProbeAddition& addition) {
    const auto complaint = parse_complaint(refusal.evidence());
    if (!complaint) throw refusal;
    const auto write = std::ranges::find(addition.writes, complaint->command, &ProbeWrite::line);
    if (write == addition.writes.end()) throw refusal;
    // The word that the kernel points into.
    std::size_t word = 0, begin = 0;
    for (std::size_t i = 0; i < complaint->at && i < write->line.size(); ++i)
        if (write->line[i] == ' ') ++word, begin = i + 1;
    if (word >= write->words.size()) throw refusal;
    Span at = write->words[word];
    const std::string text = definition.text.substr(at.begin, at.end - at.begin);
    // Words that were taken over as they are written have their places, too.
    const std::size_t past = complaint->at - begin;
    if (write->line.substr(begin).starts_with(text) && past < text.size()) at.begin += past;
    throw SourceError(definition, at, cat("the kernel refuses this: ", complaint->reason),
                      cat("it was given: ", write->line));
}

}  // namespace gpufs
