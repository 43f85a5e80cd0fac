#include <stdexcept>
#include <string>

#include "base/cat.h"
#include "lang/insn/insn.h"
#include "lang/ir/body.h"
#include "lang/ir/ops.h"

namespace gpufs::ir {
namespace {

// The negated comparison; absent for `&`, which has none.
std::optional<JumpOp> opposite(JumpOp op) {
    switch (op) {
        case JumpOp::eq:
            return JumpOp::ne;
        case JumpOp::ne:
            return JumpOp::eq;
        case JumpOp::gt:
            return JumpOp::le;
        case JumpOp::le:
            return JumpOp::gt;
        case JumpOp::ge:
            return JumpOp::lt;
        case JumpOp::lt:
            return JumpOp::ge;
        case JumpOp::sgt:
            return JumpOp::sle;
        case JumpOp::sle:
            return JumpOp::sgt;
        case JumpOp::sge:
            return JumpOp::slt;
        case JumpOp::slt:
            return JumpOp::sge;
        case JumpOp::set:
            break;
    }
    return std::nullopt;
}

// Adds a number to a register.
bool adds_number(const Item& item) {
    return item.is_insn() && item.op.code == (BPF_ALU64 | BPF_ADD | BPF_K);
}

bool is_go(const Item& item) {
    return item.is_insn() && item.op.code == (BPF_JMP | BPF_JA);
}

// Rewrites "if a goto x; goto y; x:" as "if !a goto y", and "r += a; r += b" as "r += a + b";
// removes jumps to the next instruction and copies of a register to itself.
void tidy(std::vector<Item>& items) {
    std::vector<Item> kept;
    for (std::size_t i = 0; i < items.size(); ++i) {
        Item& item = items[i];
        if (item.is_move() && item.dst == item.src) continue;
        if (is_go(item) && follows(items, i, item.label)) continue;
        if (adds_number(item) && !kept.empty() && adds_number(kept.back()) &&
            kept.back().dst == item.dst) {
            const auto sum = std::int64_t{kept.back().op.imm} + item.op.imm;
            if (fits_s32(static_cast<std::uint64_t>(sum))) {
                kept.back().op.imm = static_cast<__s32>(sum);
                continue;
            }
        }
        const bool is_branch = item.is_jump() && !is_go(item);
        if (is_branch && i + 1 < items.size() && is_go(items[i + 1]) &&
            follows(items, i + 1, item.label)) {
            if (const auto op = opposite(static_cast<JumpOp>(BPF_OP(item.op.code)))) {
                item.op.code = static_cast<__u8>((item.op.code & ~0xf0) | static_cast<int>(*op));
                item.label = items[i + 1].label;
                ++i;
            }
        }
        kept.push_back(item);
    }
    items.swap(kept);
}

class Writer {
public:
    Writer(const Code::Body& body, const std::vector<int>& slot_begins, std::string_view prefix)
        : body_(body), slot_begins_(slot_begins), prefix_(prefix) {}

