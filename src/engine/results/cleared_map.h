#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/program_map.h"

namespace gpufs {

// A map of numbers that programs only add to, since it was cleared. To take an entry out of the
// kernel's map loses what a program adds to it just then; so the entries stay, and what they had
// is subtracted. Only a hash map that is more than half full is emptied, for other keys to have
// room.
class ClearedMap {
public:
    // Borrows the map. `words`: how many 64-bit words, the first ones of a value on each CPU, are
    // added to; what follows them is given as it is.
    ClearedMap(ProgramMap& map, std::size_t words) : map_(map), words_(words) {}

    // Visits the entries that were added to since.
    void for_each(const ProgramMap::Visit& visit) const;
    // The same, and clears the map: what is added meanwhile is visited the next time.
    void take_each(const ProgramMap::Visit& visit);
    void clear();
    // All entries that would be visited are 0 from now on, and still visited.
    void zero();
    // False when there is no such entry.
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const;

private:
    using Values = std::unordered_map<std::string, std::vector<std::byte>>;  // by key

    Values values() const;
    bool subtract(const std::string& key, std::span<std::byte> value) const;
    void visit_rest(std::span<const std::byte> key, std::span<const std::byte> value,
                    const ProgramMap::Visit& visit) const;

    ProgramMap& map_;
    std::size_t words_;
    Values before_;                 // what the entries had
    std::set<std::string> zeroed_;  // keys
};

}  // namespace gpufs
