#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "bt/syntax/ast.h"

namespace gpufs::bt {

struct ParseInput {
    SourceText source;
    std::vector<std::string> arguments;  // $1…; and --NAME[=VALUE], which getopt() asks for
    bool has_btf = false;                // BPFTRACE_HAVE_BTF is defined
    // What #define would define in front of the script: "LINUX_VERSION_CODE", "395520".
    std::vector<std::pair<std::string, std::string>> defines;
    // Reads what `import` names; absent: there is no such file.
    std::function<std::optional<SourceText>(const std::string& name)> read;
};

// Parses a script. Throws UsageError with all mistakes, each with its place.
Script parse(const ParseInput& input);

// The tree as text, a node a line, indented by its depth: `gpufs bt -d ast`.
std::string ast_text(const Script& script);

}  // namespace gpufs::bt
