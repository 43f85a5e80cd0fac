// Instructions: any bytes have a text, which assembles back to them; and ELF objects.

#include <cstring>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "lang/insn/disasm.h"
#include "lang/insn/listing.h"
#include "lang/insn/object.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    std::vector<bpf_insn> insns(bytes.size() / sizeof(bpf_insn));
    if (!insns.empty()) std::memcpy(insns.data(), bytes.data(), insns.size() * sizeof(bpf_insn));
    const Listing again = assemble_bare({"fuzz", disassembly(insns)});
    expect(again.errors.empty() && again.insns.size() == insns.size());
    expect(insns.empty() ||
           std::memcmp(again.insns.data(), insns.data(), insns.size() * sizeof(bpf_insn)) == 0);
    try {
        const std::string text = text_of(bytes);
        for (const BpfSection& section : parse_bpf_object("fuzz", text))
            expect(section.insns.empty() || !disassembly(section).empty());
    } catch (const UsageError&) {
        // No object.
    }
}

}  // namespace gpufs::fuzz
