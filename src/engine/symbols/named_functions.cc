#include "engine/symbols/named_functions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/symbols/function_name.h"

namespace gpufs {
namespace {

std::string without_blanks(std::string_view text) {
    std::string made;
    for (const char c : text)
        if (c != ' ') made += c;
    return made;
}

// A word that the symbol of a function with this readable name has in it; empty where none is
// sure. To demangle all symbols of a large program takes longer than to look for the word.
std::string_view word_of(std::string_view name) {
    name = name.substr(0, name.find_first_of("(<["));
    const auto begin = std::find_if_not(name.rbegin(), name.rend(), is_word_char).base();
    const std::string_view word = name.substr(static_cast<std::size_t>(begin - name.begin()));
    return word.starts_with("operator") ? std::string_view() : word;
}

// A function whose readable name was asked for.
struct Readable {
    ElfFunction function;
    std::string signature;
};

std::vector<Readable> functions_with(const std::string& path, const std::string& name) {
    const std::string wanted = without_blanks(name);
    const std::string_view word = word_of(name);
    std::vector<Readable> found;
    for (ElfFunction& one : find_functions(path, "*")) {
        if (one.name.find(word) == one.name.npos) continue;
        std::string signature = function_signature(one.name);
        if (signature == one.name) continue;
        if (without_blanks(function_name(one.name)) == wanted ||
            without_blanks(signature) == wanted)
            found.push_back({std::move(one), std::move(signature)});
    }
    return found;
}

}  // namespace

std::vector<ElfFunction> find_functions_named(const std::string& path, const std::string& name) {
    std::vector<ElfFunction> functions = find_functions(path, name);
    if (!functions.empty()) return functions;
    std::set<std::string> signatures;
    for (Readable& one : functions_with(path, name)) {
        signatures.insert(std::move(one.signature));
        functions.push_back(std::move(one.function));
    }
    if (signatures.size() < 2) return functions;
    std::vector<std::string> quoted;
    for (const std::string& one : signatures) quoted.push_back(cat('\'', one, '\''));
    throw UsageError(cat("'", path, "' has ", signatures.size(), " functions '", name, "'"),
                     cat("choose one: ", listed_names(std::move(quoted))));
}

}  // namespace gpufs
