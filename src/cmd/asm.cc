#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/recording_input.h"
#include "cmd/shared/source_input.h"
#include "engine/places/monitor_files.h"
#include "lang/asm/assembler.h"
#include "lang/insn/image.h"
#include "lang/link/link.h"

namespace gpufs {
namespace {

struct Wanted {
    bool raw = false, c = false, hex = false, listing = false;
    std::optional<std::string> out, program;

    bool is_check() const { return !raw && !c && !hex && !listing; }
};

SourceText read_program(const std::string& path) {
    SourceText source = read_source(path);
    source.text = without_byte_order_mark(std::move(source.text));
    return source;
}

void write_out(Context& ctx, const Wanted& wanted, std::string_view content) {
    if (!wanted.out || *wanted.out == "-") return ctx.out.write(content);
    const std::string& path = *wanted.out;
    const Fd file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.get(), content, path);
}

// What cannot name an array: words of C23, and macros of its headers.
constexpr std::string_view kReserved[] = {
    "NULL",          "alignas",  "alignof", "asm",           "auto",     "bool",     "break",
    "case",          "char",     "const",   "constexpr",     "continue", "default",  "do",
    "double",        "else",     "enum",    "errno",         "extern",   "false",    "float",
    "for",           "goto",     "if",      "inline",        "int",      "long",     "nullptr",
    "register",      "restrict", "return",  "short",         "signed",   "sizeof",   "static",
    "static_assert", "stderr",   "stdin",   "stdout",        "struct",   "switch",   "thread_local",
    "true",          "typedef",  "typeof",  "typeof_unqual", "union",    "unsigned", "void",
    "volatile",      "while"};

// The name of a C array for the file: its base name with other characters replaced by '_'; a word
// of C gets one more.
std::string array_name(std::string_view path) {
    if (path == kStandardInput) return "program";
    std::string name(file_stem(path));
    std::ranges::replace_if(
        name, [](char c) { return !is_name_char(c) || c == '.' || c == '$'; }, '_');
    if (name.empty() || is_digit(name[0])) name.insert(0, "_");
    if (std::ranges::count(kReserved, name) > 0) name += '_';
    return name;
}

std::string content_of(const Wanted& wanted, const SourceText& source,
                       std::span<const bpf_insn> insns) {
    if (wanted.raw) return to_bytes(insns);
    if (wanted.hex) return to_hex(insns);
    return to_c_array(array_name(source.name), insns);
}

const ProbeProgram& wanted_program(const Wanted& wanted, const Program& program,
                                   const std::string& file) {
    std::vector<std::string> names;
    for (const ProbeProgram& probe : program.programs) {
        if (wanted.program ? probe.name == *wanted.program : program.programs.size() == 1)
            return probe;
        names.push_back(probe.name);
    }
    if (!wanted.program)
        throw UsageError(cat(file, " has ", counted(names.size(), "program")),
                         cat("--prog NAME takes one: ", join(names, ", ")));
    throw UsageError(cat(file, " has no program '", *wanted.program, "'"),
                     did_you_mean(*wanted.program, names));
}

// Whether only a kernel can resolve the item.
bool is_open(const CodeItem& item) {
    switch (item.relocation.kind) {
        case Relocation::Kind::none:
        case Relocation::Kind::label:
        case Relocation::Kind::subprogram:
        case Relocation::Kind::callback:
        case Relocation::Kind::parameter:
            return false;
        case Relocation::Kind::btf_offset:
            return !item.relocation.fallback;
        default:
            return true;
    }
}

// A program's instructions; reports those that depend on the kernel.
std::vector<bpf_insn> assemble_program(const Program& program, const ProbeProgram& probe) {
    Diagnostics mistakes;
    const auto look_at = [&](const std::vector<CodeItem>& code) {
        for (const CodeItem& item : code)
            if (is_open(item))
                mistakes.error(program.sources[item.relocation.at.source], item.relocation.at.span,
                               "only a kernel has the bytes of this",
                               "--listing shows those that are known");
    };
    look_at(probe.code);
    for (const Subprogram& function : program.subprograms) look_at(function.code);
    mistakes.throw_if_any();
    LinkTarget anywhere;
    anywhere.features.insert("isa_v4");
    return link(program, probe, anywhere).insns;
}

std::size_t insn_count(const std::vector<CodeItem>& code) {
    return static_cast<std::size_t>(std::ranges::count_if(
        code, [](const CodeItem& item) { return item.kind != CodeItem::Kind::label; }));
}

std::string summary_of(const Program& program) {
    std::size_t insns = 0;
    for (const ProbeProgram& probe : program.programs) insns += insn_count(probe.code);
    for (const Subprogram& function : program.subprograms) insns += insn_count(function.code);
    std::string text = cat(program.name, ": ", counted(program.programs.size(), "program"));
    if (!program.subprograms.empty())
        text += cat(", ", counted(program.subprograms.size(), "function"));
    return text + cat(", ", counted(insns, "instruction"), ", ",
                      counted(program.maps.size(), "map"), ": no mistakes");
}

void assemble_bare_file(Context& ctx, const Wanted& wanted, const SourceText& source) {
    const Listing listing = assemble_bare(source);
    listing.errors.throw_if_any();
    if (listing.insns.empty()) throw UsageError(cat(source.name, " has no instructions"));
    if (wanted.program)
        throw UsageError(cat(source.name, " has no program '", *wanted.program, "'"),
                         "its instructions stand without declarations");
    if (wanted.is_check())
        return ctx.out.line(cat(source.name, ": ", counted(listing.insns.size(), "instruction"),
                                ", no declarations: no mistakes"));
    write_out(
        ctx, wanted,
        wanted.listing ? to_listing(listing, source) : content_of(wanted, source, listing.insns));
}

}  // namespace

