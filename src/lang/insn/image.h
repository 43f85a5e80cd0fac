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

// Instructions in the forms in which programs are kept and shown.

// The bytes as the kernel takes them, 8 for each slot.
std::string to_bytes(std::span<const bpf_insn> insns);
// Throws UsageError, naming `what`, when it is no whole number of instructions.
std::vector<bpf_insn> insns_of_bytes(std::string_view what, std::string_view bytes);

// "b7 00 00 00 05 00 00 00", a line for each slot.
std::string to_hex(std::span<const bpf_insn> insns);
// Reads pairs of hexadecimal digits, in groups of any even length; blanks, commas and 0x are
// stepped over, comments as in assembly text too. Throws SourceError.
std::vector<bpf_insn> insns_of_hex(const SourceText& source);
// Is the text nothing but such pairs, in whole instructions?
bool is_hex(const SourceText& text);

// "static const struct bpf_insn NAME[] = { ... };", each line with its instruction as a comment.
std::string to_c_array(std::string_view name, std::span<const bpf_insn> insns);

// Line, slot, bytes and source of each instruction. Bytes that only a kernel can fill (fields,
// maps, parameters) are 0, with a '?' behind them; an instruction whose form depends on the event
// has none yet.
std::string to_listing(const Listing& listing, const SourceText& source);
std::string to_listing(const Program& program);

}  // namespace gpufs
