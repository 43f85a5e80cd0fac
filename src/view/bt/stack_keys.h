#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bt/types/compiled.h"
#include "view/bt/value_bytes.h"
#include "view/bt/value_names.h"

namespace gpufs::bt {

// Unites the keys of a map whose kernel stacks are the same as far as they are shown: kstack(N)
// keeps some frames more than N, because the first may be functions of the probe itself.
class StackKeys {
public:
    // Borrows both.
    StackKeys(const ScriptMap& map, ValueNames& names);

    // Whether keys of the map can be the same so.
    bool are_united() const { return !stacks_.empty(); }
    // The key, with the ids of the first stacks that show the same.
    std::vector<std::byte> united(Bytes key);
    // Adds the value of another entry of the key, of all CPUs together as the kernel has it; of a
    // slot, what it counts.
    void merge(Bytes from, std::span<std::byte> into) const;

private:
    struct Stack {
        const Type* type;
        std::size_t at;  // in the key
    };
    void find_stacks(const Type& type, std::size_t at);

    const ScriptMap& map_;
    ValueNames& names_;
    std::vector<Stack> stacks_;
    std::map<std::pair<const Type*, std::vector<std::uint64_t>>, std::int32_t> ids_;
};

}  // namespace gpufs::bt
