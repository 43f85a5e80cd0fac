#include "vm/interpreter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/extend.h"
#include "base/kernel_abi.h"
#include "lang/insn/effects.h"

namespace gpufs {
namespace {

// The bits of r1 to r5.
constexpr std::uint16_t kArguments = 0x3e;

// The kernel's limit of may_goto.
constexpr std::size_t kMaxMayGoto = std::size_t{8} << 20;

// The value of r1 to r5 after a call: an invalid address.
constexpr std::uint64_t kLost = 0xdead'dead'dead'dead;

// BPF division is total: x / 0 is 0, x % 0 is x, and the lowest number divided by -1 is itself.
template <std::unsigned_integral U>
U divide(U a, U b, bool is_signed, bool wants_rest) {
    using S = std::make_signed_t<U>;
    if (b == 0) return wants_rest ? a : 0;
    if (!is_signed) return wants_rest ? a % b : a / b;
    if (b == static_cast<U>(-1)) return wants_rest ? 0 : static_cast<U>(0 - a);
    const S dividend = static_cast<S>(a), divisor = static_cast<S>(b);
    return static_cast<U>(wants_rest ? dividend % divisor : dividend / divisor);
}

template <std::unsigned_integral U>
U compute(int op, bool is_signed, U a, U b) {
    constexpr U kShiftMask = std::numeric_limits<U>::digits - 1;
    switch (op) {
        case BPF_ADD:
            return a + b;
        case BPF_SUB:
            return a - b;
        case BPF_MUL:
            return a * b;
        case BPF_DIV:
        case BPF_MOD:
            return divide(a, b, is_signed, op == BPF_MOD);
        case BPF_OR:
            return a | b;
        case BPF_AND:
            return a & b;
        case BPF_XOR:
            return a ^ b;
        case BPF_LSH:
            return a << (b & kShiftMask);
        case BPF_RSH:
            return a >> (b & kShiftMask);
        case BPF_ARSH:
            return static_cast<U>(static_cast<std::make_signed_t<U>>(a) >> (b & kShiftMask));
        default:
            return 0 - a;  // BPF_NEG
    }
}

template <std::unsigned_integral U>
bool compare(int op, U a, U b) {
    using S = std::make_signed_t<U>;
    const S x = static_cast<S>(a), y = static_cast<S>(b);
    switch (op) {
        case BPF_JEQ:
            return a == b;
        case BPF_JNE:
            return a != b;
        case BPF_JSET:
            return (a & b) != 0;
        case BPF_JGT:
            return a > b;
        case BPF_JGE:
            return a >= b;
        case BPF_JLT:
            return a < b;
        case BPF_JLE:
            return a <= b;
        case BPF_JSGT:
            return x > y;
        case BPF_JSGE:
            return x >= y;
        case BPF_JSLT:
            return x < y;
        default:
            return x <= y;  // BPF_JSLE
    }
}

std::uint64_t swapped(std::uint64_t value, int bits) {
    if (bits == 16) return __builtin_bswap16(static_cast<std::uint16_t>(value));
    if (bits == 32) return __builtin_bswap32(static_cast<std::uint32_t>(value));
    return __builtin_bswap64(value);
}

// Sets of registers as bit masks.
constexpr std::uint16_t one(unsigned reg) {
    return static_cast<std::uint16_t>(1u << reg);
}

// Without the arguments of calls: helpers and local functions check their own.
std::uint16_t registers_read(const bpf_insn& insn) {
    const BpfEffects e = effects_of(insn);
    return static_cast<std::uint16_t>((e.reads_dst ? one(insn.dst_reg) : 0) |
                                      (e.reads_src ? one(insn.src_reg) : 0) |
                                      (e.reads_r0 ? one(0) : 0));
}

std::uint16_t registers_written(const bpf_insn& insn) {
    const BpfEffects e = effects_of(insn);
    return static_cast<std::uint16_t>((e.writes_dst ? one(insn.dst_reg) : 0) |
                                      (e.writes_src ? one(insn.src_reg) : 0) |
                                      (e.writes_r0 ? one(0) : 0));
}

constexpr const char* kNeverWritten = "reads a register that was never written";

}  // namespace

BpfFault::BpfFault(std::size_t slot, const std::string& why)
    : Error(cat("instruction ", slot, ": ", why)), slot_(slot), why_(why) {}

// One function's registers. The frame's stack is a region of its own.
struct Interpreter::Frame {
    std::array<std::uint64_t, 11> r{};
    std::uint16_t written = one(kFramePointer);
    std::size_t may_gotos = 0;

