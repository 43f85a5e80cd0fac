#include "gpufs/engine/recipe_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "gpufs/base/embedded.h"
#include "gpufs/base/error.h"
#include "gpufs/base/file.h"
#include "gpufs/base/suggest.h"

namespace gpufs {
namespace {

constexpr std::string_view kSuffix = ".trig";

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string link_target(const std::string& path) {
    std::string target(4096, '\0');
    const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    target.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return target;
}

// Who called sudo; root itself where nobody did.
uid_t invoking_user() {
    uid_t uid = 0;
    if (const char* text = std::getenv("SUDO_UID"))
        std::from_chars(text, text + std::string_view(text).size(), uid);
    return uid;
}

// What is wrong with the owner and mode of a file or directory, as the end of a sentence.
std::string distrust(const std::string& path, const struct stat& status) {
    const bool is_directory = S_ISDIR(status.st_mode);
    // In a sticky directory nobody replaces the files of others.
    const bool is_sticky = is_directory && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky)
        return cat(is_directory ? "its directory " : "", path,
                   (status.st_mode & S_IWOTH) != 0 ? " can be written by everybody"
                                                   : " can be written by its group");
    if (status.st_uid != 0 && status.st_uid != invoking_user())
        return cat(is_directory ? "its directory " : "", path, " belongs to uid ", status.st_uid);
    return {};
}

struct stat status_of(int fd, const std::string& path) {
    struct stat status {};
    check(::fstat(fd, &status), [&] { return cat("look at '", path, "'"); });
    return status;
}

// Looks at the open file, so that nobody puts another one in its place meanwhile.
std::string distrust_of(int fd, const std::string& path) {
    if (std::string why = distrust(path, status_of(fd, path)); !why.empty()) return why;
    struct stat status {};
    const std::string directory = parent_of(link_target(cat("/proc/self/fd/", fd)));
    check(::stat(directory.c_str(), &status), [&] { return cat("look at '", directory, "'"); });
    return distrust(directory, status);
}

// The user's own; empty when there is no home.
std::string own_directory() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config && *config == '/') return cat(config, "/gpufs/triggers");
    const char* home = std::getenv("HOME");
    return home && *home == '/' ? cat(home, "/.config/gpufs/triggers") : std::string();
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    if (directory.empty() || !file_exists(directory)) return names;
    for (const std::string& file : list_directory(directory))
        if (file.size() > kSuffix.size() && file.ends_with(kSuffix) && file[0] != '.')
            names.push_back(file.substr(0, file.size() - kSuffix.size()));
    return names;
}

SourceText read_recipe(const std::string& path) {
    const Fd fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!S_ISREG(status_of(fd.get(), path).st_mode))
        throw Error(cat("'", path, "' is no regular file"));
    if (::geteuid() == 0)
        if (const std::string why = distrust_of(fd.get(), path); !why.empty())
            throw Error(cat("root does not run '", path, "': ", why),
                        "whoever can write it would decide what root does; 'chown root' and "
                        "'chmod go-w' what is yours");
    return {path, read_all(fd.get(), path)};
}

std::string embedded_name(const EmbeddedFile& file) {
    return std::string(file.name.substr(0, file.name.size() - kSuffix.size()));
}

}  // namespace

std::string why_not_trusted(const std::string& path) {
    const Fd fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    return distrust_of(fd.get(), path);
}

std::vector<RecipeFile> list_recipes() {
    std::map<std::string, RecipeFile> found;
    for (const EmbeddedFile& file : embedded_recipes())
        found[embedded_name(file)] = {embedded_name(file), {}, {}};
    const std::string directory = own_directory();
    for (const std::string& name : names_in(directory)) {
        RecipeFile& file = found[name] = {name, cat(directory, '/', name, kSuffix), {}};
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
        return read_recipe(name_or_file);
    const std::string directory = own_directory();
    std::vector<std::string> names = names_in(directory);
    if (std::ranges::count(names, name_or_file) > 0)
        return read_recipe(cat(directory, '/', name_or_file, kSuffix));
    for (const EmbeddedFile& file : embedded_recipes()) {
        if (embedded_name(file) == name_or_file)
            return {std::string(file.name), std::string(file.text)};
        names.push_back(embedded_name(file));
    }
    std::string hint = did_you_mean(name_or_file, names);
    throw UsageError(cat("there is no recipe '", name_or_file, "'"),
                     hint.empty() ? "'gpufs recipe list' shows them; a file of your own is given "
                                    "with a '/': ./my.trig"
                                  : hint);
}

}  // namespace gpufs
