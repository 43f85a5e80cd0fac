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

// The verifier's log of a program that it refused.
struct VerifierLog {
    std::string_view text;

    // The line that states the mistake: "invalid bpf_context access off=1000 size=4".
    std::string_view useful_line() const;
    // The index of the instruction that line is about, in the kernel's count (a 64-bit immediate is
    // two). Absent if the log does not name one.
    std::optional<std::size_t> insn() const;
};

// The kernel's verifier refused a program. Its errno is EACCES for almost every mistake, and
// "Permission denied" would send the user hunting for capabilities, so the message leaves it out;
// evidence() is the log's useful line.
class VerifierError : public Error {
public:
    VerifierError(std::string_view program, std::string log);
    // The whole log, for -v.
    const std::string& log() const noexcept { return log_; }
    std::optional<std::size_t> insn() const { return VerifierLog{log_}.insn(); }

private:
    std::string log_;
};

// A function of a program. The kernel needs this information to accept callbacks of helpers
// (bpf_loop, bpf_for_each_map_elem).
struct FunctionName {
    std::string name;
    std::uint32_t first_insn = 0;
};

struct BpfProgramSpec {
    std::uint32_t type = BPF_PROG_TYPE_UNSPEC;  // enum bpf_prog_type; newer kernels have more
    std::string name;  // the kernel keeps 15 characters; none before Linux 4.15
    std::span<const bpf_insn> insns;
    std::string licence = "GPL";
    std::uint32_t expected_attach_type = 0;  // enum bpf_attach_type
    std::uint32_t flags = 0;                 // BPF_F_SLEEPABLE, ...
    // For BPF_PROG_TYPE_TRACING: the function's BTF id and the BTF of its module (btf.h).
    std::uint32_t attach_btf_id = 0;
    int attach_btf_fd = -1;
    // Either empty, or all functions of the program with the main one first.
    std::vector<FunctionName> functions;
};

// Loads a program. The first attempt requests no log; only a refused program pays for one. Throws
// VerifierError when the verifier refuses it; UnsupportedError, naming what is missing, when this
// user lacks a capability or the kernel a feature; SysError otherwise.
Fd load_program(const BpfProgramSpec& spec);

// Loads raw BTF into the kernel. Throws like load_program().
Fd load_btf(std::span<const std::byte> btf);

}  // namespace gpufs
