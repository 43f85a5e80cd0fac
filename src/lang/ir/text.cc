#include "base/cat.h"
#include "lang/insn/program_text.h"
#include "lang/ir/body.h"

namespace gpufs::ir {
namespace {

// Stand for the two temps of an instruction while it is disassembled: no instruction of a Code has
// these registers itself.
constexpr std::uint8_t kTo = 6, kFrom = 7;

bool is_word_end(char c) {
    return !(c >= '0' && c <= '9');
}

// Puts a temp in the place of its stand-in: "r6" and "w6" become "t12" and "w12".
void name_temp(std::string& text, std::uint8_t register_number, RegId temp) {
    if (!is_temp(temp)) return;
    for (const char letter : {'r', 'w'}) {
        const std::string stand_in = cat(letter, static_cast<int>(register_number));
        const std::string name = cat(letter == 'r' ? 't' : 'w', temp - kFirstTemp);
        for (std::size_t at = 0; (at = text.find(stand_in, at)) != text.npos; at += name.size()) {
            const std::size_t end = at + stand_in.size();
            if (end == text.size() || is_word_end(text[end]))
                text.replace(at, stand_in.size(), name);
        }
    }
}

std::string register_text(RegId reg) {
    return is_temp(reg) ? cat('t', reg - kFirstTemp) : cat('r', reg);
}

std::string line_of(const Item& item, const Code::Body& body) {
    const Relocation known =
        item.relocation == kNone ? Relocation() : body.relocations[item.relocation];
    switch (item.kind) {
        case Item::Kind::label:
            return cat('.', item.label, ':');
        case Item::Kind::load_field:
            return cat("    ", register_text(item.dst), " = @", known.name, '(',
                       register_text(item.src), ')');
        case Item::Kind::field_address:
            return cat("    ", register_text(item.dst), " = &@", known.name, '(',
                       register_text(item.src), ')');
        case Item::Kind::slot_address:
            return cat("    ", register_text(item.dst), " = &slot", item.slot, " + ", item.op.imm);
        case Item::Kind::fall_through:
            return "    fall through";
        case Item::Kind::insn:
            break;
    }
    bpf_insn op = item.op;
    if (item.is_jump() || known.kind != Relocation::Kind::none || !item.is_call()) {
        op.dst_reg = is_temp(item.dst) ? kTo : static_cast<std::uint8_t>(item.dst) & 15;
        op.src_reg = is_temp(item.src) ? kFrom : static_cast<std::uint8_t>(item.src) & 15;
    }
    const Relocation operand =
        item.label == kNone ? known : Relocation::to(Relocation::Kind::label, cat('.', item.label));
    std::string text = insn_text(op, static_cast<std::int64_t>(item.wide), operand);
    name_temp(text, kTo, item.dst);
    name_temp(text, kFrom, item.src);
    // A slot has no place on the stack yet.
    const std::string_view stack = "r10";
    const std::size_t at = item.slot == kNone ? text.npos : text.find(stack);
    if (at != text.npos) text.replace(at, stack.size(), cat("slot", item.slot));
    return cat("    ", text);
}

}  // namespace

std::string Code::to_text() const {
    std::string text;
    for (const Item& item : body_->items) text += cat(line_of(item, *body_), '\n');
    return text;
}

}  // namespace gpufs::ir
