#pragma once

// What tests of generated code share: link it, and run it in the interpreter.

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/insn/insn.h"
#include "lang/link/link.h"
#include "vm/interpreter.h"

namespace gpufs::test {

// A program of these items, with whatever else `program` declares.
inline std::vector<bpf_insn> link_items(std::vector<CodeItem> items, LinkTarget target = {},
                                        Program program = {}) {
    ProbeProgram probe;
    probe.name = "test";
    probe.code = std::move(items);
    return link(program, probe, target).insns;
}

inline CodeItem item_of(const bpf_insn& op) {
    CodeItem item;
    item.insn = op;
    return item;
}
inline CodeItem wide_of(Reg dst, std::uint64_t value) {
    CodeItem item = item_of(insn::load_imm64(dst, 0)[0]);
    item.imm64 = static_cast<std::int64_t>(value);
    return item;
}
inline CodeItem label_of(std::string name) {
    CodeItem item;
    item.kind = CodeItem::Kind::label;
    item.name = std::move(name);
    return item;
}
inline CodeItem with(CodeItem item, Relocation::Kind kind, std::string name) {
    item.relocation.kind = kind;
    item.relocation.name = std::move(name);
    return item;
}
inline CodeItem jump_to(const bpf_insn& op, std::string label) {
    return with(item_of(op), Relocation::Kind::label, std::move(label));
}

// Runs the code once, with these bytes as what r1 points at.
inline std::uint64_t run_bpf(std::span<const bpf_insn> insns, std::span<const std::byte> context,
                             VmState& world) {
    Interpreter interpreter(insns, world);
    const std::uint64_t address = world.memory.add_read_only(VmMemory::Kind::context, context);
    const std::uint64_t result = interpreter.run(address);
    world.memory.remove(address);
    return result;
}

}  // namespace gpufs::test
