#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/map_spec.h"

namespace gpufs {

// A map of a program at work, for whoever reports what it holds. Of a per-CPU map a value is whole:
// one copy for each CPU, each rounded up to 8 bytes.
class ProgramMap {
public:
    virtual ~ProgramMap() = default;

    virtual const BpfMapSpec& spec() const = 0;
    // From one copy to the next.
    virtual std::size_t copy_bytes() const = 0;
    virtual std::size_t whole_value_bytes() const = 0;

    // False when there is no such key.
    virtual bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const = 0;
    virtual void update(std::span<const std::byte> key, std::span<const std::byte> value) = 0;
    using Visit =
        std::function<void(std::span<const std::byte> key, std::span<const std::byte> value)>;
    virtual void for_each(const Visit& visit) const = 0;
    // The same, and takes the entries out, for hash maps.
    virtual void take_each(const Visit& visit) = 0;

    // Of a map of stacks: the ids of those it holds, and one of them taken out.
    virtual std::vector<std::int32_t> stack_ids() const = 0;
    virtual void remove_stack(std::int32_t id) = 0;
};

}  // namespace gpufs
