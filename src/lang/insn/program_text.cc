#include "lang/insn/program_text.h"

#include <array>
#include <span>

#include "base/cat.h"
#include "lang/insn/disasm.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Kind = Relocation::Kind;

// The text up to what a name stands for, and the name.
std::string with_name(const std::string& text, std::string_view front, const std::string& name) {
    const std::size_t at = text.rfind(front);
    return at == text.npos ? cat(text, "  # ", name) : cat(text.substr(0, at + front.size()), name);
}

std::string_view guard_word(Guard::Kind kind) {
    switch (kind) {
        case Guard::Kind::has_field:
            return "field";
        case Guard::Kind::has_event:
            return "event";
        case Guard::Kind::is_event:
            return "is";
        case Guard::Kind::has_feature:
            return "feature";
        case Guard::Kind::is_raw:
            return "raw";
        case Guard::Kind::is_recorded:
            return "recorded";
        case Guard::Kind::has_module:
            return "module";
    }
    return "";
}

std::string guard_text(const Program& program, std::size_t guard) {
    if (guard == 0) return {};
    const Guard& one = program.guards.at(guard - 1);
    return cat(guard_text(program, one.outer), "  .if ", one.negated ? "!" : "",
               guard_word(one.kind), one.name.empty() ? "" : " ", one.name);
}

std::string item_text(const CodeItem& item) {
    const int to = item.insn.dst_reg, record = item.insn.src_reg;
    switch (item.kind) {
        case CodeItem::Kind::insn:
            return cat("    ", insn_text(item.insn, item.imm64, item.relocation));
        case CodeItem::Kind::label:
            return cat(item.name, ':');
        case CodeItem::Kind::load_field:
            return cat("    r", to, " = @", item.relocation.name, "(r", record, ')');
        case CodeItem::Kind::field_address:
            return cat("    r", to, " = &@", item.relocation.name, "(r", record, ')');
        case CodeItem::Kind::field_length:
            return cat("    r", to, " = sizeof(@", item.relocation.name, ')');
    }
    return {};
}

void append_code(std::string& text, const Program& program, const std::vector<CodeItem>& code) {
    for (const CodeItem& item : code)
        text += cat(item_text(item), guard_text(program, item.guard), '\n');
}

}  // namespace

std::string insn_text(const bpf_insn& insn, std::int64_t imm64, const Relocation& operand) {
    bpf_insn plain = insn;
    if (is_wide(insn)) plain.src_reg = 0;
    const DisasmLine line = disassemble_one(plain, imm64);
    switch (operand.kind) {
        case Kind::none:
            return line.comment.empty() ? line.text : cat(line.text, "  # ", line.comment);
        case Kind::label:
            return with_name(line.text, "goto ", operand.name);
        case Kind::subprogram:
            return with_name(line.text, "call ", operand.name);
        case Kind::callback:
        case Kind::map:
        case Kind::map_value:
        case Kind::parameter:
        case Kind::record_id:
        case Kind::constant: {
            const std::string at = operand.addend == 0 ? "" : cat(" + ", operand.addend);
            return with_name(line.text, " = ", cat(operand.name, at));
        }
        case Kind::field_offset:
        case Kind::field_size:
        case Kind::btf_offset:
            return cat(line.text, "  # @", operand.name);
    }
    return line.text;
}

std::string program_text(const Program& program) {
    std::string text;
    for (const ProbeProgram& one : program.programs) {
        text += cat(text.empty() ? "" : "\n", one.name, ':');
        for (const auto& alternatives : one.targets)
            for (const ProbeTarget& target : alternatives)
                text += cat(' ', probe_kind(target.kind).name, target.name.empty() ? "" : " ",
                            target.name);
        text += '\n';
        append_code(text, program, one.code);
    }
    for (const Subprogram& one : program.subprograms) {
        text += cat('\n', one.name, ":\n");
        append_code(text, program, one.code);
    }
    return text;
}

}  // namespace gpufs
