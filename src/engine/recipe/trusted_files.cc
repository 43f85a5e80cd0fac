#include "engine/recipe/trusted_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/scan.h"

namespace gpufs {
namespace {

// The user who called sudo, otherwise root.
uid_t invoking_user() {
    const char* const text = std::getenv("SUDO_UID");
    return text ? whole_number<uid_t>(text).value_or(0) : 0;
}

// The reason to distrust a file or directory by its owner and mode, as the end of a sentence.
std::string distrust(const std::string& path, const struct stat& status) {
    const bool is_directory = S_ISDIR(status.st_mode);
    // In a sticky directory, users cannot replace files of others.
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

// Checks the open file, so that nobody can replace it between the check and the use.
std::string distrust_of(int fd, const std::string& path) {
    if (std::string why = distrust(path, status_of(fd, path)); !why.empty()) return why;
    struct stat status {};
    const std::string directory = parent_directory(link_target(cat("/proc/self/fd/", fd)));
    check(::stat(directory.c_str(), &status), [&] { return cat("look at '", directory, "'"); });
    return distrust(directory, status);
}

// O_NONBLOCK opens a pipe without waiting for a writer; the caller refuses it then.
Fd open_to_read(const std::string& path) {
    return open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

}  // namespace

std::string why_not_trusted(const std::string& path) {
    return distrust_of(open_to_read(path).get(), path);
}

SourceText read_trusted(const std::string& path) {
    const Fd fd = open_to_read(path);
    if (!S_ISREG(status_of(fd.get(), path).st_mode))
        throw Error(cat("'", path, "' is no regular file"));
    if (::geteuid() == 0)
        if (const std::string why = distrust_of(fd.get(), path); !why.empty())
            throw Error(cat("root does not run '", path, "': ", why),
                        "whoever can write it would decide what root does; 'chown root' and "
                        "'chmod go-w' what is yours");
    return {path, without_byte_order_mark(read_all(fd.get(), path))};
}

OwnFiles::OwnFiles(std::string_view folder, std::string_view suffix) : suffix_(suffix) {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config && *config == '/')
        directory_ = cat(config, "/gpufs/", folder);
    else if (home && *home == '/')
        directory_ = cat(home, "/.config/gpufs/", folder);
}

std::vector<std::string> OwnFiles::names() const {
    std::vector<std::string> found;
    if (directory_.empty() || !file_exists(directory_)) return found;
    for (const std::string& file : list_directory(directory_))
        if (file.size() > suffix_.size() && file.ends_with(suffix_) && file[0] != '.')
            found.push_back(file.substr(0, file.size() - suffix_.size()));
    return found;
}

bool OwnFiles::has(std::string_view name) const {
    return !directory_.empty() && name.find('/') == name.npos && file_exists(path(name));
}

std::string OwnFiles::path(std::string_view name) const {
    return cat(directory_, '/', name, suffix_);
}

}  // namespace gpufs
