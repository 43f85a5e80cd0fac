#pragma once

#include <string>
#include <string_view>

#include "engine/results/running_program.h"

namespace gpufs {

// One of the programs that a running program was merged from (merge_programs()), by the names that
// it has alone.
class RunningPart : public RunningProgram {
public:
    // Borrows both. Of the part all declarations are its own: Program::owns_included.
    RunningPart(const RunningProgram& whole, const Program& part) : whole_(whole), part_(part) {}

    const Program& program() const override { return part_; }
    ProgramMap* map(std::string_view name) const override {
        return whole_.map(name_in_whole(name));
    }
    std::uint64_t now_ns() const override { return whole_.now_ns(); }
    ProgramMap* settled_map(std::string_view name) const override {
        return whole_.settled_map(name_in_whole(name));
    }

    std::string name_in_whole(std::string_view name) const;
    // The part's layout that the whole's is; null where that is not of this part.
    const RecordLayout* find_own(const RecordLayout& layout) const;
    // False where the whole was made without it.
    bool is_there() const;

private:
    const RunningProgram& whole_;
    const Program& part_;
};

}  // namespace gpufs
