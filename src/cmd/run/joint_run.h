#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cmd/run/run_program.h"
#include "cmd/run/script_run.h"
#include "cmd/shared/command.h"

namespace gpufs {

// Scripts and monitors that are to run together, as the user names them.
struct JointChoices {
    struct Monitor {
        std::string name;  // or its file
    };
    std::vector<std::variant<Monitor, ScriptChoices>> parts;
    std::vector<std::string> parameters;  // name=value
    std::vector<int> pids;

    bool has_scripts() const;
    // Nothing else.
    bool is_one_script() const { return parts.size() == 1 && has_scripts(); }
};

// Sorts the words of a command line: scripts and monitors by their names, the arguments that the
// scripts in front of them ask for, and name=value. `texts` are scripts themselves, in front of all
// words. `common` has what is said of all scripts.
JointChoices sort_words(const std::vector<std::string>& texts,
                        const std::vector<std::string>& words, const ScriptChoices& common);

// Runs them as one program: see JointPrinter. Returns what Command::run returns.
int run_together(Context& ctx, const JointChoices& joint, RunChoices choices);
// The same for programs that are there already; of `joint` the rest counts.
int run_merged(Context& ctx, std::vector<Program> programs, const JointChoices& joint,
               RunChoices choices);

}  // namespace gpufs
