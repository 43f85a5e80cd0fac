#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/recipe/check.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {

// Finds out where the probes of a recipe go on this machine. Looks functions up, once, when the
// first probe asks for one.
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
    Answer find(const RecipeProbe& probe);

private:
    Answer find_kernel_place(const RecipeProbe& probe);
    Answer find_user_place(const RecipeProbe& probe);
    Answer make(const RecipeProbe& probe, const std::string& place) const;

    const Tracefs& top_;
    const Recipe& recipe_;
    bool looks_at_files_;
    std::optional<std::vector<KernelFunction>> functions_;
};

}  // namespace gpufs