    std::vector<CodeItem> write() {
        code_.reserve(body_.items.size());
        std::vector<bool> is_used(body_.labels);
        for (const Item& item : body_.items)
            if (item.is_jump()) is_used[item.label] = true;
        for (std::size_t i = 0; i < body_.items.size(); ++i) {
            const Item& item = body_.items[i];
            if (item.kind == Item::Kind::label && !is_used[item.label]) continue;
            write(item, i + 1 == body_.items.size());
        }
        if (jumps_to_end_) add(CodeItem::Kind::label, body_.items.back()).name = end_label();
        return std::move(code_);
    }

private:
    void write(const Item& item, bool is_last) {
        switch (item.kind) {
            case Item::Kind::label:
                add(CodeItem::Kind::label, item).name = name_of(item.label);
                return;
            case Item::Kind::fall_through:
                if (is_last) return;
                jumps_to_end_ = true;
                refer(add(CodeItem::Kind::insn, item, insn::go(0)), end_label());
                return;
            case Item::Kind::slot_address: {
                const Reg dst = static_cast<Reg>(item.dst);
                const int offset = slot_begins_[item.slot] + item.op.imm;
                add(CodeItem::Kind::insn, item, insn::mov(dst, Reg::fp));
                add(CodeItem::Kind::insn, item, insn::alu64(AluOp::add, dst, offset));
                return;
            }
            case Item::Kind::load_field:
                return relocate(add(CodeItem::Kind::load_field, item, with_registers(item)), item);
            case Item::Kind::field_address:
                return relocate(add(CodeItem::Kind::field_address, item, with_registers(item)),
                                item);
            case Item::Kind::insn:
                break;
        }
        CodeItem& code = add(CodeItem::Kind::insn, item, with_registers(item));
        code.imm64 = static_cast<std::int64_t>(item.wide);
        if (item.slot != kNone)
            code.insn.off = static_cast<__s16>(code.insn.off + slot_begins_[item.slot]);
        if (item.label != kNone) refer(code, name_of(item.label));
        relocate(code, item);
    }

    CodeItem& add(CodeItem::Kind kind, const Item& item, const bpf_insn& op = {}) {
        CodeItem& code = code_.emplace_back();
        code.kind = kind;
        code.insn = op;
        code.at = item.at;
        return code;
    }

    static bpf_insn with_registers(const Item& item) {
        bpf_insn op = item.op;
        const BpfEffects e = effects_of(op);
        const bool is_field = !item.is_insn();
        if (is_field || e.reads_dst || e.writes_dst) op.dst_reg = item.dst & 0xf;
        if (is_field || e.reads_src || e.writes_src) op.src_reg = item.src & 0xf;
        return op;
    }

    static void refer(CodeItem& code, std::string label) {
        code.relocation.kind = Relocation::Kind::label;
        code.relocation.name = std::move(label);
        code.relocation.at = code.at;
    }

    void relocate(CodeItem& code, const Item& item) const {
        if (item.relocation != kNone) code.relocation = body_.relocations[item.relocation];
    }

    std::string name_of(std::uint32_t label) const { return cat(prefix_, label); }
    std::string end_label() const { return cat(prefix_, "end"); }

    const Code::Body& body_;
    const std::vector<int>& slot_begins_;
    std::string_view prefix_;
    std::vector<CodeItem> code_;
    bool jumps_to_end_ = false;
};

// Only arguments have values on entry.
void check_entry(const Code::Body& body, const std::vector<Block>& blocks) {
    if (blocks.empty()) throw std::logic_error("code without an instruction");
    for (const RegId reg : blocks[0].live_in)
        if (is_temp(reg) || reg < 1 || reg > 5)
            throw std::logic_error(cat("register ", reg, " is read before it has a value"));
    for (const Item& item : body.items)
        if (item.slot != kNone && item.slot >= body.slots.size())
            throw std::logic_error("a slot of other code");
}

}  // namespace

std::vector<CodeItem> Code::assemble(std::string_view label_prefix, std::size_t stack_bytes) const {
    Body body = *body_;
    std::vector<Block> blocks = find_blocks(body);
    check_entry(body, blocks);
    remove_dead_code(body, blocks);
    simplify(body, blocks);
    for (std::size_t i = 0; i < body.items.size(); ++i)
        body.items[i].origin = static_cast<std::uint32_t>(i);
    std::vector<Lifetime> lifetimes = find_lifetimes(body, blocks);
    const std::vector<Loop> loops = find_loops(body);
    assign_registers(body, std::move(blocks));
    add_spill_lifetimes(body, loops, lifetimes);
    const std::vector<int> slot_begins = place_slots(body.slots, lifetimes, stack_bytes);
    tidy(body.items);
    return Writer(body, slot_begins, label_prefix).write();
}

}  // namespace gpufs::ir
