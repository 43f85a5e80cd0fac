#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lang/insn/disasm.h"

namespace gpufs {

// A section of instructions in an ELF object for BPF, as clang makes them: one or more functions,
// and the names of what a loader fills in.
struct BpfSection {
    struct Name {
        std::size_t insn = 0;  // index of the slot
        std::string name;
    };
    std::string name;  // "tracepoint/sched/sched_switch": loaders read there what to attach to
    std::vector<bpf_insn> insns;
    std::vector<Name> functions;   // where each begins, in order
    std::vector<Name> references;  // maps, data and functions of other sections, in order
};

bool is_elf(std::string_view bytes);

// The sections with instructions, in the file's order. Throws UsageError, naming `what`, where the
// bytes are no 64-bit ELF object for BPF of this machine's byte order, or are damaged.
std::vector<BpfSection> parse_bpf_object(std::string_view what, std::string_view bytes);

// The text of a section, which assembles to the same bytes. Functions are labels; references are
// named in comments.
std::string disassembly(const BpfSection& section, DisasmOptions options = {});

}  // namespace gpufs
