#include "engine/symbols/code_files.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "kernel/host/program_path.h"
#include "kernel/host/root_directory.h"
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

// The levels of the architecture that this processor has, by the instructions that each adds
// (System V ABI for x86-64, "Micro-Architecture Levels").
std::vector<std::string_view> processor_levels() {
    std::vector<std::string_view> levels;
#if defined __x86_64__
    if (__builtin_cpu_supports("sse4.2")) levels.emplace_back("x86-64-v2");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        levels.emplace_back("x86-64-v3");
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        levels.emplace_back("x86-64-v4");
#endif
    return levels;
}

// Not the text for the linker that stands as libc.so beside libc.so.6.
bool is_elf(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    char magic[SELFMAG];
    return file && ::pread(file.get(), magic, sizeof magic, 0) == SELFMAG &&
           std::string_view(magic, sizeof magic) == ELFMAG;
}

// The paths of the libraries that this holds for by their names, where the loader looks besides its
// cache, in its order.
template <class IsWanted>
std::vector<std::string> uncached_libraries(IsWanted is_wanted) {
    const char* own = std::getenv("LD_LIBRARY_PATH");
    std::vector<std::string> directories = split(own ? own : "", ':');
    directories.insert(directories.end(), std::begin(kDirectories), std::end(kDirectories));
    std::vector<std::string> found;
    for (const std::string& directory : directories)
        for (const std::string& name : list_directory_if_readable(directory))
            if (is_wanted(name))
                if (std::string path = cat(directory, '/', name); is_elf(path))
                    found.push_back(std::move(path));
    return found;
}

bool is_same_file(const std::string& a, const std::string& b) {
    const auto one = file_id(a);
    return one && one == file_id(b);
}

bool is_of_programs(std::string_view pattern) {
    return pattern.starts_with('@');
}

// Our path, or where we have another file or none there, the process's, which is there as long as
// it lives.
std::string ours_or(const std::string& theirs, const std::string& ours) {
    return is_same_file(ours, theirs) ? ours : theirs;
}

// For a file that a process sees at a path.
std::string path_of(int pid, const std::string& path) {
    return ours_or(cat("/proc/", pid, "/root", path), path);
}

std::string program_path_of(int pid) {
    const std::string theirs = cat("/proc/", pid, "/exe");
    return ours_or(theirs, link_target(theirs));
}

using Mapped = LibraryFiles::Mapped;

// For what a process has mapped; empty where no path leads to it that we may follow. The link of
// the kernel is followed only with CAP_CHECKPOINT_RESTORE. Without it the number of the inode tells
// the file; but on some file systems stat(2) has another one than the map.
std::string path_of(const Mapped& mapped) {
    if (!mapped.range) return path_of(mapped.pid, mapped.path);
    const std::string theirs = cat("/proc/", mapped.pid, "/root", mapped.path);
    std::string link = mapped_link(mapped.pid, mapped.range->start, mapped.range->end);
    const auto id = file_id(link);
    for (const std::string& path : {mapped.path, theirs}) {
        const auto there = file_id(path);
        if (there && (id ? there == id : there->inode == mapped.range->inode)) return path;
    }
    if (id) return link;
    std::string path = ours_or(theirs, mapped.path);
    return !mapped.range->is_deleted && file_exists(path) ? path : "";
}

std::string unreadable_text(const Mapped& mapped) {
    return cat("cannot open '", mapped.path, "', which process ", mapped.pid, " has mapped");
}

std::string require_path_of(const Mapped& mapped) {
    std::string path = path_of(mapped);
    if (path.empty())
        throw Error(unreadable_text(mapped),
                    "no path leads to it any more; with CAP_CHECKPOINT_RESTORE the kernel does");
    return path;
}

// The code that a process has mapped, each file once.
std::vector<Mapped> mapped_by(int pid) {
    std::set<std::pair<std::string_view, std::uint64_t>> seen;
    std::vector<Mapped> files;
    const std::string maps = proc::maps(pid);
    for (const std::string_view line : lines_of(maps)) {
        const auto map = parse_proc_map(line);
        if (!map || !map->is_executable || !map->path.starts_with('/') ||
            !seen.insert({map->path, map->inode}).second)
            continue;
        const std::string_view path = without_deleted(map->path);
        files.push_back({pid, std::string(path),
                         LibraryFiles::Range{map->start, map->end, map->inode,
                                             path.size() != map->path.size()}});
    }
    return files;
}

}  // namespace

