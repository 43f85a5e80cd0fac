#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lang/insn/effects.h"
#include "lang/ir/ir.h"

// The data of a Code, and the stages that assemble it. Private to this folder.
namespace gpufs::ir {

// 0 to 10 are hardware registers, the others are temps.
using RegId = std::uint32_t;
constexpr RegId kFirstTemp = 11;
constexpr bool is_temp(RegId reg) {
    return reg >= kFirstTemp;
}

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// An instruction, a label, or a pseudo-instruction that becomes instructions once registers and
// stack are assigned.
struct Item {
    enum class Kind {
        insn,           // `op` on the registers `dst` and `src`
        label,          // defines `label`
        load_field,     // becomes the CodeItem with this name
        field_address,  // the same, with other registers
        slot_address,   // dst = address of `slot` plus op.imm
        fall_through,   // jumps to the end of the code, with r1
    };
    Kind kind = Kind::insn;
    bpf_insn op{};
    RegId dst = 0, src = 0;
    std::uint64_t wide = 0;       // the immediate of a 16-byte load
    std::uint32_t label = kNone;  // a jump's target, or the label defined here
    std::uint32_t slot = kNone;   // if set, op.off (op.imm of slot_address) is relative to it
    std::uint32_t relocation = kNone;
    unsigned arguments = 0;    // of a call: how many of r1 to r5 it reads
    std::uint32_t origin = 0;  // its index before registers were assigned
    SourceRef at;

    bool is_insn() const { return kind == Kind::insn; }
    bool is_jump() const { return is_insn() && label != kNone; }
    bool is_call() const { return is_insn() && op.code == (BPF_JMP | BPF_CALL); }
    // A copy of all 64 bits of a register.
    bool is_move() const {
        return is_insn() && op.code == (BPF_ALU64 | BPF_MOV | BPF_X) && !op.off;
    }
    // Control never reaches the next item.
    bool ends_flow() const;
    // Has no effect except writing `dst`.
    bool is_pure() const;
};

// A few registers, without the frame pointer, which is always live.
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

// Sorted registers.
using LiveSet = std::vector<RegId>;

// A basic block: items [begin, end), entered only at the first and left only after the last.
struct Block {
    std::size_t begin = 0, end = 0;
    std::vector<std::size_t> successors;
    LiveSet live_in, live_out;
};
// Throws std::logic_error for a label that is used but never bound.
std::vector<Block> find_blocks(const Code::Body& body);

// The set of live registers during a backward walk through a block.
class LiveWalk {
public:
    explicit LiveWalk(std::size_t register_count) : index_(register_count, kNone) {}

    void start(const LiveSet& live_out);
    // Moves from after the item to before it.
    void step_over(const Item& item);
    bool contains(RegId reg) const { return index_[reg] != kNone; }
    const std::vector<RegId>& regs() const { return regs_; }

private:
    void insert(RegId reg);
    void erase(RegId reg);

    std::vector<RegId> regs_;
    std::vector<std::uint32_t> index_;  // by register: its index in regs_
};

// Items [first, last]: a jump at `last` goes back to `first`.
struct Loop {
    std::size_t first, last;
};
std::vector<Loop> find_loops(const Code::Body& body);

// Whether the label follows `at` directly, possibly after other labels.
bool follows(const std::vector<Item>& items, std::size_t at, std::uint32_t label);

// Removes items that compute unused values, and jumps to what follows. `blocks` are those of the
// code, before and after.
void remove_dead_code(Code::Body& body, std::vector<Block>& blocks);

// Makes numbers immediates, and drops what then changes nothing; stores at once what lies side by
// side. `blocks` as remove_dead_code() has them.
void simplify(Code::Body& body, std::vector<Block>& blocks);

// Replaces every temp by one of r0 to r9. Temps that do not fit are spilled to new stack slots, or
// recomputed where they are needed.
void assign_registers(Code::Body& body, std::vector<Block> blocks);

// The items from `first` to `last`, by origin, between which a slot must keep its content.
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
// For the slots requested by the code. Call it before assign_registers().
std::vector<Lifetime> find_lifetimes(const Code::Body& body, const std::vector<Block>& blocks);
// For the slots that assign_registers() appended.
void add_spill_lifetimes(const Code::Body& body, const std::vector<Loop>& loops,
                         std::vector<Lifetime>& lifetimes);
// The offset of each slot from the frame pointer. Throws StackError if the bytes do not suffice.
std::vector<int> place_slots(const std::vector<StackSlot>& slots,
                             const std::vector<Lifetime>& lifetimes, std::size_t stack_bytes);

}  // namespace gpufs::ir
