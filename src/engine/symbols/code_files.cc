#include "engine/symbols/code_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/loader_cache.h"
#include "lang/symbols/proc_maps.h"

namespace gpufs {
namespace {

// Of musl and of loaders without a cache, too.
#if defined __aarch64__
constexpr const char* kDirectories[] = {"/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib",
                                        "/usr/local/lib"};
#else
constexpr const char* kDirectories[] = {"/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib",
                                        "/usr/local/lib"};
#endif

// "libc.so.6" is asked for by this name and by "libc".
bool is_named(std::string_view library, std::string_view asked) {
    if (!library.starts_with(asked)) return false;
    const std::string_view rest = library.substr(asked.size());
    return rest.empty() || rest == ".so" || rest.starts_with(".so.");
}

std::vector<CachedLibrary> cached_libraries() {
    return parse_loader_cache(read_file_if_readable("/etc/ld.so.cache").value_or(""));
}

// Where the loader looks besides its cache, in its order.
std::vector<std::string> library_directories() {
    const char* own = std::getenv("LD_LIBRARY_PATH");
    std::vector<std::string> directories = split(own ? own : "", ':');
    directories.insert(directories.end(), std::begin(kDirectories), std::end(kDirectories));
    std::erase_if(directories, [](const std::string& one) { return !file_exists(one); });
    return directories;
}

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::optional<std::string> find_library(const std::string& name,
                                        const std::vector<CachedLibrary>& cached) {
    for (const CachedLibrary& one : cached)
        if (is_named(one.name, name) && file_exists(one.path)) return one.path;
    for (const std::string& directory : library_directories())
        for (const std::string& file : list_directory(directory))
            if (is_named(file, name)) return cat(directory, '/', file);
    return std::nullopt;
}

bool is_same_file(const std::string& a, const std::string& b) {
    struct stat one, other;
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

std::variant<std::string, Absent> find_code_file(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (!file_exists(name)) return Absent{cat("there is no file '", name, "'"), ""};
        return name;
    }
    const char* path = std::getenv("PATH");
    for (const std::string& directory : split(path ? path : "/usr/sbin:/usr/bin", ':')) {
        std::string whole = cat(directory, '/', name);
        if (::access(whole.c_str(), X_OK) == 0) return whole;
    }
    const std::vector<CachedLibrary> cached = cached_libraries();
    if (auto library = find_library(name, cached)) return *library;
    std::vector<std::string> names;
    for (const CachedLibrary& one : cached) names.push_back(one.name);
    const std::string near = did_you_mean(name, names);
    return Absent{cat("no program '", name,
                      "' is in $PATH, and no such library where the dynamic "
                      "loader looks"),
                  near.empty() ? "write the whole path" : near};
}

std::vector<std::string> LibraryFiles::find(const std::string& pattern) {
    if (const auto known = found_.find(pattern); known != found_.end()) return known->second;
    std::set<std::pair<dev_t, ino_t>> seen;
    std::vector<std::string> files;
    const auto add = [&](std::string path) {
        struct stat is;
        if (::stat(path.c_str(), &is) != 0 || !S_ISREG(is.st_mode)) return;
        if (seen.emplace(is.st_dev, is.st_ino).second) files.push_back(std::move(path));
    };
    const auto each_mapped = [&](std::string_view of, const auto& visit) {
        for (const Mapped& one : mapped())
            if (glob_match(of, base_name(one.path))) visit(one);
    };
    if (pattern.starts_with('@')) {
        each_mapped(std::string_view(pattern).substr(1),
                    [&](const Mapped& one) { add(cat("/proc/", one.pid, "/exe")); });
        return found_[pattern] = std::move(files);
    }
    for (const CachedLibrary& one : cached_libraries())
        if (glob_match(pattern, one.name)) add(one.path);
    for (const std::string& directory : library_directories())
        for (const std::string& file : list_directory(directory))
            if (glob_match(pattern, file)) add(cat(directory, '/', file));
    each_mapped(pattern,
                [&](const Mapped& one) { add(cat("/proc/", one.pid, "/root", one.path)); });
    std::ranges::sort(files);
    return found_[pattern] = std::move(files);
}

// The libraries and programs that run, each path of a process once.
const std::vector<LibraryFiles::Mapped>& LibraryFiles::mapped() {
    if (mapped_) return *mapped_;
    mapped_.emplace();
    for (const int pid : proc::processes()) {
        std::set<std::string_view> paths;
        const std::string maps = proc::maps(pid);
        for (const std::string_view line : lines_of(maps)) {
            const auto map = parse_proc_map(line);
            if (map && map->is_executable && map->path.starts_with('/') &&
                paths.insert(map->path).second)
                mapped_->push_back({pid, std::string(map->path)});
        }
    }
    return *mapped_;
}

std::vector<std::string> mapped_code_files(int pid) {
    std::set<std::string> paths;
    const std::string maps = proc::maps(pid);
    for (const std::string_view line : lines_of(maps)) {
        const auto map = parse_proc_map(line);
        if (!map || !map->is_executable || !map->path.starts_with('/')) continue;
        std::string path(map->path);
        std::string below_root = cat("/proc/", pid, "/root", path);
        paths.insert(is_same_file(path, below_root) ? std::move(path) : std::move(below_root));
    }
    return {paths.begin(), paths.end()};
}

}  // namespace gpufs
