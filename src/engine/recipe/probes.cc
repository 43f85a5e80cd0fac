#include "engine/recipe/probes.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/scan.h"
#include "engine/probe/places.h"
#include "engine/session/session_probes.h"
#include "kernel/host/kallsyms.h"

namespace gpufs {
namespace {

// "gpu_sched:drm_sched_job_timedout+16".
struct KernelPlace {
    std::string module, function, offset;
};
KernelPlace parse_kernel_place(const std::string& text) {
    KernelPlace place;
    const auto colon = text.find(':');
    if (colon != text.npos) place.module = text.substr(0, colon);
    place.function = colon == text.npos ? text : text.substr(colon + 1);
    if (const auto plus = place.function.find('+'); plus != place.function.npos) {
        place.offset = place.function.substr(plus);
        place.function.resize(plus);
    }
    return place;
}

}  // namespace

ProbeFinder::Answer ProbeFinder::make(const RecipeProbe& probe, const std::string& place) const {
    RecipeOnKernel::Probe made;
    made.name = probe.name.text;
    made.file = definition_file(top_, probe.is_user());
    made.letter = probe.is_return() ? 'r' : 'p';
    made.definition = place;
    for (const RecipeWord& field : probe.fields) made.definition += ' ' + field.text;
    return {made, {}, {}};
}

ProbeFinder::Answer ProbeFinder::find(const RecipeProbe& probe) {
    return probe.is_user() ? find_user_place(probe) : find_kernel_place(probe);
}

ProbeFinder::Answer ProbeFinder::find_kernel_place(const RecipeProbe& probe) {
    if (!top_.has("kprobe_events")) return {{}, "kprobe events", missing_probe_events_hint(false)};
    if (!functions_) {
        std::set<std::string> names;
        for (const RecipeProbe& p : recipe_.probes)
            if (!p.is_user()) names.insert(parse_kernel_place(p.place.text).function);
        functions_ = find_kernel_functions(names, kallsyms_text());
    }
    const KernelPlace place = parse_kernel_place(probe.place.text);
    for (const KernelFunction& function : *functions_) {
        if (function.wanted != place.function) continue;
        // The kernel's own functions have no module, and take none.
        if (!place.module.empty() && function.module != place.module) continue;
        const std::string prefix = function.module.empty() ? "" : function.module + ':';
        return make(probe, cat(prefix, function.name, place.offset));
    }
    const bool is_loaded = place.module.empty() || file_exists(cat("/sys/module/", place.module));
    return {{},
            cat("function ", place.function),
            is_loaded ? "/proc/kallsyms has the functions of this kernel"
                      : cat("module ", place.module, " is not loaded")};
}

ProbeFinder::Answer ProbeFinder::find_user_place(const RecipeProbe& probe) {
    if (!top_.has("uprobe_events")) return {{}, "uprobe events", missing_probe_events_hint(true)};
    const std::string& text = probe.place.text;
    const auto colon = text.rfind(':');
    if (colon == text.npos || colon + 1 == text.size())
        throw SourceError(recipe_.source, probe.place.span,
                          cat("'", text, "' is no place in a program"),
                          "write FILE:FUNCTION or FILE:OFFSET");
    if (!looks_at_files_) return make(probe, text);
    const std::string file =
        require_code_file(recipe_.source, probe.place.span, text.substr(0, colon));
    const std::string place = text.substr(colon + 1);
    if (is_digit(place[0])) return make(probe, cat(file, ':', place));
    try {
        return make(probe, cat(file, ':', hex(find_function_offset(file, place))));
    } catch (const Error& e) {
        throw SourceError(recipe_.source, probe.place.span, e.what(), e.hint());
    }
}

}  // namespace gpufs
