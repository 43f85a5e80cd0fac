#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"

namespace gpufs {

// The stacks in a program's stack_trace maps. The kernel puts a stack where its hash says, and
// leaves it there: over a long run all places would be taken, and new stacks find none.
class StackMaps {
public:
    // Borrows the program.
    explicit StackMaps(const RunningProgram& running) : running_(running) {}

    // The addresses of a stack, the innermost first. Empty when there is none of this id.
    std::vector<std::uint64_t> frames(std::string_view map, std::int32_t id) const;

    // A stack's map and id.
    using Name = std::pair<std::string, std::int32_t>;
    // The stacks that these entries of a map name.
    static void add_names(const MapDeclaration& map, const std::vector<MapEntry>& entries,
                          std::set<Name>& to);
    // Removes the stacks that are not `used` and that no map of the program names, which it had
    // time to since they came. Until the next time they are remembered: an event may have found one
    // just before it was removed.
    void release(std::set<Name> used);

private:
    const RunningProgram& running_;
    std::map<Name, std::vector<std::uint64_t>, std::less<>> released_;
};

}  // namespace gpufs
