#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lang/insn/disasm.h"

namespace gpufs {

// An executable section of a BPF ELF object, as clang writes it: one or more functions, and the
// symbols that a loader would resolve.
struct BpfSection {
    struct Name {
        std::size_t insn = 0;  // index of the slot
        std::string name;
    };
    std::string name;  // "tracepoint/sched/sched_switch": tells loaders what to attach to
    std::vector<bpf_insn> insns;
    std::vector<Name> functions;   // begin of each function, ascending
    std::vector<Name> references;  // maps, data and functions of other sections, ascending
};

bool is_elf(std::string_view bytes);

// The executable sections, in the file's order. Throws UsageError, naming `what`, when the bytes
// are not a 64-bit BPF ELF object in this machine's byte order, or are damaged.
std::vector<BpfSection> parse_bpf_object(std::string_view what, std::string_view bytes);

// A section as assembly text that assembles to the same bytes. Functions become labels, references
// comments.
std::string disassembly(const BpfSection& section, DisasmOptions options = {});

}  // namespace gpufs
