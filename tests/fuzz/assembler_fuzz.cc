// .bpf texts and bare instructions: any bytes make a program, or mistakes at places of the text.

#include "fuzz/fuzz.h"
#include "lang/asm/assembler.h"
#include "lang/insn/listing.h"

namespace gpufs::fuzz {
namespace {

// Some text to include, and a name that there is nothing behind.
SourceText read(std::string_view file, const SourceText&) {
    if (file != "lib/keep.bpf") throw Error("there is no such file");
    return {"lib/keep.bpf", ".const INCLUDED = 1\n.func keep\n  r0 = r1\n  exit\n"};
}

}  // namespace

void one(std::span<const std::uint8_t> bytes) {
    const SourceText source{"fuzz", text_of(bytes)};
    try {
        if (has_directives(source))
            assemble(source, read);
        else
            assemble_bare(source);
    } catch (const UsageError& e) {
        expect(!std::string_view(e.what()).empty());
    }
}

}  // namespace gpufs::fuzz
