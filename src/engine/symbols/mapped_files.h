#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "engine/symbols/inlined_functions.h"
#include "engine/symbols/source_lines.h"
#include "kernel/elf/code_file.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// A range of a process's memory, from /proc/PID/maps or the side-band.
struct MappedRange {
    std::uint64_t start = 0, end = 0, offset = 0;
    std::uint64_t device = 0, inode = 0;
    std::uint64_t generation = 0;  // of the inode number; 0: unknown, as in maps
    std::string_view path;
};

// The files that processes have mapped, each once, identified by device, inode and generation,
// because a rebuilt program may reuse the inode number. A file is opened when first seen, while the
// process still leads to it, and read on first use. Keeps open at most 256 files that have been
// read, with their debug files, 256 others, and the root directories of 256 containers, and closes
// the least recently used first.
class MappedFiles {
public:
    // Identifies a file during this object's lifetime.
    using Id = std::uint32_t;
    // Memory without a file, such as that of a JIT compiler.
    static constexpr Id kAnonymous = 0;

    explicit MappedFiles(CodeFile::Lines lines);

    // The file of a range in a process's memory. Opens a new file: what is mapped there, or else
    // what the path leads to below the process's root, if it has the same inode number. A range of
    // unknown generation is assigned to the latest file with its inode number.
    Id add(int pid, const MappedRange& range);

    // The same for a file of this machine that no process may have mapped yet: it has the identity
    // that it will have where one maps it. Absent if it cannot be read.
    std::optional<Id> add(const std::string& path);

    // "libc.so.6", "[vdso]"; empty for kAnonymous.
    const std::string& name(Id id) const { return files_[id].name; }
    // As its processes see it.
    const std::string& path(Id id) const { return files_[id].path; }

    // The functions of a file; null if it cannot be read any more or is not a program. Valid until
    // the next call.
    const CodeFile* code(Id id);
    // The file once more, for whoever reads something else of it; empty if it is not there any
    // more.
    Fd open_again(Id id) const;
    // The source line of the code at this offset of the file: "main.cc:42"; empty if unknown.
    std::string source_at(Id id, std::uint64_t offset);
    // The inlined functions that this code is of; empty without Lines::and_inlined.
    std::vector<InlinedFunction> inlined_at(Id id, std::uint64_t offset);

private:
    struct File {
        std::string path, name;
        std::uint64_t inode = 0, generation = 0;
        std::size_t root = 0;  // index into roots_
        Fd fd;                 // open until it is read
        std::unique_ptr<CodeFile> code;
        std::unique_ptr<SourceLines> lines;
        std::unique_ptr<InlinedFunctions> inlined;
        std::uint64_t last_question = 0;
        bool is_useless = false;  // not a program, or not found
    };

    std::size_t root_of(int pid);
    Fd open_by_path(const File& file) const;
    std::unique_ptr<DebugInfo> debug_info(Id id) const;
    void open(Id id, int pid, const MappedRange& range);
    void wait(Id id);
    void forget_some(Id but);

    CodeFile::Lines with_lines_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Id>
        ids_;  // the latest file for each inode number
    std::deque<File> files_;
    std::deque<RootDirectory> roots_;  // [0] is our own
    std::deque<Id> waiting_;  // files opened but not read, possibly closed since; oldest first
    std::uint64_t questions_ = 0;
    std::optional<Id> vdso_;
};

}  // namespace gpufs