std::vector<CachedLibrary> cached_libraries() {
    auto libraries = parse_loader_cache(read_file_if_readable("/etc/ld.so.cache").value_or(""));
    std::erase_if(libraries, [levels = processor_levels()](const CachedLibrary& one) {
        return !is_for_processor(one.path, levels);
    });
    return libraries;
}

std::optional<std::string> find_library(const std::string& name,
                                        const std::vector<CachedLibrary>& cached) {
    for (const CachedLibrary& one : cached)
        if (is_named(one.name, name) && file_exists(one.path)) return one.path;
    std::vector<std::string> others =
        uncached_libraries([&](const std::string& file) { return is_named(file, name); });
    if (others.empty()) return std::nullopt;
    return std::move(others.front());
}

std::variant<std::string, Absent> find_code_file(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (!file_exists(name)) return Absent{cat("there is no file '", name, "'"), ""};
        return name;
    }
    if (auto program = find_program_in_path(name)) return *program;
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

namespace {

// The files that a shell pattern names. glob(3) also knows ~USER, for which a static binary would
// carry the name services.
std::vector<std::string> expand_path(const std::string& pattern) {
    std::vector<std::string> found{pattern.starts_with('/') ? "/" : ""};
    for (const std::string& part : split(pattern, '/')) {
        if (part.empty()) continue;
        std::vector<std::string> below;
        for (const std::string& folder : found) {
            if (!is_glob(part)) {
                below.push_back(folder == "." ? "./" + part : path_from(folder, part));
                continue;
            }
            for (const std::string& name :
                 list_directory_if_readable(folder.empty() ? "." : folder))
                if (glob_match(part, name) && (name[0] != '.' || part[0] == '.'))
                    below.push_back(folder == "." ? "./" + name : path_from(folder, name));
        }
        found = std::move(below);
    }
    std::erase_if(found, [](const std::string& path) { return !is_regular_file(path); });
    return found;
}

// The file that a process has mapped instead of the one that is at this path of ours now; absent
// where it has mapped that one, too, or none from there.
std::optional<std::string> replaced_file(const std::string& name, int pid) {
    const std::string real = real_path(name).value_or(name);
    std::optional<std::string> replaced;
    for (const Mapped& mapped : mapped_by(pid)) {
        if (mapped.path != name && mapped.path != real) continue;
        std::string path = require_path_of(mapped);
        if (is_same_file(path, name)) return std::nullopt;
        replaced = std::move(path);
    }
    return replaced;
}

// The file that a process means by a name; absent: the one that we mean.
std::optional<std::string> file_of_process(const std::string& name, int pid) {
    if (name.find('/') != name.npos) {
        if (auto replaced = replaced_file(name, pid)) return replaced;
        if (!name.starts_with('/')) return std::nullopt;
        std::string path = path_of(pid, name);
        if (path == name || !file_exists(path)) return std::nullopt;
        return path;
    }
    std::vector<std::string> paths;
    for (const Mapped& mapped : mapped_by(pid))
        if (is_named(file_name(mapped.path), name)) paths.push_back(require_path_of(mapped));
    if (paths.empty()) return std::nullopt;
    return *std::ranges::min_element(paths);
}

// The files of processes that a pattern of names matches; of all, those that can be opened.
void add_matching(const std::string& name, const std::vector<int>& pids, DistinctFiles& found) {
    const bool is_any = name.empty() || name == "*";
    for (const int pid : pids)
        for (const Mapped& mapped : mapped_by(pid)) {
            if (!is_any && !is_library_of(name, mapped.path)) continue;
            std::string path = is_any ? path_of(mapped) : require_path_of(mapped);
            if (is_elf(path)) found.add(std::move(path));
        }
    found.sort();
}

}  // namespace

std::optional<FileId> DistinctFiles::add(std::string path) {
    const auto id = file_id(path);
    if (!id || !files_.insert(*id).second) return std::nullopt;
    paths_.push_back(std::move(path));
    return id;
}

void DistinctFiles::sort() {
    std::ranges::sort(paths_);
}

