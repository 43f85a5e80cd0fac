#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/shared/command.h"
#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

class Options;

// How a Program is run, whoever made it.
struct RunChoices {
    ParameterValues parameters;
    std::string condition;             // empty: none
    std::vector<std::string> command;  // behind --; empty: none
    std::optional<std::string> duration, interval;
    std::optional<std::string> input;  // a recording to run over
    std::optional<std::string> freeze_on, session;
    bool top = false;  // a full screen each interval
    bool dry_run = false, explain = false, folded = false, json = false, lines = false,
         strict = false, verbose = false;
};

// Declares the options that fill it, the same for all commands that run a Program; the command is
// the caller's to take.
void add_run_options(Options& options, RunChoices& choices);
// --freeze-on and its --session, where programs may be such that send records for it.
void add_freeze_options(Options& options, RunChoices& choices);

// Links, loads and attaches the program, prints its records as they come, its reports each interval
// and at the end, and what was lost. The end is a signal, which then ends this process, the
// duration, the command's end, or an exit action, which has a status. Over a recording the same, in
// the recording's time; its end is the end. Returns the exit status.
int run_program(Context& ctx, Program program, RunChoices choices);

}  // namespace gpufs
