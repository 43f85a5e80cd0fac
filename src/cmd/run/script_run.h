#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "bt/compile/compile.h"
#include "cmd/run/run_program.h"

namespace gpufs {

// A script in the bpftrace language, and how it is to be compiled and printed.
struct ScriptChoices {
    SourceText source;
    std::string name;                    // empty: by the source's
    std::vector<std::string> arguments;  // $1…
    std::vector<int> pids;               // only hits of these processes or threads; empty: all
    bool is_unsafe = false;
    bool says_attached = false;  // how many probes
    bool has_warnings = true;
    bool tells_failures = false;  // see CompileOptions
    std::string probe_filter;     // a regular expression; empty: all probes
    // Files to include in front of the script, and where they and its own are looked for besides
    // its own folder.
    std::vector<std::string> includes, include_folders;
    // What to print instead of running it: "ast", "types", "ir" or "asm". Empty: it runs.
    std::string stage;
};

// A script's name ends with ".bt", or its first line names bpftrace. What comes through a pipe is
// one.
bool is_script(const std::string& path);
// Reads a script; "-" is standard input. Throws Error with failed_to_open().
SourceText read_script(const std::string& path);
// The words for a file that cannot be opened, by an errno.
std::string failed_to_open(const std::string& path, int code);

// The patterns of the probes that a script has: "tracepoint:sched:*".
std::vector<std::string> probes_of(const ScriptChoices& script, KernelFacts& facts);

// Compiles the script for this machine, or for a recording (else null), whose facts these are then;
// reads its first record. Prints the compiler's warnings.
bt::Compiled compile_script(Context& ctx, const ScriptChoices& script, KernelFacts& facts,
                            TraceFile* recording);

// Compiles the script for this machine or the recording, and runs it. Returns what Command::run
// returns.
int run_script(Context& ctx, const ScriptChoices& script, RunChoices choices);

}  // namespace gpufs
