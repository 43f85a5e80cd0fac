#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "vm/world.h"

namespace gpufs {

// A program did what the verifier does not let pass, or did not end.
class BpfFault : public Error {
public:
    BpfFault(std::size_t slot, const std::string& why);
    std::size_t slot() const noexcept { return slot_; }
    const std::string& why() const noexcept { return why_; }

private:
    std::size_t slot_;
    std::string why_;
};

// Runs a BPF program in this process, as the kernel runs it: to replay a recording, and to test
// generated code. Instruction sets v1 to v4 and may_goto; not the packet loads of classic BPF,
// kernel functions, arenas and what names kernel objects by BTF.
//
// It does not prove anything before it runs, but it stops at the instruction that does something
// wrong: memory that is not the program's, an unaligned access, a register or a stack byte that was
// never written.
class Interpreter {
public:
    static constexpr std::size_t kMaxSteps = std::size_t{1} << 26;

    // Borrows the world. Throws BpfFault when the code has no sense: an unknown instruction, a jump
    // out of the program, a map that the world does not have.
    Interpreter(std::span<const bpf_insn> insns, VmState& world);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

    // Runs the program with this in r1, usually an address in the world's memory. Returns r0.
    std::uint64_t run(std::uint64_t context, std::size_t max_steps = kMaxSteps);

    // For helpers: calls a function of the program by the address it passed.
    std::uint64_t call(std::uint64_t function, const BpfArguments& arguments);
    // For helpers: the bytes that an argument points at, or a fault.
    std::span<const std::byte> readable(std::uint64_t address, std::size_t bytes);
    std::span<std::byte> writable(std::uint64_t address, std::size_t bytes);
    [[noreturn]] void fail(const std::string& why) const;

    VmState& world() { return world_; }

private:
    static constexpr std::size_t kFrames = 8;
    // Where functions of the program seem to be, for helpers that call them.
    static constexpr std::uint64_t kCodeBase = 0x4bf2'0000'0000'0000;
    struct Frame;

    void check() const;
    void resolve();
    // Runs a function in a frame of its own; `written` says which of its registers hold something.
    // What is in r0 when it returns, if anything is: local functions need not have a result.
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
    std::vector<std::uint64_t> wide_;            // what a 16-byte load loads, by its slot
    std::vector<const BpfHelper*> helpers_;      // what a call calls, by its slot; null: unknown
    std::vector<std::uint16_t> reads_, writes_;  // sets of registers, by slot
    std::vector<std::byte> stack_;
    std::vector<std::uint64_t> frame_addresses_;  // where each frame's bytes begin
    std::size_t depth_ = 0;
    std::size_t slot_ = 0;   // being executed
    std::size_t steps_ = 0;  // left
};

}  // namespace gpufs
