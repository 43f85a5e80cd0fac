#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/recipe/check.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/probe/definition.h"

namespace gpufs {

// Finds out where the probes of a recipe go on this machine, as `gpufs probe add` does.
class ProbeFinder {
public:
    // Without `looks_at_files`, a program to probe is taken to be there.
    ProbeFinder(const Tracefs& top, const Recipe& recipe, bool looks_at_files)
        : top_(top), recipe_(recipe), looks_at_files_(looks_at_files) {}

    // What a probe comes to: `probe`, or why not. `lack` is a few words about this kernel; throws
    // SourceError where the recipe or the program it names is wrong.
    struct Answer {
        std::optional<RecipeOnKernel::Probe> probe;
        std::string lack, hint;
    };
    Answer find(const RecipeProbe& probe) const;

private:
    std::vector<std::string> definitions(const SourceText& text, const ProbeDefinition& definition,
                                         const ProbePlace& place) const;

    const Tracefs& top_;
    const Recipe& recipe_;
    bool looks_at_files_;
};

}  // namespace gpufs
