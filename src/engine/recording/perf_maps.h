#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/symbol.h"
#include "kernel/elf/code_file.h"
#include "lang/perf_data/sample.h"

namespace gpufs {

// What the processes of a perf.data had mapped, as its records tell, and the functions there, from
// the files of this machine: those with the recorded build id, or without one with the recorded
// inode. A file that is another one by now has no functions.
class PerfMaps {
public:
    // A file's build id as perf collected it when it ended (HEADER_BUILD_ID); its bytes.
    void add_build_id(std::string_view path, std::string_view id);

    // The bodies of records, in order of time.
    void map(perf_data::Bytes body);  // PERF_RECORD_MMAP
    // PERF_RECORD_MMAP2; `has_build_id`: in place of the inode.
    void map_with_file(perf_data::Bytes body, bool has_build_id);
    void fork(std::int32_t process, std::int32_t parent);  // a thread: both are the same
    void exit(std::int32_t process);                       // of a thread
    // Its memory is another one.
    void exec(std::int32_t process) { processes_.erase(process); }
    void clear() {
        processes_.clear();
        ended_.clear();
    }

    // The function at an address of a process now; of one that ended, as it was then, as long as no
    // other has its number, and not too many have ended since: stacks are told at the end. Borrowed
    // as long as this object lives.
    std::optional<Symbol> find(std::int32_t process, std::uint64_t address);
    // Files that are not here, or other ones: "2 mapped files are not those of the recording: ...".
    std::string note() const;

private:
    struct Range {
        std::uint64_t end = 0, offset = 0;  // in the file
        std::size_t file = 0;
    };
    using Ranges = std::map<std::uint64_t, Range>;  // by begin, without overlaps
    struct Name {
        std::string name;
        std::uint64_t offset = 0;
        bool is_known = false;
    };
    struct File {
        std::string path, build_id, module;
        std::uint64_t inode = 0;  // 0: not told
        bool is_looked_for = false;
        std::unique_ptr<CodeFile> code;                 // null: not here
        std::unordered_map<std::uint64_t, Name> names;  // by offset
    };

    std::size_t file_of(std::string_view path, std::string_view build_id, std::uint64_t inode);
    void add(std::int32_t process, std::uint64_t begin, std::uint64_t bytes, const Range& range);
    void look_for(File& file);
    static void look_for_vdso(File& file);

    struct Process {
        // Shared with those that it was forked from, until one of them maps something.
        std::shared_ptr<Ranges> ranges = std::make_shared<Ranges>();
        std::size_t threads = 1;  // 0: it has ended
    };
    Process& living(std::int32_t process);
    std::unordered_map<std::int32_t, Process> processes_;
    std::deque<std::int32_t> ended_;
    std::vector<File> files_;
    std::map<std::string, std::size_t, std::less<>> by_name_;    // path, build id and inode
    std::map<std::string, std::string, std::less<>> build_ids_;  // by path
};

}  // namespace gpufs
