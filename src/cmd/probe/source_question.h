#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "cmd/shared/command.h"

namespace gpufs {

// What `gpufs probe vars` and `gpufs probe lines` are asked.
struct SourceQuestion {
    std::vector<std::string> words;   // of the place
    std::optional<std::string> file;  // of -x
    bool globals = false, json = false;
    Controls controls = Controls::escaped;
};

// The variables at a place, where each is, and what reads it.
int list_place_variables(Context& ctx, const SourceQuestion& question);
// The source of a function or a file, with the lines that can be probed.
int list_source_lines(Context& ctx, const SourceQuestion& question);

}  // namespace gpufs
