#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "kernel/bpf/program.h"
#include "kernel/features.h"
#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

// The verifier refused a user's program. what() shows the source line, evidence() quotes the line
// of the log with the reason:
//
//   wait.bpf:7:9: error: the kernel's verifier refused this
//           r1 = *(u64 *)(r1 + 8)
//           ^~~~~~~~~~~~~~~~~~~~~
//       R1 invalid mem access 'scalar'
//
// If the log names no instruction, and for generated code, what() names only the program, and there
// is no message with a place.
class RefusedProgram : public Error, public Placed {
public:
    RefusedProgram(const Program& program, const Linked& linked, const VerifierError& refusal);
    // The same with other words below it.
    RefusedProgram(const RefusedProgram& other, std::string_view hint, std::string_view evidence);
    // The whole log, for -v.
    const std::string& log() const noexcept { return log_; }

private:
    std::string log_;
};

// The kernel lacks a helper that the program calls, for programs of its type; where that is in the
// user's text.
class LacksHelper : public UnsupportedError, public Placed {
public:
    LacksHelper(const std::string& message, std::vector<PlacedMessage> places,
                std::string_view hint);
};

// Loads linked code into the kernel. `spec` gives the program's type; instructions, licence and
// function names come from the program, and so does the name if spec has none. Throws
// RefusedProgram, LacksHelper, and the errors of load_program() except VerifierError.
Fd load_linked(const Program& program, const Linked& linked, BpfProgramSpec spec,
               BpfFeatures& features);

}  // namespace gpufs
