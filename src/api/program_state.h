#pragma once

#include "engine/monitor/prepared_program.h"
#include "gpufs/program.h"
#include "lang/program/program.h"

namespace gpufs::api {

// The engine's program, and what set() and only_if() chose for it.
struct Program::State {
    gpufs::Program program;
    PreparedProgram::Choice choice;
};

}  // namespace gpufs::api
