#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/program/parameters.h"
#include "lang/program/program.h"
#include "lang/program/static_argument.h"
#include "lang/variable/variable_value.h"

namespace gpufs {

// The texts that a program loads the address of: one value for a read-only array map. Each ends
// with a NUL and is padded with NULs to a multiple of 16 bytes, so that the name of a task can be
// compared in whole words.
struct StringPool {
    std::string bytes;
    std::map<std::string, std::size_t, std::less<>> offsets;  // by text

    bool empty() const { return bytes.empty(); }
};
StringPool make_string_pool(const Program& program, const ParameterValues& values);

// What one machine knows of one place that a program is attached to.
struct LinkTarget {
    // What r1 points at.
    enum class Context {
        record,         // the event's record: tracepoints
        raw_arguments,  // the tracepoint's arguments, u64 each: raw tracepoints
        registers,      // struct pt_regs: probes of functions
        other,          // a sample, nothing: the rest
    };
    Context context = Context::other;
    // Of tracepoints, raw ones too: guards ask for its fields. Of functions: function_registers().
    const EventFormat* event = nullptr;
    // Of static probes: where the arguments are that programs read as the fields arg0, arg1, ...
    const std::vector<StaticArgument>* static_arguments = nullptr;
    // Of places in code: the variables that the program reads as fields.
    const std::vector<NamedVariable>* variables = nullptr;
    std::string attached_to;   // the ProbeTarget's name: which alternative it is
    bool is_recorded = false;  // it runs over a recording

    // Kernel features by name; the linker itself asks for "isa_v4", the instructions of Linux 6.6.
    std::set<std::string, std::less<>> features;
    std::function<bool(std::string_view event)> has_event;
    // Whether a module is loaded, of this version or a later one where `version` is not empty.
    std::function<bool(std::string_view module, std::string_view version)> has_module;
    // Where a kernel structure keeps a member: "task_struct.pid". Absent without BTF.
    std::function<std::optional<std::int64_t>(std::string_view path)> btf_offset;

    // The program's maps, and others that it refers to without a declaration.
    std::map<std::string, int, std::less<>> map_fds;
    int string_pool_fd = -1;
    const StringPool* string_pool = nullptr;
    ParameterValues parameters;
    std::map<std::string, std::uint32_t, std::less<>> record_ids;

    // The pid namespace whose ids bpf_get_current_pid_tgid() is to give (stat(2) of its file in
    // /proc/PID/ns); absent: those of the initial one, as it does by itself. Linux 5.7.
    struct PidNamespace {
        std::uint64_t device = 0, inode = 0;
    };
    std::optional<PidNamespace> pid_namespace;
};

// A program ready for bpf(2).
struct Linked {
    // The program, and behind it the functions that it calls.
    struct Function {
        std::string name;
        std::size_t begin = 0;        // its first slot
        std::size_t stack_bytes = 0;  // as far as the code shows
    };
    std::vector<bpf_insn> insns;
    std::vector<SourceRef> lines;  // by slot: where it was written
    std::vector<Function> functions;
    // Does it read what r1 points at, in any way? Says yes where it is not sure. A program of a
    // tracepoint that does not can run at the raw tracepoint instead, at half the cost.
    bool reads_context = false;
};

// Fills every hole of a program. What its guards leave out and what then cannot be reached is
// dropped: the verifier refuses unreachable code. Instructions of v4 are replaced where the machine
// lacks them and there is a way. Throws UsageError with every mistake: at the user's text, with a
// caret and a hint.
Linked link(const Program& program, const ProbeProgram& probe, const LinkTarget& target);

// For a program that runs at raw_syscalls:sys_enter in the place of syscalls:sys_enter_X, or at
// sys_exit.
struct SyscallCheck {
    std::int64_t number = 0;
    // Where the kernel marks a task that makes a system call of another architecture, whose
    // numbers mean others: a u32 so far into its task_struct, and the bits that say so.
    struct Compat {
        std::int32_t offset = 0;
        std::uint32_t mask = 0;
    };
    std::optional<Compat> compat;
    // The program may read the running task as what it is: get_current_task_btf (Linux 5.11).
    // Else a copy is read, which takes 40 ns more.
    bool reads_task = false;
};
// Puts code in front of the program that ends it for other system calls.
void add_syscall_check(const SyscallCheck& check, Linked& linked);
// The code of a program at raw_syscalls:sys_enter or sys_exit that goes on, with the same record,
// as the one that an array of programs has at the call's number; `check.number` does not matter.
std::vector<bpf_insn> jump_by_syscall(const SyscallCheck& check, int programs);

// Prepends what has the kernel run the program on the task's own stack: a tail call that never
// comes, to one of `programs`, the descriptor of an array without any.
void run_on_task_stack(int programs, Linked& linked);

}  // namespace gpufs
