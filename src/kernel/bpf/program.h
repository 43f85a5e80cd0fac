#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace gpufs {

// What the verifier wrote about a program it refused.
struct VerifierLog {
    std::string_view text;

    // The line that says what is wrong: "invalid bpf_context access off=1000 size=4".
    std::string_view useful_line() const;
    // The instruction that line is about, as the kernel counts them (a 64-bit immediate is two).
    // Absent where the log names none.
    std::optional<std::size_t> insn() const;
};

// The kernel's verifier refused a program. Its errno is EACCES for almost every mistake, and
// "Permission denied" would send the user hunting for capabilities, so the message leaves it out;
// evidence() is the log's useful line.
class VerifierError : public Error {
public:
    VerifierError(std::string_view program, std::string log);
    // Whole, for -v.
    const std::string& log() const noexcept { return log_; }
    std::optional<std::size_t> insn() const { return VerifierLog{log_}.insn(); }

private:
    std::string log_;
};

// A function of a program, for the kernel's information: callbacks of helpers (bpf_loop,
// bpf_for_each_map_elem) are taken only with it.
struct FunctionName {
    std::string name;
    std::uint32_t first_insn = 0;
};

struct BpfProgramSpec {
    std::uint32_t type = BPF_PROG_TYPE_UNSPEC;  // enum bpf_prog_type; newer kernels have more
    std::string name;  // the kernel keeps 15 characters, and none before Linux 4.15
    std::span<const bpf_insn> insns;
    std::string licence = "GPL";
    std::uint32_t expected_attach_type = 0;  // enum bpf_attach_type
    std::uint32_t flags = 0;                 // BPF_F_SLEEPABLE, ...
    // For BPF_PROG_TYPE_TRACING: the function, and the module's BTF it is in (btf.h).
    std::uint32_t attach_btf_id = 0;
    int attach_btf_fd = -1;
    // All functions of the program, the main one first, or none.
    std::vector<FunctionName> functions;
};

// Loads a program. The first try asks for no log; only a refused program pays for one. Throws
// VerifierError when the verifier refused it; UnsupportedError, naming what is missing, when this
// user may not or this kernel cannot; SysError otherwise.
Fd load_program(const BpfProgramSpec& spec);

// Gives the kernel raw BTF. Throws as load_program.
Fd load_btf(std::span<const std::byte> btf);

}  // namespace gpufs
