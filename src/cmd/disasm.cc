
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/recording_input.h"
#include "cmd/shared/source_input.h"
#include "engine/monitor/loaded_program_text.h"
#include "lang/insn/image.h"
#include "lang/insn/object.h"

namespace gpufs {
namespace {

struct WantedText {
    bool raw = false, hex = false, numbers = false;
    std::optional<std::string> section;
    std::optional<unsigned long> id;
};

// A byte that is in no text.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
}

std::string text_of_object(const WantedText& wanted, const SourceText& content,
                           const DisasmOptions& how) {
    std::vector<std::string> names;
    std::string text;
    for (const BpfSection& section : parse_bpf_object(content.name, content.text)) {
        names.push_back(section.name);
        if (wanted.section && *wanted.section != section.name) continue;
        text += cat(text.empty() ? "" : "\n", "# section ", section.name, '\n',
                    disassembly(section, how));
    }
    if (names.empty()) throw UsageError(cat(content.name, " has no instructions"));
    if (text.empty())
        throw UsageError(cat(content.name, " has no section '", *wanted.section, "'"),
                         cat("it has ", join(names, ", ")));
    return text;
}

std::string text_of(const WantedText& wanted, const SourceText& content, const DisasmOptions& how) {
    const bool is_raw = wanted.raw;
    if (!is_raw && !wanted.hex && is_elf(content.text)) return text_of_object(wanted, content, how);
    if (wanted.section) throw UsageError(cat(content.name, " is no ELF object with sections"));
    if (wanted.hex || (!is_raw && is_hex(content))) return disassembly(insns_of_hex(content), how);
    if (!is_raw && std::ranges::none_of(content.text, is_control) && !content.text.empty())
        throw UsageError(
            cat(content.name, " is text, and no hexadecimal digits"),
            cat("'gpufs asm",
                content.name == kStandardInput ? " -" : cat(' ', shell_quote(content.name)),
                " --listing' assembles one"));
    return disassembly(insns_of_bytes(content.name, content.text), how);
}

std::uint32_t program_id(unsigned long number) {
    if (number > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(cat("there is no program ", number));
    return static_cast<std::uint32_t>(number);
}

}  // namespace

int cmd_disasm(Context& ctx, Args args) {
    std::vector<std::string> words;
    WantedText wanted;
    Options options(
        "disasm [FILE|--id N] [--raw|--hex] [--section NAME] [--numbers]",
        "Shows a BPF program as text that assembles to the same bytes, by 'gpufs asm\n"
        "--raw' and by LLVM. Reads FILE or stdin: an ELF object, hexadecimal digits or\n"
        "raw bytes, which it tells apart; or a program that is loaded.");
    options.flag("raw", wanted.raw, "FILE is bytes, whatever it looks like")
        .flag("hex", wanted.hex, "FILE is hexadecimal digits")
        .count("id", wanted.id, "program N of the kernel; needs root")
        .value("section", wanted.section, "NAME", "this section of an ELF object only")
        .flag("numbers", wanted.numbers,
              "jumps by number, as the kernel prints them, not to labels")
        .output();
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 1);
    check_exclusive({{"--raw", wanted.raw}, {"--hex", wanted.hex}});

    DisasmOptions how;
    how.labels = !wanted.numbers;
    if (wanted.id) {
        if (!words.empty()) throw UsageError("--id takes no FILE");
        ctx.out.write(loaded_program_text(program_id(*wanted.id), how));
        return kOk;
    }
    const std::string file = words.empty() ? "-" : words[0];
    check_is_not_input("--output", ctx.out.file(), file, "the program");
    ctx.out.write(text_of(wanted, read_source(file), how));
    return kOk;
}

}  // namespace gpufs
