#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "vm/vm_state.h"

namespace gpufs {

// A program did something that the verifier would reject, or ran too long.
class BpfFault : public Error {
public:
    BpfFault(std::size_t slot, const std::string& why);
    std::size_t slot() const noexcept { return slot_; }
    const std::string& why() const noexcept { return why_; }

private:
    std::size_t slot_;
    std::string why_;
};

// Runs a BPF program in this process with the kernel's semantics, to replay a recording and to test
// generated code. Supports instruction sets v1 to v4 and may_goto; not the packet loads of classic
// BPF, kfuncs, arenas, and kernel objects named by BTF id.
//
// It verifies nothing in advance but throws BpfFault at an instruction that accesses memory outside
// the program's, is unaligned, or reads a register or a stack byte that was never written.
class Interpreter {
public:
    static constexpr std::size_t kMaxSteps = std::size_t{1} << 26;

    // Keeps a reference to the state. Throws BpfFault for invalid code: an unknown instruction, a
    // jump out of the program, a map that the state does not have.
    Interpreter(std::span<const bpf_insn> insns, VmState& world);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

    // Runs the program with `context` in r1, usually an address in the state's memory. Returns r0.
    // Throws BpfFault, also after `max_steps` instructions.
    std::uint64_t run(std::uint64_t context, std::size_t max_steps = kMaxSteps);

    // For helpers: calls a function of the program; `function` is the address that the program
    // passed.
    std::uint64_t call(std::uint64_t function, const BpfArguments& arguments);
    // For helpers: the bytes that an argument points at. Throw BpfFault when the program may not
    // access all of them.
    std::span<const std::byte> readable(std::uint64_t address, std::size_t bytes);
    std::span<std::byte> writable(std::uint64_t address, std::size_t bytes);
    [[noreturn]] void fail(const std::string& why) const;

    VmState& world() { return world_; }

private:
    // Base address of the program's functions, as passed to helpers that call them.
    static constexpr std::uint64_t kCodeBase = 0x4bf2'0000'0000'0000;
    struct Frame;

    void check() const;
    void resolve();
    // Runs a function in a new frame; `written` is the set of registers with defined values.
    // Returns r0, absent if it is undefined: local functions need not have a result.
    std::optional<std::uint64_t> execute(std::size_t slot, const BpfArguments& arguments,
                                         std::uint16_t written);
    std::uint64_t required(const std::optional<std::uint64_t>& result) const;
    std::optional<std::uint64_t> call_local(Frame& frame, std::int32_t distance);
    void execute_alu(Frame& frame, const bpf_insn& insn) const;
    void execute_memory(Frame& frame, const bpf_insn& insn);
    void execute_atomic(Frame& frame, const bpf_insn& insn);
    bool is_taken(Frame& frame, const bpf_insn& insn) const;
    std::uint64_t call_helper(Frame& frame, const bpf_insn& insn);
    std::uint64_t load(std::uint64_t address, std::size_t bytes) const;
    void store(std::uint64_t address, std::size_t bytes, std::uint64_t value);

    VmState& world_;
    std::vector<bpf_insn> insns_;
    std::vector<std::uint64_t> wide_;        // value of each 16-byte load, by slot
    std::vector<const BpfHelper*> helpers_;  // target of each helper call, by slot; null: unknown
    std::vector<std::uint16_t> reads_, writes_;  // sets of registers, by slot
    std::vector<std::byte> stack_;
    std::vector<std::uint64_t> frame_addresses_;  // address of each frame's stack
    std::size_t depth_ = 0;
    std::size_t slot_ = 0;   // of the current instruction
    std::size_t steps_ = 0;  // left
};

}  // namespace gpufs