    bool has(std::uint16_t registers) const { return (written & registers) == registers; }
    // Stores the result of a call in r0, if any, and clobbers r1 to r5.
    void finish_call(const std::optional<std::uint64_t>& result) {
        std::fill_n(&r[1], 5, kLost);
        r[0] = result.value_or(kLost);
        written = static_cast<std::uint16_t>((written & ~0x3fu) | (result ? one(0) : 0));
    }
};

Interpreter::Interpreter(std::span<const bpf_insn> insns, VmState& world)
    : world_(world),
      insns_(insns.begin(), insns.end()),
      wide_(insns.size()),
      helpers_(insns.size()),
      stack_(kBpfCallFrames * kBpfStackBytes) {
    check();
    resolve();
    for (const bpf_insn& insn : insns_) {
        reads_.push_back(insn.code == (BPF_JMP | BPF_EXIT) ? 0 : registers_read(insn));
        writes_.push_back(registers_written(insn));
    }
    for (std::size_t i = 0; i < kBpfCallFrames; ++i)
        frame_addresses_.push_back(world_.memory.add(
            VmMemory::Kind::stack, std::span(stack_).subspan(i * kBpfStackBytes, kBpfStackBytes)));
}

Interpreter::~Interpreter() {
    for (const std::uint64_t address : frame_addresses_) world_.memory.remove(address);
}

void Interpreter::fail(const std::string& why) const {
    throw BpfFault(slot_, why);
}

std::span<const std::byte> Interpreter::readable(std::uint64_t address, std::size_t bytes) {
    const std::byte* at = world_.memory.find_readable(address, bytes);
    if (!at) fail(cat("the helper may not read these ", bytes, " bytes"));
    return {at, bytes};
}

std::span<std::byte> Interpreter::writable(std::uint64_t address, std::size_t bytes) {
    std::byte* at = world_.memory.find_writable(address, bytes);
    if (!at) fail(cat("the helper may not write these ", bytes, " bytes"));
    return {at, bytes};
}

std::uint64_t Interpreter::load(std::uint64_t address, std::size_t bytes) const {
    const std::byte* from = world_.memory.find_for_load(address, bytes);
    if (!from) fail(cat("reads ", bytes, " bytes where it may not"));
    std::uint64_t value = 0;
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(&value, from, bytes);
    } else {
        std::memcpy(reinterpret_cast<std::byte*>(&value) + 8 - bytes, from, bytes);
    }
    return value;
}

void Interpreter::store(std::uint64_t address, std::size_t bytes, std::uint64_t value) {
    std::byte* to = world_.memory.find_for_store(address, bytes);
    if (!to) fail(cat("writes ", bytes, " bytes where it may not"));
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(to, &value, bytes);
    } else {
        std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + 8 - bytes, bytes);
    }
}

std::uint64_t Interpreter::run(std::uint64_t context, std::size_t max_steps) {
    depth_ = 0;
    steps_ = max_steps;
    const std::uint64_t result =
        required(execute(0, {context, kLost, kLost, kLost, kLost}, one(1)));
    if (!world_.reserved.empty()) fail("ends with a reserved record that is not sent");
    return result;
}

