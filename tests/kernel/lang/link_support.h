#pragma once

// What tests of generated code on the real kernel share.

#include <linux/bpf.h>
#include <sched.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/bpf/map.h"
#include "lang/event/event_format.h"
#include "lang/expr/record_gen.h"
#include "lang/ir/ir.h"
#include "lang/link/link.h"

namespace gpufs::test {

// Loads the instructions. Where the verifier refuses them, its log is what the test says, and the
// name stands in the error.
Fd load_named(std::uint32_t type, std::span<const bpf_insn> insns, const std::string& name);

EventFormat format_of(const std::string& event);

Relocation reference(Relocation::Kind kind, std::string name, std::int64_t addend = 0);

// The number that perf_event_open(2) knows the event by.
std::uint64_t id_of(const std::string& event);

// One array value that programs write to by name, "seen".
class Seen {
public:
    explicit Seen(std::size_t bytes);

    std::vector<std::uint64_t> counts() const;
    std::string text() const;

    Fd load(std::uint32_t type, const ir::Code& code, LinkTarget target) const;
    // At raw_syscalls:sys_enter, for one system call.
    Fd load(const SyscallCheck& check, const ir::Code& code) const;
    // Adds 1 to a counter.
    static void count(ir::Code& code, std::size_t counter);

private:
    void read(std::span<std::byte> into) const;
    Linked linked(const ir::Code& code, LinkTarget target) const;

    Program program_;
    BpfMap map_;
};

// What this thread is called and where it runs, for as long as this lives.
class OwnTask {
public:
    OwnTask();
    ~OwnTask();
    OwnTask(const OwnTask&) = delete;
    OwnTask& operator=(const OwnTask&) = delete;

    void become(const RecordTask& task) const;
    // One of the CPUs that the thread was allowed.
    std::uint32_t cpu(std::size_t n) const;

private:
    char name_before_[16] = {};
    cpu_set_t cpus_before_{};
};

}  // namespace gpufs::test
