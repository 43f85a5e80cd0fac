#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "lang/asm/assembler.h"

namespace gpufs {

// Where the tests look for the shipped monitors: make check runs in the tree's root.
inline constexpr const char* kBpfFolder = "bpf_asm";

// Reads what a shipped monitor includes.
inline SourceText read_shipped(std::string_view file, const SourceText& from) {
    const std::string folder = from.name.substr(0, from.name.rfind('/') + 1);
    const std::string path = cat(folder, file);
    return {path, read_file(path)};
}

inline Program assemble_file(const std::string& path, AsmScope scope = AsmScope::checked) {
    return assemble({path, read_file(path)}, read_shipped, scope);
}

inline Program assemble_text(std::string text) {
    return assemble({"t.bpf", std::move(text)});
}
// The code of one program at no event in particular.
inline std::vector<CodeItem> assembled_code(std::string_view lines,
                                            std::string_view declarations = "") {
    return assemble_text(cat(declarations, ".prog p begin\n", lines, "\nr0 = 0\nexit\n"))
        .programs[0]
        .code;
}

// The program of a text, or all that is wrong with it.
struct Tried {
    Program program;
    std::string mistakes;
};
inline Tried try_assemble(std::string text, const IncludeReader& read = {}) {
    try {
        return {assemble({"t.bpf", std::move(text)}, read), {}};
    } catch (const UsageError& e) {
        return {{}, e.what()};
    }
}

}  // namespace gpufs