std::uint64_t Interpreter::call(std::uint64_t function, const BpfArguments& arguments) {
    const std::uint64_t slot = function - kCodeBase;
    // A second half of a 16-byte load is no instruction; check() lets nothing else have no code.
    if (slot >= insns_.size() || insns_[slot].code == 0)
        fail("the helper's argument is not a function of this program");
    const std::size_t caller = slot_;
    const std::uint64_t result = required(execute(slot, arguments, kArguments));
    slot_ = caller;
    return result;
}

std::uint64_t Interpreter::call_helper(Frame& frame, const bpf_insn& insn) {
    const BpfHelper* helper = helpers_[slot_];
    if (!helper) fail(cat("helper ", insn.imm, " cannot be called here"));
    return (*helper)(*this, {frame.r[1], frame.r[2], frame.r[3], frame.r[4], frame.r[5]});
}

std::uint64_t Interpreter::required(const std::optional<std::uint64_t>& result) const {
    if (!result) fail(kNeverWritten);
    return *result;
}

std::optional<std::uint64_t> Interpreter::execute(std::size_t slot, const BpfArguments& arguments,
                                                  std::uint16_t written) {
    if (depth_ == kBpfCallFrames) fail(cat("calls nest more than ", kBpfCallFrames, " deep"));
    // Marks the new frame's stack as never written.
    const std::uint64_t stack = frame_addresses_[depth_];
    world_.memory.rebind(stack, std::span(stack_).subspan(depth_ * kBpfStackBytes, kBpfStackBytes));
    ++depth_;
    Frame frame;
    frame.written = static_cast<std::uint16_t>(frame.written | written);
    std::copy_n(arguments.begin(), arguments.size(), &frame.r[1]);
    frame.r[kFramePointer] = stack + kBpfStackBytes;
    for (std::size_t next = slot;;) {
        slot_ = next;
        if (next >= insns_.size()) fail("runs off the end of the program");
        if (steps_ == 0) fail("runs for too long");
        --steps_;
        const bpf_insn& insn = insns_[next++];
        if (!frame.has(reads_[slot_])) fail(kNeverWritten);
        const int kind = BPF_CLASS(insn.code), op = BPF_OP(insn.code);
        if (kind == BPF_ALU || kind == BPF_ALU64) {
            execute_alu(frame, insn);
        } else if (kind == BPF_LD) {
            frame.r[insn.dst_reg] = wide_[slot_];
            ++next;
        } else if (kind == BPF_STX && BPF_MODE(insn.code) == BPF_ATOMIC) {
            execute_atomic(frame, insn);
        } else if (kind == BPF_LDX || kind == BPF_ST || kind == BPF_STX) {
            execute_memory(frame, insn);
        } else if (op == BPF_EXIT) {
            --depth_;
            return frame.has(one(0)) ? std::optional(frame.r[0]) : std::nullopt;
        } else if (op == BPF_CALL) {
            frame.finish_call(insn.src_reg == BPF_PSEUDO_CALL
                                  ? call_local(frame, insn.imm)
                                  : std::optional(call_helper(frame, insn)));
            slot_ = next - 1;
            continue;
        } else if (op == BPF_JA || is_taken(frame, insn)) {
            next = static_cast<std::size_t>(static_cast<std::int64_t>(next) + *jump_distance(insn));
        }
        frame.written = static_cast<std::uint16_t>(frame.written | writes_[slot_]);
    }
}

std::optional<std::uint64_t> Interpreter::call_local(Frame& frame, std::int32_t distance) {
    const auto target = static_cast<std::int64_t>(slot_) + 1 + distance;
    return execute(static_cast<std::size_t>(target),
                   {frame.r[1], frame.r[2], frame.r[3], frame.r[4], frame.r[5]},
                   frame.written & kArguments);
}

