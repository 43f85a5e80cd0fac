#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/event/event_format.h"

namespace gpufs {

// What the arguments of system calls are, as far as the formats of syscalls:sys_enter_* say it: by
// their C types and names.

enum class SyscallArgument : std::uint8_t {
    none,
    number,           // an int
    unsigned_number,  // an unsigned int
    descriptor,       // an int: a file descriptor, or AT_FDCWD
    mode,             // permissions of a file
    bits,             // flags or a code of 32 bits
    wide_bits,        // of 64 bits; also what is not known
    wide,             // of 64 bits: a count, or an address or handle
    pointer,
    text,    // points to a text that ends with a NUL
    bytes,   // points to as many bytes as the next argument says
    filled,  // points to where the call puts as many bytes as it returns
};

// What `kinds` a call's arguments are, in their order, and which of them are read from the
// process's memory: the first two that are text, bytes or filled.
struct SyscallSignature {
    static constexpr std::size_t kMost = 6;
    static constexpr std::uint8_t kNoText = kMost;

    std::array<SyscallArgument, kMost> kinds{};
    std::array<std::uint8_t, 2> texts{kNoText, kNoText};
};

// The fields of sys_enter_NAME that are arguments. Newer kernels add the text that an argument
// points to, as dynamic fields behind them.
std::vector<const Field*> syscall_arguments(const EventFormat& format);

SyscallSignature syscall_signature(const EventFormat& format);
// Of a call whose event is not there: six arguments of 64 bits.
SyscallSignature unknown_signature();

// The argument without what its type has no room for: a register's upper half is left over from
// somebody. Of what has a sign, the lower half is extended by it.
std::uint64_t syscall_argument_value(SyscallArgument kind, std::uint64_t value);
bool is_negative_argument(SyscallArgument kind, std::uint64_t value);
// "AT_FDCWD", "0644", "NULL", "0x7ffd0c9e5a2c".
std::string syscall_argument_text(SyscallArgument kind, std::uint64_t value);

}  // namespace gpufs
