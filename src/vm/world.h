#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "vm/map.h"
#include "vm/memory.h"

namespace gpufs {

class Interpreter;

using BpfArguments = std::array<std::uint64_t, 5>;
// A helper function. A program that calls it with what the verifier would refuse is stopped:
// interpreter.fail() says why.
using BpfHelper = std::function<std::uint64_t(Interpreter&, const BpfArguments&)>;

// Everything that programs share and see: memory, maps, helpers, and where and when they run. The
// replay of a recording sets `now` for every record.
struct VmState {
    struct Moment {
        std::uint64_t time_ns = 0;
        std::uint32_t cpu = 0;
        std::uint32_t pid = 0;  // of the process
        std::uint32_t tid = 0;  // of the thread
        std::string_view comm{};
        bool is_pid_known = true;  // otherwise it is the thread's
        // The innermost frame first; empty: not known.
        std::span<const std::uint64_t> kernel_stack{}, user_stack{};
    };

    // What programs asked for and nobody here knows. The answer is what the kernel gives where it
    // cannot tell: -EFAULT, or an id of nobody.
    enum class Gap { user_memory, kernel_memory, kernel_stack, user_stack, process, user, cgroup };
    static constexpr std::size_t kGaps = 7;

    VmState() = default;
    VmState(const VmState&) = delete;
    VmState& operator=(const VmState&) = delete;

    // Makes a map; programs name it by the number that this returns. Throws Error.
    int add_map(const BpfMapSpec& spec);
    InterpretedMap& map(int number) { return *maps.at(static_cast<std::size_t>(number)); }

    // What a program holds when it loads a map, and back; null for what is none.
    static std::uint64_t handle_of(int map);
    InterpretedMap* find_map(std::uint64_t handle) const;

    void miss(Gap gap) { ++misses[static_cast<std::size_t>(gap)]; }

    std::size_t cpus = 1;  // copies of per-CPU values, in maps that are added from now on
    VmMemory memory;
    Moment now;
    std::vector<std::unique_ptr<InterpretedMap>> maps;
    std::map<int, BpfHelper> helpers;  // by number
    // What is sent through rings; empty: it is dropped.
    std::function<void(std::span<const std::byte> record)> on_record;
    std::array<std::uint64_t, kGaps> misses{};  // how often, by Gap
    // Of ringbuf_reserve: records that are being written, by their address.
    std::map<std::uint64_t, std::vector<std::byte>> reserved;
    std::uint64_t random = 1;  // the state of get_prandom_u32: each replay is the same
};

// Adds what monitors and generated code call: everything about maps, stacks and rings, reading of
// memory, times, and the ids and the name of the running task.
void add_common_helpers(VmState& world);

}  // namespace gpufs
