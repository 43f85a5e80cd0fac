#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/directory.h"
#include "base/error.h"
#include "base/file_id.h"
#include "base/path.h"

namespace gpufs {

Fd open_file(const std::string& path, int flags) {
    return Fd{check(::open(path.c_str(), flags | O_CLOEXEC, 0666),
                    [&] { return cat("open '", path, "'"); })};
}

std::string read_all(int fd, std::string_view name, std::size_t most) {
    std::string text;
    // Many kernel files are small, but some (kallsyms, trace) have megabytes.
    std::size_t chunk = 4096;
    for (;;) {
        const std::size_t used = text.size();
        chunk = std::min(chunk, most - used);
        text.resize(used + chunk);
        const ssize_t n = ::read(fd, text.data() + used, chunk);
        if (n == -1 && errno == EINTR) {
            text.resize(used);
            continue;
        }
        check(n, [&] { return cat("read '", name, "'"); });
        text.resize(used + static_cast<std::size_t>(n));
        if (n == 0) return text;
        if (static_cast<std::size_t>(n) == chunk) chunk = std::min<std::size_t>(chunk * 4, 1 << 20);
    }
}

std::string read_file(const std::string& path) {
    return read_all(open_file(path, O_RDONLY).get(), path);
}

std::optional<std::string> read_file_if_readable(const std::string& path, std::size_t most) {
    const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    const int code = errno;
    if (!fd && is_out_of_files(code)) throw SysError(code, cat("open '", path, "'"));
    if (!fd) return std::nullopt;
    try {
        return read_all(fd.get(), path, most);
    } catch (const SysError&) {
        return std::nullopt;
    }
}

namespace {

// The names in a directory, by opendir(3)'s answer and errno.
std::vector<std::string> names_in(const Directory& dir, int code, const std::string& path) {
    if (!dir) throw SysError(code, cat("list '", path, "'"));
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(dir.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::vector<std::string> list_directory(const std::string& path) {
    const Directory dir{::opendir(path.c_str())};
    return names_in(dir, errno, path);
}

std::vector<std::string> list_directory_if_readable(const std::string& path) {
    const Directory dir{::opendir(path.c_str())};
    const int code = errno;
    if (!dir && !is_out_of_files(code)) return {};
    return names_in(dir, code, path);
}

bool file_exists(const std::string& path) {
    struct stat facts;  // access(2) would ask for the real user, without capabilities
    return ::stat(path.c_str(), &facts) == 0;
}

bool is_regular_file(const std::string& path) {
    struct stat facts;
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

// Of two files that are not there: would they be one?
static bool would_be_one(const std::string& a, const std::string& b) {
    const auto folder = real_path(parent_directory(a));
    return folder && file_name(a) == file_name(b) && folder == real_path(parent_directory(b));
}

bool are_one_file(const std::string& a, const std::string& b) {
    if (a == b) return true;
    const auto first = file_id(a);
    if (first != file_id(b)) return false;
    return first ? is_regular_file(a) : would_be_one(a, b);
}

void write_all(int fd, std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n == -1 && errno == EINTR) continue;
        check(n, [&] { return cat("write to '", name, "'"); });
        text.remove_prefix(static_cast<std::size_t>(n));
    }
}

void write_all_at(int fd, std::string_view text, std::uint64_t at, std::string_view name) {
    while (!text.empty()) {
        const ssize_t n = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(at));
        if (n == -1 && errno == EINTR) continue;
        check(n, [&] { return cat("write to '", name, "'"); });
        text.remove_prefix(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
}

}  // namespace gpufs
