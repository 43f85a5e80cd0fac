#include "engine/recipe/files.h"

#include <unistd.h>

#include <map>

#include "base/embedded.h"
#include "base/error.h"
#include "base/suggest.h"
#include "engine/recipe/trusted_files.h"

namespace gpufs {
namespace {

constexpr std::string_view kSuffix = ".trig";

OwnFiles own_recipes() {
    return {"triggers", kSuffix};
}

std::string embedded_name(const EmbeddedFile& file) {
    return std::string(file.name.substr(0, file.name.size() - kSuffix.size()));
}

}  // namespace

std::vector<RecipeFile> list_recipes() {
    std::map<std::string, RecipeFile> found;
    for (const EmbeddedFile& file : embedded_recipes())
        found[embedded_name(file)] = {embedded_name(file), {}, {}};
    const OwnFiles own = own_recipes();
    for (const std::string& name : own.names()) {
        RecipeFile& file = found[name] = {name, own.path(name), {}};
        try {
            if (::geteuid() == 0) file.refusal = why_not_trusted(file.path);
        } catch (const SysError& e) {
            file.refusal = e.what();
        }
    }
    std::vector<RecipeFile> files;
    files.reserve(found.size());
    for (auto& [name, file] : found) files.push_back(std::move(file));
    return files;
}

SourceText load_recipe(const std::string& name_or_file) {
    if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(kSuffix))
        return read_trusted(name_or_file);
    const OwnFiles own = own_recipes();
    if (own.has(name_or_file)) return read_trusted(own.path(name_or_file));
    std::vector<std::string> names = own.names();
    for (const EmbeddedFile& file : embedded_recipes()) {
        if (embedded_name(file) == name_or_file)
            return {std::string(file.name), std::string(file.text())};
        names.push_back(embedded_name(file));
    }
    std::string hint = did_you_mean(name_or_file, names);
    throw UsageError(cat("there is no recipe '", name_or_file, "'"),
                     hint.empty() ? "'gpufs recipe list' shows them; a file of your own is given "
                                    "with a '/': ./my.trig"
                                  : hint);
}

}  // namespace gpufs
