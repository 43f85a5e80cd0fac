#include "engine/symbols/linked_files.h"

#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "engine/symbols/code_files.h"
#include "kernel/elf/dynamic_facts.h"

namespace gpufs {
namespace {

// The program that runs a script (execve(2)); empty where the file is none.
std::string script_interpreter(const std::string& path) {
    constexpr std::size_t kLongestLine = 256;  // BINPRM_BUF_SIZE
    const std::string begin = read_file_if_readable(path, kLongestLine).value_or("");
    if (!begin.starts_with("#!")) return {};
    std::string_view line = std::string_view(begin).substr(2);
    line = trim(line.substr(0, line.find('\n')));
    return std::string(line.substr(0, line.find_first_of(" \t")));
}

// A script whose interpreter is a script, and so on: the kernel follows so many (bprm_execve).
constexpr int kMostScripts = 5;

// A folder of a library path, as the loader understands it for this file.
std::string expanded(std::string folder, const std::string& file) {
    for (const std::string_view word : {"$ORIGIN", "${ORIGIN}"})
        if (const auto at = folder.find(word); at != folder.npos)
            folder.replace(at, word.size(), file.substr(0, file.rfind('/')));
    return folder;
}

// Where the loader finds a library that a file needs; empty where it does not.
std::string library_of(const std::string& name, const DynamicFacts& facts, const std::string& file,
                       const std::vector<CachedLibrary>& cached) {
    if (name.find('/') != name.npos) return name;
    const char* const own = std::getenv("LD_LIBRARY_PATH");
    for (const std::string_view list :
         {std::string_view(own ? own : ""), std::string_view(facts.library_path)})
        for (const std::string& folder : split(list, ':'))
            if (std::string path = path_from(expanded(folder, file), name); file_exists(path))
                return path;
    return find_library(name, cached).value_or("");
}

}  // namespace

std::vector<std::string> linked_files(std::string program) {
    std::string next = script_interpreter(program);
    for (int depth = 0; depth < kMostScripts && !next.empty(); ++depth) {
        program = std::move(next);
        next = script_interpreter(program);
    }
    // The loader's $ORIGIN, too, is without symbolic links.
    const auto real = real_path(program);
    if (!real) return {};
    const std::vector<CachedLibrary> cached = cached_libraries();
    DistinctFiles candidates;
    candidates.add(*real);
    std::vector<std::string> files;
    for (std::size_t i = 0; i < candidates.paths().size(); ++i) {
        std::string file = candidates.paths()[i];
        try {
            const DynamicFacts facts = dynamic_facts(ElfFile(file));
            candidates.add(facts.interpreter);
            for (const std::string& name : facts.needed)
                candidates.add(library_of(name, facts, file, cached));
            files.push_back(std::move(file));
        } catch (const Error&) {
            // Not a program or library, or unreadable.
        }
    }
    return files;
}

}  // namespace gpufs
