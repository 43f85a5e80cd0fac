#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "kernel/bpf/program.h"
#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

// The verifier refused a program that somebody wrote. what() shows their line, evidence() quotes
// the line of the log that says why:
//
//   wait.bpf:7:9: error: the kernel's verifier refused this
//           r1 = *(u64 *)(r1 + 8)
//           ^~~~~~~~~~~~~~~~~~~~~
//       R1 invalid mem access 'scalar'
//
// Where the log names no instruction, and in generated code, it names the program only.
class RefusedProgram : public Error {
public:
    RefusedProgram(const Program& program, const Linked& linked, const VerifierError& refusal);
    // Whole, for -v.
    const std::string& log() const noexcept { return log_; }

private:
    std::string log_;
};

// Gives the kernel what was linked. `spec` says what kind of program it is; instructions, licence
// and the names of functions come from the program, and so does the name where spec has none.
// Throws RefusedProgram, and what load_program throws besides VerifierError.
Fd load_linked(const Program& program, const Linked& linked, BpfProgramSpec spec);

}  // namespace gpufs
