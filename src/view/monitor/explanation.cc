#include "view/monitor/explanation.h"

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

}  // namespace gpufs
