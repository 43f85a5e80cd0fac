#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_id.h"
#include "lang/symbols/loader_cache.h"

namespace gpufs {

// Why something is not there, for a person.
struct Absent {
    std::string why, hint;
};

// The file that a probe of a program or a library names: a path; a program in $PATH; or a library
// where the dynamic loader looks without being told (/etc/ld.so.cache, its default directories),
// by its whole name or without the version: "libc.so.6", "libc".
std::variant<std::string, Absent> find_code_file(const std::string& name);

// What /etc/ld.so.cache lists that is for this processor, in its order.
std::vector<CachedLibrary> cached_libraries();
// The library of that name: of those listed, or in the directories that are always looked in.
std::optional<std::string> find_library(const std::string& name,
                                        const std::vector<CachedLibrary>& cached);

// The files that the name of a probe's file stands for, one at least. A shell pattern with a slash:
// those that it matches, be they programs or not; without one: as LibraryFiles. With `pids`, of the
// processes that are looked at: the file that a process sees at the path, or has mapped by that
// name, even if another is there now; "" and "*" are all that they have mapped. Throws Error where
// there is nothing, as a process is gone, and where one has a file mapped that cannot be opened.
std::variant<std::vector<std::string>, Absent> find_code_files(const std::string& name,
                                                               const std::vector<int>& pids);

// Paths of files, each file once, whatever paths lead to it.
class DistinctFiles {
public:
    // The file, if it is there and was not added before.
    std::optional<FileId> add(std::string path);
    const std::vector<std::string>& paths() const { return paths_; }
    void sort();
    // The files stay known.
    void drop_paths() { paths_.clear(); }
    void forget(const FileId& file) { files_.erase(file); }

private:
    std::vector<std::string> paths_;
    std::set<FileId> files_;
};

// Finds the files of libraries whose names match a shell pattern ("libcuda.so*"): where the dynamic
// loader looks, $LD_LIBRARY_PATH included, and what processes have mapped by now. A file that
// several paths lead to, or that containers share, is one: a probe is in the file, whoever maps it.
// "@libcuda.so*": the programs that run and have such a library mapped. Looks at all processes
// once.
class LibraryFiles {
public:
    // Where a process has mapped a file.
    struct Range {
        std::uint64_t start = 0, end = 0, inode = 0;
        bool is_deleted = false;  // the path leads to no file, or to another
    };
    // A file and a process that has mapped it. The path is the process's; with a range, that of
    // /proc/PID/maps.
    struct Mapped {
        int pid = 0;
        std::string path;
        std::optional<Range> range{};
    };

    LibraryFiles() = default;
    // Probes of files whose names are no patterns are in those of these processes; of a library
    // that one of them has mapped and that cannot be opened, take_unreadable() tells.
    explicit LibraryFiles(std::vector<int> processes) : processes_(std::move(processes)) {}

    const std::vector<int>& processes() const { return processes_; }
    // A line for each, to be told once.
    std::vector<std::string> take_unreadable() { return std::exchange(unreadable_, {}); }
    // A path of each; /proc/PID/root/... for a file that only a container has, and
    // /proc/PID/map_files/... for one that no path leads to. Sorted; empty if there is none.
    std::vector<std::string> find(const std::string& pattern);
    // From now on find() tells only of this file, and of none that it told of before this call.
    void arrive(Mapped file);
    // A path of find() is gone with its process: what it led to is told of again where it comes
    // back.
    void forget(const std::string& path);

private:
    void add(const std::string& path, DistinctFiles& found);
    const std::vector<Mapped>& mapped();
    void look_around(const std::string& pattern, DistinctFiles& found);
    void look_at(const Mapped& mapped, const std::string& pattern, DistinctFiles& found);

    std::vector<int> processes_;
    std::vector<std::string> unreadable_;
    std::optional<std::vector<Mapped>> mapped_;
    std::optional<Mapped> arrived_;
    std::map<std::string, DistinctFiles> found_;  // by pattern, with those told of before
    std::map<std::string, FileId> ids_;           // by path
    std::set<std::string> are_looked_for_;        // the patterns, since arrive()
};
// The libraries and programs that run, each path of a process once.
std::vector<LibraryFiles::Mapped> mapped_code();
// Whether the pattern of a name is one of libraries with this path, or of programs with them.
bool is_library_of(std::string_view pattern, std::string_view path);

// The programs and libraries that a process has mapped: their paths; those below its root where
// it sees another file there than we do; /proc/PID/map_files/... where no path leads to them.
std::vector<std::string> mapped_code_files(int pid);

}  // namespace gpufs
