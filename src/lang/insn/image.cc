#include "lang/insn/image.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/hex.h"
#include "base/text.h"
#include "lang/insn/disasm.h"
#include "lang/insn/tokens.h"

namespace gpufs {
namespace {

constexpr std::size_t kSlotBytes = sizeof(bpf_insn);

std::string padded(std::string_view digits, std::size_t width) {
    return cat(std::string(width - std::min(width, digits.size()), ' '), digits);
}

std::string hex_of(const bpf_insn& one) {
    char bytes[kSlotBytes];
    std::memcpy(bytes, &one, kSlotBytes);
    std::string text;
    for (const char byte : bytes) {
        if (!text.empty()) text += ' ';
        append_hex_byte(text, static_cast<unsigned char>(byte));
    }
    return text;
}

std::string_view text_at(const SourceText& source, Span at) {
    return std::string_view(source.text).substr(at.begin, at.end - at.begin);
}

// One row of a listing: `slot` and `bytes` may be empty.
std::string row(const SourceText& source, Span at, std::string_view slot, std::string_view bytes,
                bool is_open, std::string_view text) {
    constexpr std::size_t kLineWidth = 5, kSlotWidth = 6, kHexWidth = 3 * kSlotBytes - 1;
    std::string line =
        cat(padded(cat(position_of(source, at.begin).line), kLineWidth), padded(slot, kSlotWidth),
            "  ", bytes, std::string(kHexWidth - bytes.size(), ' '), is_open ? "? " : "  ", text);
    line.resize(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

std::string second_row(const SourceText& source, Span at, std::size_t slot, const bpf_insn& half) {
    return row(source, at, cat(slot), hex_of(half), false, "");
}

// The slots of labels, assuming that every guard holds.
std::map<std::string, std::size_t> label_slots(const std::vector<CodeItem>& code) {
    std::map<std::string, std::size_t> slots;
    std::size_t slot = 0;
    for (const CodeItem& item : code) {
        if (item.kind == CodeItem::Kind::label)
            slots.emplace(item.name, slot);
        else
            slot += is_wide(item.insn) ? 2 : 1;
    }
    return slots;
}

// An instruction of a generated function, with the names that it refers to.
std::string generated_text(const CodeItem& item, __s16 offset) {
    bpf_insn insn = item.insn;
    if (item.relocation.kind == Relocation::Kind::label) insn.off = offset;
    std::string text = disassemble_one(insn, item.imm64).text;
    const std::string to = text.substr(0, text.find('=') + 1);  // npos + 1 is 0
    if (item.relocation.kind == Relocation::Kind::map)
        return cat(to, " map[", item.relocation.name, "]");
    if (item.relocation.kind == Relocation::Kind::map_value)
        return cat(to, " map[", item.relocation.name, "][", item.relocation.addend, "]");
    return text;
}

std::string code_listing(const Program& program, const std::vector<CodeItem>& code,
                         bool is_generated = false) {
    const std::map<std::string, std::size_t> labels = label_slots(code);
    std::string text;
    std::size_t slot = 0;
    Span form;  // what the item before was made of
    for (const CodeItem& item : code) {
        const SourceText& source = program.sources[item.at.source];
        if (item.kind == CodeItem::Kind::label) continue;
        const bool is_open = item.relocation.kind != Relocation::Kind::none &&
                             item.relocation.kind != Relocation::Kind::label;
        const bool is_insn = item.kind == CodeItem::Kind::insn;
        bpf_insn first = item.insn;
        if (is_wide(first)) first.imm = static_cast<__s32>(item.imm64);
        if (const std::string& label = is_open ? item.name : item.relocation.name; !label.empty()) {
            const std::size_t distance = labels.at(label) - slot - 1;
            if (first.code == (BPF_JMP32 | BPF_JA))
                first.imm = static_cast<__s32>(distance);
            else
                first.off = static_cast<__s16>(distance);
        }
        // A line that says several instructions stands above them.
        const Span at = item.at.span;
        const std::string said = is_generated ? generated_text(item, first.off) : item.text;
        if (!said.empty() && (at.begin != form.begin || at.end != form.end))
            text += row(source, at, "", "", false, text_at(source, at));
        form = said.empty() ? Span{} : at;
        text += row(source, at, cat(slot), is_insn ? hex_of(first) : "", is_open,
                    said.empty() ? std::string(text_at(source, at)) : cat("    ", said));
        ++slot;
        if (!is_insn || !is_wide(first)) continue;
        bpf_insn second{};
        second.imm = static_cast<__s32>(item.imm64 >> 32);
        text += second_row(source, item.at.span, slot, second);
        ++slot;
    }
    return text;
}

}  // namespace

std::string to_bytes(std::span<const bpf_insn> insns) {
    std::string bytes(insns.size_bytes(), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), insns.data(), bytes.size());
    return bytes;
}

std::vector<bpf_insn> insns_of_bytes(std::string_view what, std::string_view bytes) {
    if (bytes.empty()) throw UsageError(cat(what, " is empty"));
    if (bytes.size() % kSlotBytes != 0)
        throw UsageError(
            cat(what, " has ", bytes.size(), " bytes, which are no whole number of instructions"),
            "an instruction has 8");
    std::vector<bpf_insn> insns(bytes.size() / kSlotBytes);
    std::memcpy(insns.data(), bytes.data(), bytes.size());
    return insns;
}

std::string to_hex(std::span<const bpf_insn> insns) {
    std::string text;
    for (const bpf_insn& one : insns) text += cat(hex_of(one), '\n');
    return text;
}

std::vector<bpf_insn> insns_of_hex(const SourceText& source) {
    const std::string& text = source.text;
    std::string bytes;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (std::string_view(" \t\r\n,").find(c) != std::string_view::npos) {
            ++i;
        } else if (c == '#' || c == ';') {
            i = std::min(text.find('\n', i), text.size());
        } else if (c == '0' && i + 1 < text.size() && (text[i + 1] == 'x' || text[i + 1] == 'X')) {
            i += 2;
        } else {
            const int high = hex_digit_value(c),
                      low = i + 1 < text.size() ? hex_digit_value(text[i + 1]) : -1;
            if (high < 0 || low < 0)
                throw SourceError(source, {i, i + 1}, "expected two hexadecimal digits");
            bytes += static_cast<char>(high << 4 | low);
            i += 2;
        }
    }
    return insns_of_bytes(source.name, bytes);
}

bool is_hex(const SourceText& text) try {
    insns_of_hex(text);
    return true;
} catch (const UsageError&) {
    return false;
}

std::string to_c_array(std::string_view name, std::span<const bpf_insn> insns) {
    std::string text = cat("static const struct bpf_insn ", name, "[] = {\n");
    for (const DisasmLine& line : disassemble(insns, {.labels = false, .map_name = {}}))
        for (std::size_t i = 0; i < line.slots; ++i) {
            const bpf_insn& one = insns[line.index + i];
            text += cat("    {.code = ", hex(one.code, 2), ", .dst_reg = ", unsigned{one.dst_reg},
                        ", .src_reg = ", unsigned{one.src_reg}, ", .off = ", one.off,
                        ", .imm = ", one.imm, "},");
            text += i == 0 ? cat("  /* ", line.text, " */\n") : std::string("\n");
        }
    return text + "};\n";
}

std::string to_listing(const Listing& listing, const SourceText& source) {
    std::string text;
    for (std::size_t i = 0; i < listing.insns.size(); ++i) {
        const Span at = listing.spans[i];
        text += row(source, at, cat(i), hex_of(listing.insns[i]), false, text_at(source, at));
        if (!is_wide(listing.insns[i]) || i + 1 == listing.insns.size()) continue;
        ++i;
        text += second_row(source, at, i, listing.insns[i]);
    }
    return text;
}

std::string to_listing(const Program& program) {
    std::string text;
    const auto add = [&](std::string_view what, const auto& unit, const std::string& listing) {
        text += cat(text.empty() ? "" : "\n", what, ' ', unit.name, "  # ",
                    program.sources[unit.at.source].name, '\n', listing);
    };
    for (const ProbeProgram& probe : program.programs)
        add("program", probe, code_listing(program, probe.code));
    for (const Subprogram& function : program.subprograms)
        add("function", function, code_listing(program, function.code, function.is_generated));
    return text;
}

}  // namespace gpufs
