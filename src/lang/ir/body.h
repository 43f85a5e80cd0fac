#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lang/insn/effects.h"
#include "lang/ir/ir.h"

// What a Code holds, and the stages that make instructions of it. Private to the ir_*.cc files.
namespace gpufs::ir {

// Registers 0 to 10 are the machine's, the others are temps.
using RegId = std::uint32_t;
constexpr RegId kFramePointer = 10;
constexpr RegId kFirstTemp = 11;
constexpr bool is_temp(RegId reg) {
    return reg >= kFirstTemp;
}

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// An instruction, a label, or what becomes instructions when registers and stack are known.
struct Item {
    enum class Kind {
        insn,           // `op` on the registers `dst` and `src`
        label,          // `label` is here
        load_field,     // the CodeItem of this name
        field_address,  // the same; its registers differ
        slot_address,   // dst = where `slot` begins, plus op.imm
        fall_through,   // to the end of the code, with r1
    };
    Kind kind = Kind::insn;
    bpf_insn op{};
    RegId dst = 0, src = 0;
    std::uint64_t wide = 0;       // what a 16-byte load loads
    std::uint32_t label = kNone;  // a jump's target, or the label that is here
    std::uint32_t slot = kNone;   // then op.off, or op.imm of slot_address, counts from its begin
    std::uint32_t relocation = kNone;
    unsigned arguments = 0;    // of a call: how many of r1 to r5 it reads
    std::uint32_t origin = 0;  // where it stood before registers were assigned
    SourceRef at;

    bool is_insn() const { return kind == Kind::insn; }
    bool is_jump() const { return is_insn() && label != kNone; }
    bool is_call() const { return is_insn() && op.code == (BPF_JMP | BPF_CALL); }
    // All 64 bits of one register to another.
    bool is_move() const {
        return is_insn() && op.code == (BPF_ALU64 | BPF_MOV | BPF_X) && !op.off;
    }
    // Nothing runs on behind it.
    bool ends_flow() const;
    // Without effect, but for what it writes to `dst`.
    bool is_pure() const;
};

// A few registers; the frame pointer, which always has its value, is not counted.
struct RegSet {
    RegId regs[8];
    unsigned count = 0;

    void add(RegId reg) {
        if (reg != kFramePointer) regs[count++] = reg;
    }
    const RegId* begin() const { return regs; }
    const RegId* end() const { return regs + count; }
};
RegSet reads_of(const Item& item);
// A call writes r0 to r5.
RegSet writes_of(const Item& item);

struct StackSlot {
    std::size_t bytes = 8, alignment = 8;
};

struct Code::Body {
    std::vector<Item> items;
    std::vector<Relocation> relocations;
    std::vector<Type> types;  // by temp
    std::vector<StackSlot> slots;
    std::uint32_t labels = 0;
    SourceRef at;

    RegId new_temp(Type type) {
        types.push_back(type);
        return kFirstTemp + static_cast<RegId>(types.size()) - 1;
    }
    std::size_t register_count() const { return kFirstTemp + types.size(); }
};

// Registers, rising.
using LiveSet = std::vector<RegId>;

// Items that are entered at the first and left behind the last, [begin, end).
struct Block {
    std::size_t begin = 0, end = 0;
    std::vector<std::size_t> successors;
    LiveSet live_in, live_out;
};
// Throws std::logic_error where a label is used that is never bound.
std::vector<Block> find_blocks(const Code::Body& body);

// A set of registers to walk through a block with, from its end.
class LiveWalk {
public:
    explicit LiveWalk(std::size_t register_count) : index_(register_count, kNone) {}

    void start(const LiveSet& live_out);
    // From behind the item to in front of it.
    void step_over(const Item& item);
    bool contains(RegId reg) const { return index_[reg] != kNone; }
    const std::vector<RegId>& regs() const { return regs_; }

private:
    void insert(RegId reg);
    void erase(RegId reg);

    std::vector<RegId> regs_;
    std::vector<std::uint32_t> index_;  // by register: where it stands in regs_
};

// [first, last]: a jump at `last` goes back to `first`.
struct Loop {
    std::size_t first, last;
};
std::vector<Loop> find_loops(const Code::Body& body);

// Removes what computes a value that nothing reads.
void remove_dead_code(Code::Body& body);

// Replaces every temp by one of r0 to r9. Those that do not fit live on the stack, in slots that
// are added, or are computed again where they are needed.
void assign_registers(Code::Body& body);

// The items from `first` to `last`, by origin, between which a slot keeps what is in it.
struct Lifetime {
    std::uint32_t first = kNone, last = 0;

    bool is_empty() const { return first > last; }
    void include(std::uint32_t at) {
        first = first == kNone ? at : std::min(first, at);
        last = std::max(last, at);
    }
    bool overlaps(const Lifetime& other) const {
        return !is_empty() && !other.is_empty() && first <= other.last && other.first <= last;
    }
};
// Of the slots that the code asked for: to be called before registers are assigned.
std::vector<Lifetime> find_lifetimes(const Code::Body& body);
// Of the slots that assign_registers added behind them.
void add_spill_lifetimes(const Code::Body& body, const std::vector<Loop>& loops,
                         std::vector<Lifetime>& lifetimes);
// Where each slot begins, counted from the frame pointer. Throws Error where 512 bytes do not do.
std::vector<int> place_slots(const std::vector<StackSlot>& slots,
                             const std::vector<Lifetime>& lifetimes);

}  // namespace gpufs::ir
