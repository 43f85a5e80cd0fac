#include "base/path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"

namespace gpufs {

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string_view file_stem(std::string_view path) {
    const std::string_view name = file_name(path);
    const auto dot = name.rfind('.');
    return dot == 0 ? name : name.substr(0, dot);
}

std::string parent_directory(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string path_from(std::string_view directory, std::string_view path) {
    if (path.starts_with('/') || directory.empty() || directory == ".") return std::string(path);
    return cat(directory, directory.ends_with('/') ? "" : "/", path);
}

std::string normal_path(std::string_view path) {
    const bool is_absolute = path.starts_with('/');
    std::vector<std::string> kept;
    for (std::string& part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        const bool goes_up = part == "..";
        if (goes_up && !kept.empty() && kept.back() != "..")
            kept.pop_back();
        else if (!goes_up || !is_absolute)
            kept.push_back(std::move(part));
    }
    if (kept.empty()) return is_absolute ? "/" : ".";
    return cat(is_absolute ? "/" : "", join(kept, "/"));
}

std::optional<std::string> real_path(const std::string& path) {
    struct Free {
        void operator()(char* text) const noexcept { std::free(text); }
    };
    const std::unique_ptr<char, Free> real{::realpath(path.c_str(), nullptr)};
    return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string absolute_path(const std::string& path) {
    if (path.starts_with('/')) return path;
    std::string here(4096, '\0');
    if (!::getcwd(here.data(), here.size())) throw SysError(errno, "read the working directory");
    here.resize(here.find('\0'));
    return path_from(here, path);
}

std::string link_target(const std::string& path) {
    std::string target(4096, '\0');
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return target;
}

void make_directories(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return;
    if (errno == ENOENT && file_name(path) != path) {
        make_directories(parent_directory(path));
        if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return;
    }
    check(-1, [&] { return cat("make the folder '", path, "'"); });
}

}  // namespace gpufs
