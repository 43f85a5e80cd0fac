#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/places/kernel_facts.h"
#include "engine/results/stack_maps.h"
#include "engine/symbols/symbols.h"
#include "engine/unwind/user_unwinder.h"
#include "lang/unwind/unwind_code.h"

namespace gpufs {

// The user stacks that the stall program takes: by unwind tables where the kernel can, else along
// frame pointers. Names them when they are read, also those of tasks that are gone by the end.
class StallUserStacks {
public:
    explicit StallUserStacks(KernelFacts& machine);

    // Lets the program walk by tables, if it can; returns the maps that it needs for that.
    std::map<std::string, int> prepare(Program& program) const;
    // The verifier did not take that: from now on prepare() leaves the program as it is.
    void give_up_tables() { unwinder_.reset(); }
    // Begins: `running` is the program, and borrowed.
    void attach(const RunningProgram& running);

    // What to poll for; work() then.
    std::vector<int> fds() const;
    void work();
    // A program, and a process, whose stacks will be taken.
    void expect(const std::string& program);
    void know(std::uint32_t pid);
    // The stack of a task's process, innermost first; empty where there is none with this number.
    std::vector<Frame> frames(std::uint32_t tid, std::int32_t number, std::uint64_t time_ns);

private:
    std::optional<UnwindKernel> kernel_;
    std::unique_ptr<UserUnwinder> unwinder_;
    std::optional<StackMaps> stacks_;
    Symbols symbols_;
    std::uint64_t next_release_ns_ = 0;
};

}  // namespace gpufs
