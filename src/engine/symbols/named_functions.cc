#include "engine/symbols/named_functions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "base/text.h"
#include "lang/symbols/function_name.h"
#include "lang/symbols/kernel_functions.h"
#include "lang/symbols/readable_name.h"

namespace gpufs {
namespace {

std::vector<ElfFunction> functions_with(const std::string& path, const std::string& name) {
    const ReadableName wanted(name);
    std::vector<ElfFunction> whole, copies;
    for (ElfFunction& one : find_functions(path, "*"))
        if (wanted.is_of(one.name))
            (without_copy_suffix(one.name) == one.name ? whole : copies).push_back(std::move(one));
    return whole.empty() ? copies : whole;
}

std::vector<ElfFunction> functions_like(const std::string& path, const std::string& pattern) {
    std::vector<ElfFunction> found = find_functions(path, "*");
    std::erase_if(found, [&](const ElfFunction& one) {
        return without_copy_suffix(one.name) != one.name ||
               !glob_match(pattern, function_name(one.name));
    });
    return found;
}

}  // namespace

std::vector<ElfFunction> find_readable_functions(const std::string& path, const std::string& name) {
    const bool is_pattern = is_glob(name) && name.find('(') == name.npos;
    std::vector<ElfFunction> found =
        is_pattern ? functions_like(path, name) : functions_with(path, name);
    const auto is_there = [](const ElfFunction& a, const ElfFunction& b) {
        return a.offset == b.offset;
    };
    found.erase(std::unique(found.begin(), found.end(), is_there), found.end());
    return found;
}

std::vector<ElfFunction> find_functions_named(const std::string& path, const std::string& name) {
    std::vector<ElfFunction> functions = find_functions(path, name);
    if (!functions.empty()) return functions;
    if (is_glob(name) && name.find("::") != name.npos) return find_readable_functions(path, name);
    functions = functions_with(path, name);
    std::set<std::string> signatures;
    for (const ElfFunction& one : functions)
        signatures.insert(function_signature(std::string(without_copy_suffix(one.name))));
    if (signatures.size() < 2) return functions;
    std::vector<std::string> quoted;
    for (const std::string& one : signatures) quoted.push_back(cat('\'', one, '\''));
    throw UsageError(cat("'", path, "' has ", signatures.size(), " functions '", name, "'"),
                     cat("choose one: ", listed_names(std::move(quoted))));
}

std::optional<std::string> hint_for_function(const std::string& path, const std::string& name) {
    const std::string end = cat("::", name);
    std::set<std::string> longer;
    std::vector<std::string> symbols;
    for (ElfFunction& one : find_functions(path, "*")) {
        std::string readable = function_name(one.name);
        if (readable.ends_with(end)) longer.insert(cat('\'', readable, '\''));
        symbols.push_back(std::move(one.name));
    }
    if (symbols.empty()) return std::nullopt;
    if (longer.empty()) return did_you_mean(name, symbols);
    if (longer.size() == 1) return cat("did you mean ", *longer.begin(), '?');
    return cat("it has ", listed_names({longer.begin(), longer.end()}));
}

}  // namespace gpufs
