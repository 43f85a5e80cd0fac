#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "bt/syntax/ast.h"
#include "bt/types/world.h"

namespace gpufs::bt {

struct ParseInput {
    SourceText source;
    std::vector<std::string> arguments;  // $1…; and --NAME[=VALUE], which getopt() asks for
    bool has_btf = false;                // BPFTRACE_HAVE_BTF is defined
    World* world = nullptr;              // for sizeof in C; null: of numbers and pointers only
    // What #define would define in front of the script: "LINUX_VERSION_CODE", "395520".
    std::vector<std::pair<std::string, std::string>> defines;
    // What #include would include in front of the script: headers of the kernel and of C, and files
    // that `read` finds.
    std::vector<std::string> includes;
    // Reads what `import` and #include name; absent: there is no such file.
    std::function<std::optional<SourceText>(const std::string& name)> read;
    // The names in the folder that `import` names, sorted; absent: there is no such folder.
    std::function<std::optional<std::vector<std::string>>(const std::string& name)> list;
};

// Parses a script. Throws UsageError with all mistakes, each with its place.
Script parse(const ParseInput& input);

// How many of its arguments a script may ask for: $1 to $`most`; those that it counts ($#) may be
// any.
struct ArgumentsAsked {
    std::size_t most = 0;
    bool counts = false;
};
ArgumentsAsked arguments_asked(const SourceText& source);

}  // namespace gpufs::bt
