#pragma once

#include <optional>
#include <string>

#include "cmd/run/run_program.h"
#include "cmd/run/script_run.h"
#include "cmd/shared/command.h"

namespace gpufs {

// What the command line of gpufs bt says.
struct BtChoices {
    ScriptChoices script;
    RunChoices run;
    std::optional<std::string> program, output;
    std::optional<std::string> pattern;  // of what is listed
    bool is_help = false, is_version = false, is_info = false, is_quiet = false;
};

// As getopt_long(3) reads it: options may stand anywhere in front of "--", and what is behind it
// belongs to the script. Throws UsageError; for an option that is none with the text of --help.
BtChoices parse_bt_line(Args args);

// The text of --help.
std::string bt_help();

}  // namespace gpufs
