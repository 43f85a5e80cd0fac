#pragma once

#include <cstdint>

#include "lang/ir/ir.h"
#include "lang/program/program.h"

namespace gpufs {

// Programs that look only at some tasks.

// Jumps to `out` where the running task is none of these, by its process's or its own id. All pass
// where none is named.
void append_pid_test(ir::Code& code, const std::vector<int>& pids, ir::Label out);

// Those that look only at the tasks of a COMMAND find them in the map of
// bpf_asm/lib/followed.bpf: an array that has a byte for each task, by its id.
inline constexpr const char* kFollowedMap = "followed";
inline constexpr std::uint32_t kFollowedBlockBytes = 4096;  // of one value
// Values of a byte; 0: the task is not followed.
inline constexpr std::uint8_t kFollowed = 1, kFollowedAtExec = 2;

// Jumps to `out` where the running task is not followed.
void append_followed_test(ir::Code& code, ir::Label out);

// Lets the programs run only for followed tasks: puts the test in front of those that begin
// something or stand alone, unless the text declares the map: then it asks the map itself. The map
// is declare_followed()'s to declare, which comes after programs are merged.
void look_at_followed(Program& program);
void declare_followed(Program& program);

}  // namespace gpufs
