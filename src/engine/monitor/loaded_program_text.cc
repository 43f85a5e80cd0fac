#include "engine/monitor/loaded_program_text.h"

#include <map>
#include <optional>

#include "base/error.h"
#include "kernel/bpf/info.h"
#include "kernel/host/kallsyms.h"
#include "lang/symbols/kallsyms.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

// Calls are kept as distances from this function (kernel/bpf/core.c).
std::optional<std::uint64_t> call_base() {
    std::uint64_t address = 0;
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        if (symbol && symbol->name == "__bpf_call_base") address = symbol->address;
    });
    return address == 0 ? std::nullopt : std::optional(address);
}

// Names what instructions of a dump say by number.
class DumpNames {
public:
    explicit DumpNames(const ProgramInfo& program) : insns_(program.insns) {
        for (const std::uint32_t id : program.map_ids) maps_[id] = BpfMap::open(id).spec().name;
    }

    std::string note(std::size_t slot) {
        const bpf_insn& one = insns_[slot];
        if (is_wide(one)) return slot + 1 < insns_.size() ? map_note(one, insns_[slot + 1]) : "";
        const bool is_call = one.code == (BPF_JMP | BPF_CALL) && one.src_reg != BPF_PSEUDO_CALL;
        return is_call ? function_at(one.imm) : "";
    }

private:
    std::string map_note(const bpf_insn& one, const bpf_insn& second) const {
        if (one.src_reg != BPF_PSEUDO_MAP_FD && one.src_reg != BPF_PSEUDO_MAP_VALUE) return {};
        const auto map = maps_.find(static_cast<std::uint32_t>(one.imm));
        if (map == maps_.end()) return {};
        return one.src_reg == BPF_PSEUDO_MAP_FD ? cat("map[", map->second, ']')
                                                : cat("map[", map->second, "][0]+", second.imm);
    }

    std::string function_at(std::int32_t distance) {
        if (!is_base_known_) base_ = call_base();
        is_base_known_ = true;
        if (!base_ || distance == 0) return {};
        const auto symbol =
            symbols_.find(*base_ + static_cast<std::uint64_t>(std::int64_t{distance}));
        return symbol ? std::string(symbol->name) : "";
    }

    const std::vector<bpf_insn>& insns_;
    std::map<std::uint32_t, std::string> maps_;
    bool is_base_known_ = false;
    std::optional<std::uint64_t> base_;
    Kallsyms symbols_{kallsyms_text()};
};

}  // namespace

std::string loaded_program_text(std::uint32_t id, DisasmOptions options) {
    const ProgramInfo program = program_info(open_program(id).get(), WithInsns::yes);
    if (program.insns.empty())
        throw UnsupportedError(cat("the kernel does not show the instructions of program ", id),
                               "root sees them where kernel.kptr_restrict is not 2 and "
                               "net.core.bpf_jit_harden is 0");
    DumpNames names(program);
    options.note = [&](std::size_t slot) { return names.note(slot); };
    std::string head = cat("# program ", id);
    if (!program.name.empty()) head += cat(" ", program.name);
    return cat(head, ", as the kernel rewrote it\n", disassembly(program.insns, options));
}

}  // namespace gpufs
