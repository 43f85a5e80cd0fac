#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/asm/work.h"
#include "lang/insn/parse.h"

namespace gpufs {

// One instruction of those that a form stands for.
struct FormStep {
    CodeItem::Kind kind = CodeItem::Kind::insn;
    // Its span is that of the form. Of the kinds that read a field: one instruction, which has the
    // registers only, and the field as its one reference.
    ParsedInsn insn;
    // The instruction in gpufs-asm(5)'s words; empty where the form itself is these words.
    std::string text;
};

// Takes a line of code that is a form, which stands for instructions that a plain line cannot say
// or for several of them:
//
//   r1 = @FIELD(r6)     r2 = &@FIELD(r6)     r3 = sizeof @FIELD(r6)     r4 = "TEXT"
//   r2 = &VARIABLE      r2 = &STRUCT.MEMBER(r7)
//   zero VARIABLE       copy VARIABLE, STRUCT.MEMBER(r7)     copy VARIABLE, @FIELD(r6)
//   exit NUMBER         [r7 =] call FUNCTION(ARGUMENT, ...) [else LABEL]
//   add MAP[KEY] VALUE
// An argument is what may stand behind "r1 =", or a form there; so is an add's key or value.
//
// A form changes the registers it names; copy changes r5, a call those that it passes, and what
// each call does. What `add` adds to is noted in AsmWork::added_to. Absent where the line is no
// form. Throws SourceError and AlreadyTold.
std::optional<std::vector<FormStep>> parse_form(AsmWork& work, std::size_t source, Span line);

}  // namespace gpufs
