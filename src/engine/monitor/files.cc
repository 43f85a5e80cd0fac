#include "engine/monitor/files.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/file.h"
#include "base/suggest.h"
#include "engine/recipe/trusted_files.h"

namespace gpufs {
namespace {

constexpr std::string_view kSuffix = ".bpf";
// In front of the name of a shipped text, so that it is told from a file.
constexpr std::string_view kShipped = "gpufs:";

const EmbeddedFile* find_shipped(std::string_view name) {
    const auto files = embedded_monitors();
    const auto it = std::ranges::find(files, name, &EmbeddedFile::name);
    return it == files.end() ? nullptr : &*it;
}

SourceText text_of(const EmbeddedFile& file) {
    return {cat(kShipped, file.name), std::string(file.text)};
}

OwnFiles own_monitors() {
    return {"monitors", kSuffix};
}

bool is_shipped(const SourceText& text) {
    return text.name.starts_with(kShipped);
}

std::string folder_of(std::string_view path) {
    return std::string(path.substr(0, path.rfind('/') + 1));  // npos + 1 is 0
}

SourceText read_trusted_include(std::string_view file, const SourceText& from) {
    return read_included(file, from, read_trusted);
}

}  // namespace

std::vector<std::string> list_monitors() {
    std::vector<std::string> names = own_monitors().names();
    for (const EmbeddedFile& file : embedded_monitors())
        if (file.name.find('/') == file.name.npos)
            names.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

SourceText read_monitor(const std::string& name_or_file, const FileReader& read) {
    if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(kSuffix))
        return read(name_or_file);
    const OwnFiles own = own_monitors();
    if (own.has(name_or_file)) return read(own.path(name_or_file));
    if (const EmbeddedFile* file = find_shipped(cat(name_or_file, kSuffix))) return text_of(*file);
    const std::string near = did_you_mean(name_or_file, list_monitors());
    throw UsageError(cat("there is no monitor '", name_or_file, "'"),
                     near.empty() ? "'gpufs run' lists them; a file of your own is given with its "
                                    "'.bpf', or with a '/'"
                                  : near);
}

SourceText read_included(std::string_view file, const SourceText& from, const FileReader& read) {
    const bool from_shipped = is_shipped(from);
    const std::string_view own =
        from_shipped ? std::string_view(from.name).substr(kShipped.size()) : from.name;
    const std::string beside =
        file.starts_with('/') ? std::string(file) : cat(folder_of(own), file);
    if (!from_shipped && file_exists(beside)) return read(beside);
    if (const EmbeddedFile* shipped = find_shipped(from_shipped ? std::string_view(beside) : file))
        return text_of(*shipped);
    if (from_shipped) throw Error(cat("no text '", file, "' is shipped"));
    return read(beside);
}

Program assemble_monitor(const std::string& name_or_file, AsmScope shipped) {
    SourceText text = read_monitor(name_or_file, read_trusted);
    const AsmScope scope = is_shipped(text) ? shipped : AsmScope::checked;
    return assemble(std::move(text), read_trusted_include, scope);
}

Program assemble_shipped(std::string_view file) {
    const EmbeddedFile* shipped = find_shipped(file);
    if (!shipped) throw Error(cat("no text '", file, "' is shipped"));
    return assemble(text_of(*shipped), read_trusted_include, AsmScope::unchecked);
}

}  // namespace gpufs
