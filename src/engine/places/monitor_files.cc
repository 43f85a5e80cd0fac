#include "engine/places/monitor_files.h"

#include <algorithm>
#include <system_error>

#include "base/embedded.h"
#include "base/file.h"
#include "base/path.h"
#include "base/sorted.h"
#include "base/suggest.h"
#include "base/text.h"
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
    return {cat(kShipped, file.name), std::string(file.text())};
}

OwnFiles own_monitors() {
    return {"monitors", kSuffix};
}

bool is_shipped(const SourceText& text) {
    return text.name.starts_with(kShipped);
}

constexpr const char* kIncludes =
    "a text includes what is in its own folder and in the folders there, or what is shipped";

// A name in it is "..".
bool has_parent(std::string_view path) {
    const std::vector<std::string> names = split(path, '/');
    return std::ranges::find(names, "..") != names.end();
}

// Whether the file is in the folder or in one below it, links followed.
bool is_below(const std::string& folder, const std::string& file) {
    const std::string inner = real_path(file).value_or(""), outer = real_path(folder).value_or("");
    return inner.starts_with(outer.ends_with('/') ? outer : outer + '/');
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
    sort_unique(names);
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
    const std::string folder = parent_directory(own), beside = path_from(folder, file);
    const bool stays = !file.starts_with('/') && !has_parent(file);
    if (!from_shipped && stays && file_exists(beside)) {
        if (!is_below(folder, beside))
            throw Error(cat("'", beside, "' is a link to another folder"), kIncludes);
        return read(beside);
    }
    if (const EmbeddedFile* shipped = find_shipped(from_shipped ? std::string_view(beside) : file))
        return text_of(*shipped);
    if (from_shipped) throw Error(cat("no text '", file, "' is shipped"));
    if (!stays) throw Error(cat("'", file, "' is not beside this file or below"), kIncludes);
    return read(beside);
}

std::optional<std::string> shipped_name(const SourceText& text) {
    if (!is_shipped(text)) return std::nullopt;
    const std::size_t around = kShipped.size() + kSuffix.size();
    return text.name.substr(kShipped.size(), text.name.size() - around);
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
