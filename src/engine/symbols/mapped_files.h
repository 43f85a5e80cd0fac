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
#include "engine/symbols/source_lines.h"
#include "kernel/elf/code_file.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// A process's memory as /proc/PID/maps or the side-band tells it.
struct MappedRange {
    std::uint64_t start = 0, end = 0, offset = 0;
    std::uint64_t device = 0, inode = 0;
    std::uint64_t generation = 0;  // of the inode number; 0: not known, maps has none
    std::string_view path;
};

// The files that processes have mapped: one each, by device, inode and generation, for a program
// that is built anew may have the old one's inode number. A file is opened when it is first seen,
// while the process that has it may still lead there, and read at the first question. Held open are
// at most 256 files that are read, with their debug files, 256 others, and the roots of 256
// containers: those of which nothing was heard the longest go first.
class MappedFiles {
public:
    // A number for a file, good for this object's life.
    using Id = std::uint32_t;
    // Memory that belongs to no file: a JIT compiler's, for example.
    static constexpr Id kAnonymous = 0;

    explicit MappedFiles(CodeFile::Lines lines);

    // The file of a range in a process's memory. Opens it when it is new: what is mapped there, or
    // else what the path leads to below the process's root, where it has the same inode number. A
    // range of unknown generation is one of the latest file with its inode number.
    Id add(int pid, const MappedRange& range);

    // "libc.so.6", "[vdso]"; empty for kAnonymous.
    const std::string& name(Id id) const { return files_[id].name; }

    // The functions of a file. Null where it cannot be read any more or is no program. Good until
    // the next question.
    const CodeFile* code(Id id);
    // The line that a byte of the file is code of: "main.cc:42"; empty where nobody knows.
    std::string source_at(Id id, std::uint64_t offset);

private:
    struct File {
        std::string path, name;
        std::uint64_t inode = 0, generation = 0;
        std::size_t root = 0;  // index into roots_
        Fd fd;                 // until it is read
        std::unique_ptr<CodeFile> code;
        std::unique_ptr<SourceLines> lines;
        std::uint64_t last_question = 0;
        bool is_useless = false;  // no program, or not to be found
    };

    std::size_t root_of(int pid);
    Fd open_by_path(const File& file) const;
    void open(Id id, int pid, const MappedRange& range);
    void wait(Id id);
    void forget_some(Id but);

    CodeFile::Lines with_lines_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Id> ids_;  // the latest of each number
    std::deque<File> files_;
    std::deque<RootDirectory> roots_;  // our own first
    std::deque<Id> waiting_;           // open, not read or not any more; oldest first
    std::uint64_t questions_ = 0;
    std::optional<Id> vdso_;
};

}  // namespace gpufs
