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
// A helper function. It calls interpreter.fail() for arguments that the verifier would reject.
using BpfHelper = std::function<std::uint64_t(Interpreter&, const BpfArguments&)>;

// The state shared by interpreted programs: memory, maps, helpers, and the current time, CPU and
// task. A replay sets `now` for each record.
struct VmState {
    struct Moment {
        std::uint64_t time_ns = 0;
        std::uint32_t cpu = 0;
        std::uint32_t pid = 0;  // process id (tgid)
        std::uint32_t tid = 0;  // thread id
        std::string_view comm{};
        bool is_pid_known = true;  // if not, `pid` is the thread's id
        // Return addresses, innermost frame first; empty if not known.
        std::span<const std::uint64_t> kernel_stack{}, user_stack{};
        bool is_stack_known = false;  // one that is empty was empty
    };

    // Kinds of data that programs asked for and a recording does not have. The program gets what
    // the kernel would return on failure: -EFAULT, or an invalid id.
    enum class Gap { user_memory, kernel_memory, kernel_stack, user_stack, process, user, cgroup };
    static constexpr std::size_t kGaps = 7;

    VmState() = default;
    VmState(const VmState&) = delete;
    VmState& operator=(const VmState&) = delete;

    // Adds a map; programs refer to it by the number returned. Throws what InterpretedMap() throws.
    int add_map(const BpfMapSpec& spec);
    InterpretedMap& map(int number) { return *maps.at(static_cast<std::size_t>(number)); }

    // The value that a program's load of a map gives. find_map() is the inverse; null for other
    // values.
    static std::uint64_t handle_of(int map);
    InterpretedMap* find_map(std::uint64_t handle) const;

    void miss(Gap gap) { ++misses[static_cast<std::size_t>(gap)]; }

    std::size_t cpus = 1;  // copies of per-CPU values in maps added from now on
    VmMemory memory;
    Moment now;
    std::vector<std::unique_ptr<InterpretedMap>> maps;
    std::map<int, BpfHelper> helpers;  // by the helper's number
    // Receives records sent through rings; if empty, they are dropped.
    std::function<void(std::span<const std::byte> record)> on_record;
    std::array<std::uint64_t, kGaps> misses{};  // count by Gap
    // Records of ringbuf_reserve not yet submitted, by address.
    std::map<std::uint64_t, std::vector<std::byte>> reserved;
    std::uint64_t random =
        1;  // state of get_prandom_u32; constant seed, so that replays are reproducible
};

// Adds the helpers that monitors and generated code use: for maps, stacks, rings, memory reads,
// time, and the ids and name of the current task.
void add_common_helpers(VmState& world);

}  // namespace gpufs
