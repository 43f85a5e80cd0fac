#include "view/monitor/explanation.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace gpufs {
namespace {

std::string text_of(const LoadedSite& loaded) {
    using Way = LoadedSite::Way;
    const ProbeSite& site = loaded.site;
    switch (loaded.way) {
        case Way::as_written:
            return "";
        case Way::raw_tracepoint:
            return cat(", as raw tracepoint ", site.event->name, ": it reads no field");
        case Way::raw_syscall:
            return ", as raw tracepoint sys_enter with its number checked: it reads no field";
        case Way::all_syscalls:
            return ", at the event of all system calls with its number checked: no hit is left out";
        case Way::recording:
            return ", over the recording";
    }
    return "";
}

std::string text_of(ConditionUse condition) {
    switch (condition) {
        case ConditionUse::none:
        case ConditionUse::asked:
            return "";
        case ConditionUse::lacks_field:
            return "; --if does not apply: it lacks a field of it";
        case ConditionUse::at_begin:
            return "; --if stands where this begins";
        case ConditionUse::at_end:
            return "; --if stands where this ends";
    }
    return "";
}

// "polls are not told: WHY"
struct Untold {
    std::string things, why;
};
std::optional<Untold> parse_untold(std::string_view caution) {
    for (const std::string_view words : {" is not told: ", " are not told: "})
        if (const auto at = caution.find(words); at != caution.npos)
            return Untold{std::string(caution.substr(0, at)),
                          std::string(caution.substr(at + words.size()))};
    return std::nullopt;
}

}  // namespace

std::vector<std::string> explanation(std::span<const LoadedSite> sites,
                                     const PreparedProgram& prepared) {
    std::vector<std::string> lines;
    for (const LoadedSite& one : sites) {
        lines.push_back(cat(one.site.program->name, ": ", one.site.described(), text_of(one), ", ",
                            counted(one.insns, "instruction"), text_of(one.condition)));
        for (const NamedVariable& variable : one.site.variables)
            if (variable.value)
                lines.push_back(cat(one.site.program->name, ": ", variable.to_text(), " is ",
                                    variable.value->to_text()));
    }
    for (const auto* more : {&prepared.choices(), &prepared.notes()})
        lines.insert(lines.end(), more->begin(), more->end());
    return lines;
}

std::vector<std::string> caution_lines(const std::vector<std::string>& cautions) {
    std::vector<std::string> lines;
    std::vector<Untold> told;  // with others
    for (const std::string& caution : cautions) {
        const std::optional<Untold> one = parse_untold(caution);
        if (one && std::ranges::count(told, one->why, &Untold::why) > 0) continue;
        std::vector<std::string> things;
        if (one)
            for (const std::string& other : cautions)
                if (const auto same = parse_untold(other); same && same->why == one->why)
                    things.push_back(same->things);
        if (things.size() < 2) {
            lines.push_back(caution);
        } else {
            lines.push_back(cat(join(things, "; "), " are not told: ", one->why));
            told.push_back(*one);
        }
    }
    return lines;
}

}  // namespace gpufs
