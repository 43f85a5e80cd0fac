#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/loss.h"
#include "engine/symbols/symbols.h"
#include "engine/unwind/unwind_maps.h"
#include "kernel/perf/side_band.h"
#include "lang/unwind/unwind_code.h"

namespace gpufs {

// Lets programs walk the stacks of processes whose code has no frame pointers: makes tables of the
// files that a process has mapped when a program asks for it first, and of processes that begin,
// and keeps them up to date with what these map.
class UserUnwinder {
public:
    // Throws SysError, UnsupportedError.
    UserUnwinder() = default;

    std::map<std::string, int> descriptors() const { return maps_.descriptors(); }
    // Readable while programs ask: call work() then.
    int fd() const { return maps_.fd(); }

    // For Symbols::watch(): notes whose mappings change.
    void take(const SideBandRecord& record, const ProcessTable& processes);
    // Makes the table of a file that a process will map.
    void know_file(const std::string& path, Symbols& symbols);
    // Makes the tables of a process now.
    void know(std::uint32_t pid, Symbols& symbols);
    // Answers what programs asked, and takes up what changed, until it is over: tables of large
    // programs take longer than a run may last. After Symbols::drain().
    void work(Symbols& symbols, const std::function<bool()>& is_over);

    // What found no room: there frame pointers are followed.
    LossLedger refused() const;
    std::size_t bytes() const { return maps_.bytes(); }
    std::uint64_t rows() const noexcept { return rows_; }

private:
    // A file's table: where its pages are, and which addresses are where in the file.
    struct File {
        struct Segment {
            std::uint64_t offset, bytes, address;
        };
        std::vector<Segment> segments;
        std::uint64_t first_page = 0, pages = 0;  // as linked
        std::uint32_t number = 0;                 // of the first page
    };
    struct Process {
        std::vector<UnwindRange> ranges;
        std::uint64_t may_ask_ns = 0, wait_ns = 0;
    };
    const File& file_of(MappedFiles::Id id, const MappedFiles& files);
    File read(MappedFiles::Id id, const MappedFiles& files);
    using IsOver = std::function<bool()>;
    std::optional<std::vector<UnwindRange>> ranges_of(std::uint32_t pid, Symbols& symbols,
                                                      const IsOver& is_over);
    bool update(std::uint32_t pid, Symbols& symbols, const IsOver& is_over);
    void know(std::uint32_t pid, Symbols& symbols, const IsOver& is_over);

    UnwindMaps maps_;
    std::map<MappedFiles::Id, File> files_;
    std::map<std::uint32_t, Process> processes_;
    std::set<std::uint32_t> changed_, gone_, waiting_;
    std::uint64_t rows_ = 0, refused_rows_ = 0;
    std::set<std::uint32_t> refused_processes_;
};

}  // namespace gpufs
