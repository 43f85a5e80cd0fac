#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options.h"
#include "gpufs/base/error.h"
#include "gpufs/base/file.h"
#include "gpufs/lang/bpf_disasm.h"
#include "gpufs/lang/bpf_image.h"

namespace gpufs {
namespace {

struct Wanted {
    bool raw = false, hex = false, numbers = false;
};

std::vector<bpf_insn> read_insns(const Wanted& wanted, const SourceText& content) {
    if (wanted.hex || (!wanted.raw && is_hex(content))) return insns_of_hex(content);
    return insns_of_bytes(content.name, content.text);
}

}  // namespace

int cmd_disasm(Context& ctx, Args args) {
    std::vector<std::string> words;
    Wanted wanted;
    Options options(
        "disasm [FILE] [--raw|--hex] [--numbers]",
        "Shows a BPF program as text that assembles to the same bytes, by 'gpufs asm\n"
        "--raw' and by LLVM. Reads FILE or stdin: hexadecimal digits or raw bytes, which\n"
        "it tells apart. Needs no root.");
    options.flag("raw", wanted.raw, "FILE is bytes, whatever it looks like")
        .flag("hex", wanted.hex, "FILE is hexadecimal digits")
        .flag("numbers", wanted.numbers,
              "jumps by number, as the kernel prints them, not to labels");
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.size() > 1) throw UsageError(cat("'", words[1], "' is one word too many"));
    if (wanted.raw && wanted.hex) throw UsageError("--raw and --hex exclude each other");

    const bool is_stdin = words.empty() || words[0] == "-";
    const SourceText content{is_stdin ? "stdin" : words[0],
                             is_stdin ? read_all(STDIN_FILENO, "stdin") : read_file(words[0])};
    DisasmOptions how;
    how.labels = !wanted.numbers;
    ctx.out.write(disassembly(read_insns(wanted, content), how));
    return kOk;
}

}  // namespace gpufs