void Interpreter::execute_alu(Frame& frame, const bpf_insn& insn) const {
    const bool is_64 = BPF_CLASS(insn.code) == BPF_ALU64;
    const int op = BPF_OP(insn.code);
    std::uint64_t& dst = frame.r[insn.dst_reg];
    if (op == BPF_END) {
        const bool is_swap = is_64 || (BPF_SRC(insn.code) == BPF_TO_BE) ==
                                          (std::endian::native == std::endian::little);
        dst = is_swap ? swapped(dst, insn.imm)
                      : extend(dst, static_cast<std::size_t>(insn.imm) / 8, false);
        return;
    }
    const std::uint64_t operand = BPF_SRC(insn.code) == BPF_X
                                      ? frame.r[insn.src_reg]
                                      : extend(static_cast<std::uint32_t>(insn.imm), 4, true);
    if (op == BPF_MOV) {
        const std::uint64_t value =
            insn.off == 0 ? operand : extend(operand, static_cast<std::size_t>(insn.off) / 8, true);
        dst = is_64 ? value : extend(value, 4, false);
    } else if (is_64) {
        dst = compute<std::uint64_t>(op, insn.off == 1, dst, operand);
    } else {
        dst = compute<std::uint32_t>(op, insn.off == 1, static_cast<std::uint32_t>(dst),
                                     static_cast<std::uint32_t>(operand));
    }
}

void Interpreter::execute_memory(Frame& frame, const bpf_insn& insn) {
    const std::size_t bytes = bytes_of(width_of(insn));
    const auto offset = static_cast<std::uint64_t>(std::int64_t{insn.off});
    switch (BPF_CLASS(insn.code)) {
        case BPF_LDX: {
            const std::uint64_t value = load(frame.r[insn.src_reg] + offset, bytes);
            frame.r[insn.dst_reg] =
                BPF_MODE(insn.code) == kBpfMemsx ? extend(value, bytes, true) : value;
            return;
        }
        case BPF_ST:
            return store(frame.r[insn.dst_reg] + offset, bytes,
                         extend(static_cast<std::uint32_t>(insn.imm), 4, true));
        default:
            return store(frame.r[insn.dst_reg] + offset, bytes, frame.r[insn.src_reg]);
    }
}

void Interpreter::execute_atomic(Frame& frame, const bpf_insn& insn) {
    const std::size_t bytes = bytes_of(width_of(insn));
    const auto offset = static_cast<std::uint64_t>(std::int64_t{insn.off});
    const bool is_load = insn.imm == kBpfLoadAcquire;
    const std::uint64_t address = frame.r[is_load ? insn.src_reg : insn.dst_reg] + offset;
    if (address % bytes != 0) fail("an atomic access is not aligned");
    if (is_load) {
        frame.r[insn.dst_reg] = load(address, bytes);
        return;
    }
    std::uint64_t& operand = frame.r[insn.src_reg];
    if (insn.imm == kBpfStoreRelease) return store(address, bytes, operand);

    const std::uint64_t old = load(address, bytes);
    if (insn.imm == BPF_CMPXCHG) {
        store(address, bytes, old == extend(frame.r[0], bytes, false) ? operand : old);
        frame.r[0] = old;
        return;
    }
    store(address, bytes,
          insn.imm == BPF_XCHG
              ? operand
              : compute<std::uint64_t>(insn.imm & ~BPF_FETCH, false, old, operand));
    if (insn.imm & BPF_FETCH) operand = old;
}

bool Interpreter::is_taken(Frame& frame, const bpf_insn& insn) const {
    const int op = BPF_OP(insn.code);
    if (op == kBpfJcond) return ++frame.may_gotos >= kMaxMayGoto;
    const std::uint64_t a = frame.r[insn.dst_reg];
    const std::uint64_t b = BPF_SRC(insn.code) == BPF_X
                                ? frame.r[insn.src_reg]
                                : extend(static_cast<std::uint32_t>(insn.imm), 4, true);
    if (BPF_CLASS(insn.code) == BPF_JMP) return compare<std::uint64_t>(op, a, b);
    return compare<std::uint32_t>(op, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
}

}  // namespace gpufs
