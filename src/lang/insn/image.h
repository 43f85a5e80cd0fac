#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "lang/insn/isa.h"
#include "lang/insn/listing.h"
#include "lang/program/program.h"

namespace gpufs {

// Output formats of assembled programs: bytes, hex, C array, listing.

// The bytes of the kernel's ABI, 8 for each slot.
std::string to_bytes(std::span<const bpf_insn> insns);
// Throws UsageError, naming `what`, when the size is not a whole number of instructions.
std::vector<bpf_insn> insns_of_bytes(std::string_view what, std::string_view bytes);

// "b7 00 00 00 05 00 00 00", a line for each slot.
std::string to_hex(std::span<const bpf_insn> insns);
// Parses pairs of hexadecimal digits in groups of any even length; skips blanks, commas, 0x, and
// comments as in assembly text. Throws SourceError.
std::vector<bpf_insn> insns_of_hex(const SourceText& source);
// True if insns_of_hex() accepts the text.
bool is_hex(const SourceText& text);

// "static const struct bpf_insn NAME[] = { ... };", each line with its instruction as a comment.
std::string to_c_array(std::string_view name, std::span<const bpf_insn> insns);

// Line, slot, bytes and source of each instruction. Bytes known only at load time (fields, maps,
// parameters) are 0 with a '?' behind them; an instruction whose encoding depends on the event has
// no bytes.
std::string to_listing(const Listing& listing, const SourceText& source);
std::string to_listing(const Program& program);

}  // namespace gpufs
