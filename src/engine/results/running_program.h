#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "lang/program/program.h"
#include "vm/program_map.h"

namespace gpufs {

// A Program at work, on this machine (Monitor) or over a recording (Replay): what reports, names
// and losses ask of it.
class RunningProgram {
public:
    virtual ~RunningProgram() = default;

    virtual const Program& program() const = 0;
    // Null when there is no such map.
    virtual ProgramMap* map(std::string_view name) const = 0;
    // What programs take for CLOCK_MONOTONIC: of a recording, the time of the current record.
    virtual std::uint64_t now_ns() const { return monotonic_ns(); }

    // Runs the programs that are for each key of a map, for the keys that it has now.
    virtual void run_each() {}
    // Of these only those that are snapshots: what there is at the end of an interval.
    virtual void run_snapshots() {}

    // From now on programs write to other copies of the maps that are reported. Returns when no
    // program writes to the previous ones any more, which settled_map() gives until the next call:
    // whoever called empties them.
    virtual void turn() {}
    // Null where programs may write to the map while it is read and emptied.
    virtual ProgramMap* settled_map(std::string_view) const { return nullptr; }
};

// The text of a map of texts, up to its NUL; empty if the map has none for the key.
std::string text_in(const RunningProgram& running, std::string_view map, std::uint64_t key);

// The path of a map of file paths; absent if the map has none for the key.
std::optional<std::string> file_path_in(const RunningProgram& running, std::string_view map,
                                        std::uint64_t key);

// The keys of a map, each as a program is given it: with zeros behind it, up to a multiple of 8.
std::vector<std::vector<std::byte>> keys_as_contexts(const ProgramMap& map);

// Visits a record that programs sent: its layout, and its bytes with the id in front, which are
// good for the visit only.
using VisitRecord =
    std::function<void(const RecordLayout& layout, std::span<const std::byte> record)>;

// Takes the records that programs send.
class RecordTaker {
public:
    // Visits a record with its layout, which its first member names. It is as long as the layout: a
    // SyscallRecord at its end, which may be short of bytes of its texts, is given zeros behind it.
    void take(const Program& program, std::span<const std::byte> record, const VisitRecord& visit);
    // Records of no layout, or too short for theirs: a mistake of the program. Not visited.
    std::uint64_t unknown() const noexcept { return unknown_; }

private:
    std::vector<std::byte> room_;
    std::uint64_t unknown_ = 0;
};

}  // namespace gpufs
