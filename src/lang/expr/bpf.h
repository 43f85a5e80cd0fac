#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/ir/ir.h"

namespace gpufs {

// Compiles a condition to BPF code for a program attached to one event. It gives the same answers
// as the kernel's filter and as Condition, except where BPF programs differ:
//
// - Patterns see the first 256 bytes of a text, and sets of CPUs are compared up to CPU 2047.
// - common_flags and common_preempt_count are refused: programs cannot see them.
// - Texts behind pointers can be compared. For one that cannot be read, == and != are both false.
//
// In addition to a filter's names it knows the names of is_task_field(), of the task that made the
// record: `pid` is the process (tgid), `tid` and common_pid the thread. These, CPU and COMM need no
// event fields: for kprobes and other probes `event` has a name and no fields.
//
// Comparing texts that are not fixed arrays needs Linux 5.5. Patterns on texts of variable length
// (__data_loc) need 5.12, whose verifier allows stores at a variable stack offset.
struct ConditionCode {
    const SymbolLookup* symbols = nullptr;  // resolves .function
    std::size_t source = 0;                 // index into Program::sources of the expression's text
};

// Whether programs know the name everywhere, of the task that runs: common_pid, pid, tid, uid and
// cgroup, unless the event has such a field, and always PID, TID, UID and CGROUP.
bool is_task_field(std::string_view name);

// Appends the test to `code`: execution falls through where the condition holds and jumps to
// `otherwise` where it does not. `context` is the program's r1 at entry. Throws what
// check_expression throws, and SourceError for anything a program cannot evaluate.
void append_condition(ir::Code& code, ir::Temp context, ir::Label otherwise,
                      const Expression& expression, const EventFormat& event,
                      const ConditionCode& how = {});

// Code to prepend to a program: where the condition holds, the program runs with r1 unchanged;
// where not, it returns 0. Labels begin with ".if".
std::vector<CodeItem> compile_condition(const Expression& expression, const EventFormat& event,
                                        const ConditionCode& how = {});

}  // namespace gpufs
