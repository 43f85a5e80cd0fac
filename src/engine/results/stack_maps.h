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

// The stacks in a program's maps of stacks. Neither the kernel nor a program removes a stack: over
// a long run the map would be full and new stacks be refused.
class StackMaps {
public:
    // Keeps a reference to the program.
    explicit StackMaps(const RunningProgram& running) : running_(running) {}

    // The addresses of a stack, innermost first. Empty if there is no stack with this id.
    std::vector<std::uint64_t> frames(std::string_view map, std::int32_t id) const;

    // A stack's map and id.
    using Name = std::pair<std::string, std::int32_t>;
    // Adds the stacks that these entries of a map refer to.
    static void add_names(const MapDeclaration& map, const MapEntries& entries, std::set<Name>& to);
    // Removes the stacks that are not `used` and that no map of the program refers to. Remembers
    // them until the next call, because an event may have found one just before it was removed.
    void release(std::set<Name> used);

private:
    const RunningProgram& running_;
    std::map<Name, std::vector<std::uint64_t>, std::less<>> released_;
};

}  // namespace gpufs