int cmd_asm(Context& ctx, Args args) {
    std::vector<std::string> words;
    Wanted wanted;
    Options options(
        "asm FILE [--raw|--c|--hex|--listing] [--prog NAME] [-o OUT]",
        "Checks a .bpf file, or assembles one. All mistakes are told, with their places.\n"
        "A file of bare instructions assembles as it stands. '-' is stdin.\n"
        "Loads nothing, needs no root.");
    options.flag("raw", wanted.raw, "the instructions as bytes")
        .flag("c", wanted.c, "as a C array of struct bpf_insn")
        .flag("hex", wanted.hex, "as hexadecimal digits, a line for each")
        .flag("listing", wanted.listing, "line, slot, bytes and source of each instruction")
        .value("prog", wanted.program, "NAME", "of a .bpf file with several programs, this one")
        .value("output,o", wanted.out, "OUT", "write to this file instead of stdout");
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.empty()) throw UsageError("asm needs a FILE", "'-' is stdin");
    check_words(words, 1);
    check_exclusive({{"--raw", wanted.raw},
                     {"--c", wanted.c},
                     {"--hex", wanted.hex},
                     {"--listing", wanted.listing}});

    check_is_not_input("--output", wanted.out, words[0], "the source");
    const SourceText source = read_program(words[0]);
    if (!has_directives(source)) {
        assemble_bare_file(ctx, wanted, source);
        return kOk;
    }
    const Program program = assemble(source, [](std::string_view file, const SourceText& from) {
        return read_included(file, from, read_program);
    });
    if (wanted.program) wanted_program(wanted, program, source.name);
    if (wanted.listing)
        write_out(ctx, wanted, to_listing(program));
    else if (!wanted.is_check())
        write_out(
            ctx, wanted,
            content_of(wanted, source,
                       assemble_program(program, wanted_program(wanted, program, source.name))));
    else
        ctx.out.line(summary_of(program));
    return kOk;
}

}  // namespace gpufs
