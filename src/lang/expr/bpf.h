#pragma once

#include <cstddef>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/ir/ir.h"

namespace gpufs {

// A condition as BPF code, for a program at one event. It judges records as the kernel's filter
// does, and as Condition does, with these differences, which are the kernel's:
//
// - Patterns see the first 256 bytes of a text, and sets of CPUs are compared up to CPU 2047.
// - common_flags and common_preempt_count are refused: programs cannot see them.
// - Texts behind pointers can be compared. One that cannot be read is never equal and never
// unequal.
//
// More than a filter it knows `pid`, the process that made the record, and `tid`, the thread; a
// field of the event that is named so wins. common_pid is the same as tid. These, CPU and COMM are
// known without an event, too: for kprobes and the rest, `event` has a name and no fields.
//
// Texts that are not arrays in the record need Linux 5.5; patterns on those of a length of their
// own
// (__data_loc) need 5.12, whose verifier lets a program write at a place of the stack it computes.
struct ConditionCode {
    const SymbolLookup* symbols = nullptr;  // for .function
    std::size_t source = 0;                 // Program::sources: the text of the expression
};

// Appends the condition to code: it goes on behind where the condition holds, and to `otherwise`
// where not. `context` is what r1 was at the beginning. Throws what check_expression throws, and
// SourceError for what a program cannot know.
void append_condition(ir::Code& code, ir::Temp context, ir::Label otherwise,
                      const Expression& expression, const EventFormat& event,
                      const ConditionCode& how = {});

// Code to put in front of a program: the program runs where the condition holds, with r1 as it was,
// and returns 0 where not. Labels begin with ".if".
std::vector<CodeItem> compile_condition(const Expression& expression, const EventFormat& event,
                                        const ConditionCode& how = {});

}  // namespace gpufs
