#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/symbol.h"
#include "engine/symbols/jit_map.h"
#include "engine/symbols/kernel_symbols.h"
#include "engine/symbols/mapped_files.h"
#include "engine/symbols/process_table.h"
#include "kernel/perf/side_band.h"

namespace gpufs {

// What stands at an address of code. What is not known is empty.
struct Frame {
    std::string name;    // of the function: "std::vector<int, std::allocator<int> >::push_back"
    std::string module;  // "libc.so.6", "[amdgpu]"; empty for the kernel itself
    // From the function's begin. Without a function, in the module's file as its own headers count
    // (what addr2line takes). Without a module, the address.
    std::uint64_t offset = 0;
    std::string source;                         // "main.cc:42"
    std::string path = {};                      // of the module's file
    std::vector<InlinedFunction> inlined = {};  // at the address, the innermost first

    bool operator==(const Frame&) const = default;
};

// Names addresses of the kernel and of processes, as a frame each, also of those that are gone.
// Symbols are read at the first question that needs them; nothing is ever asked of a process
// itself.
class Symbols {
public:
    // Lines::yes looks for source lines, too, which takes some milliseconds a file,
    // Lines::and_inlined also for inlined functions.
    explicit Symbols(CodeFile::Lines lines = CodeFile::Lines::no)
        : files_(lines), processes_(files_) {}
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    // From now on follows what all processes map, run and fork. Without it, processes are looked at
    // when they are asked for, and those that are gone by then have no names. Throws
    // UnsupportedError, SysError.
    // With a visitor, which sees each event after it was taken in, fds() are readable at once.
    using Visit = std::function<void(const SideBandRecord&)>;
    void watch(Visit visit = {});
    // What to poll for, readable when there is much to take; empty without watch().
    std::vector<int> fds() const;
    // Takes what the kernel told since. Questions do it, too, where it matters.
    void drain();
    // Records of the side-band that got lost: then names may be missing or wrong.
    std::uint64_t lost() const { return side_band_ ? side_band_->lost() : 0; }

    // Looks at a process that runs already, so that it has names when it is gone; or at all that
    // run.
    void remember(std::uint32_t pid) { processes_.remember(pid); }
    void remember_all();
    ProcessTable& processes() { return processes_; }
    const MappedFiles& files() const { return files_; }
    // MappedFiles::add(path).
    std::optional<MappedFiles::Id> know_file(const std::string& path) { return files_.add(path); }

    Frame kernel(std::uint64_t address, FramePlace place = FramePlace::innermost);
    // `pid`: a process's number in the pid namespace of /proc; a thread's as long as it lives.
    // `time_ns`: when (CLOCK_MONOTONIC, as bpf_ktime_get_ns()).
    Frame user(std::uint32_t pid, std::uint64_t address, FramePlace place = FramePlace::innermost,
               std::uint64_t time_ns = ProcessTable::kLatest);

    // A place in a file that has a build id, as its bytes.
    struct FilePlace {
        std::string build_id;
        std::uint64_t offset = 0;  // from the file's begin
    };
    // Where the code of a process at an address comes from. Absent: of no such file.
    std::optional<FilePlace> file_place(std::uint32_t pid, std::uint64_t address);

    // KernelSymbols::why_no_names().
    std::string why_no_kernel_names() { return kernel_.why_no_names(); }

private:
    using Clock = std::chrono::steady_clock;
    struct Jit {
        JitMap map;
        std::size_t bytes = 0;  // of its text
        Clock::time_point last_look, last_question;
    };

    Frame in_file(MappedFiles::Id file, std::uint64_t offset);
    Frame in_jit(std::uint32_t pid, std::uint64_t address);
    void forget_jits();

    MappedFiles files_;
    ProcessTable processes_;
    KernelSymbols kernel_;
    std::optional<SideBand> side_band_;
    Visit visit_;
    std::map<std::uint32_t, Jit> jits_;
    std::unordered_map<std::uint64_t, Frame> known_;  // by file and offset
};

}  // namespace gpufs
