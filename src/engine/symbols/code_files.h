#pragma once

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
// name; "" and "*" are all that they have mapped. Throws Error where there is nothing, as a process
// is gone.
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
    // A file and a process that has mapped it. The path is the process's.
    struct Mapped {
        int pid;
        std::string path;
    };

    // A path of each; /proc/PID/root/... for a file that only a container has. Sorted; empty if
    // there is none.
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
    void look_at(const Mapped& arrived, const std::string& pattern, DistinctFiles& found);

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

// The programs and libraries that a process has mapped: their paths, or those below its root where
// it sees another file there than we do.
std::vector<std::string> mapped_code_files(int pid);

}  // namespace gpufs
