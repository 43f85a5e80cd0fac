#pragma once

#include <vector>

#include "lang/ir/ir.h"
#include "lang/program/program.h"
#include "lang/variable/variable_value.h"

namespace gpufs {

// What registers had when functions began, which variables are computed from (ValueStep::at_begin):
// programs at the begins keep it in a map, by process, frame and register. The frame, as DWARF
// means it ("CFA"), tells the calls of a function apart, also where it calls itself.

// The map, and the count of hits whose function had begun before the program there was attached.
// Once for a program.
void declare_begin_values(Program& program);

// What a register had when the function with this frame began. Jumps to `unknown` if nothing says
// it.
ir::Temp append_begin_value(ir::Code& code, const ir::Operand& frame, unsigned reg,
                            ir::Label unknown);
// Counts a hit that went to `unknown`.
void append_unseen_begin(ir::Code& code);

// The program for each register of which the value needs that, at the begin of its function;
// `path`: of the file that has it.
std::vector<ProbeProgram> begin_programs(const VariableValue& value, const std::string& path,
                                         const SourceRef& at);
// Adds those that the program does not have yet, and the map.
void add_begin_programs(Program& program, const VariableValue& value, const std::string& path,
                        const SourceRef& at);

}  // namespace gpufs