std::variant<std::vector<std::string>, Absent> find_code_files(const std::string& name,
                                                               const std::vector<int>& pids) {
    const bool is_any = name.empty() || name == "*";
    const bool has_slash = name.find('/') != name.npos;
    DistinctFiles found;
    if (is_any && pids.empty())
        return Absent{"a probe of programs needs the path of a program or a library",
                      "such as libc, or a process with -p"};
    if (is_any || (is_glob(name) && !has_slash && !pids.empty())) {
        add_matching(name, pids, found);
    } else if (is_glob(name)) {
        for (std::string& path : has_slash ? expand_path(name) : LibraryFiles().find(name))
            found.add(std::move(path));
    } else {
        bool is_ours = pids.empty();
        for (const int pid : pids) {
            auto own = file_of_process(name, pid);
            is_ours = is_ours || !own;
            if (own) found.add(std::move(*own));
        }
        if (is_ours) {
            auto ours = find_code_file(name);
            if (Absent* absent = std::get_if<Absent>(&ours)) return std::move(*absent);
            found.add(std::get<std::string>(std::move(ours)));
        }
    }
    if (!found.paths().empty()) return found.paths();
    for (const int pid : pids) proc::require_tgid(pid);
    if (is_any) return Absent{"the process has no program mapped", "a thread of the kernel?"};
    return Absent{cat("no ", has_slash ? "file" : "library", " matches '", name, "'"), ""};
}

bool is_library_of(std::string_view pattern, std::string_view path) {
    if (is_of_programs(pattern)) pattern.remove_prefix(1);
    return glob_match(pattern, file_name(path));
}

std::vector<std::string> LibraryFiles::find(const std::string& pattern) {
    DistinctFiles& found = found_[pattern];
    if (!are_looked_for_.insert(pattern).second) return found.paths();
    found.drop_paths();
    if (arrived_)
        look_at(*arrived_, pattern, found);
    else
        look_around(pattern, found);
    return found.paths();
}

void LibraryFiles::arrive(Mapped file) {
    arrived_ = std::move(file);
    are_looked_for_.clear();
}

void LibraryFiles::look_at(const Mapped& mapped, const std::string& pattern, DistinctFiles& found) {
    if (!is_library_of(pattern, mapped.path)) return;
    const std::string path =
        is_of_programs(pattern) ? program_path_of(mapped.pid) : path_of(mapped);
    if (path.empty() && std::ranges::count(processes_, mapped.pid) > 0) {
        const std::string line = cat(unreadable_text(mapped), ": it is not probed");
        if (std::ranges::count(unreadable_, line) == 0) unreadable_.push_back(line);
    }
    add(path, found);
}

void LibraryFiles::add(const std::string& path, DistinctFiles& found) {
    if (!is_regular_file(path)) return;
    if (const auto id = found.add(path)) ids_[path] = *id;
}

void LibraryFiles::forget(const std::string& path) {
    const auto id = ids_.find(path);
    if (id == ids_.end()) return;
    for (auto& [pattern, found] : found_) found.forget(id->second);
    ids_.erase(id);
}

void LibraryFiles::look_around(const std::string& pattern, DistinctFiles& found) {
    if (!is_of_programs(pattern)) {
        for (const CachedLibrary& one : cached_libraries())
            if (glob_match(pattern, one.name)) add(one.path, found);
        for (const std::string& path :
             uncached_libraries([&](const std::string& file) { return glob_match(pattern, file); }))
            add(path, found);
    }
    for (const Mapped& one : mapped()) look_at(one, pattern, found);
    found.sort();
}

const std::vector<LibraryFiles::Mapped>& LibraryFiles::mapped() {
    if (!mapped_) mapped_ = mapped_code();
    return *mapped_;
}

std::vector<LibraryFiles::Mapped> mapped_code() {
    std::vector<Mapped> files;
    for (const int pid : proc::processes())
        std::ranges::move(mapped_by(pid), std::back_inserter(files));
    return files;
}

std::vector<std::string> mapped_code_files(int pid) {
    std::vector<std::string> paths;
    for (const Mapped& mapped : mapped_by(pid))
        if (std::string path = path_of(mapped); !path.empty()) paths.push_back(std::move(path));
    std::ranges::sort(paths);
    return paths;
}

}  // namespace gpufs
