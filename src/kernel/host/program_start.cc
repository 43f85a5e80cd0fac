#include "kernel/host/program_start.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

#include "base/cat.h"
#include "base/file.h"

namespace gpufs {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kBreakpoint = 0xd4200000;  // brk #0: the program counter stays on it
constexpr std::uint64_t kBehindBreakpoint = 0;
constexpr auto kProgramCounter = &user_regs_struct::pc;
#else
constexpr std::uint8_t kBreakpoint = 0xcc;  // int3: the program counter is behind it
constexpr std::uint64_t kBehindBreakpoint = sizeof kBreakpoint;
constexpr auto kProgramCounter = &user_regs_struct::rip;
#endif

// Absent for a program of 32 bits.
std::optional<user_regs_struct> registers_of(int pid) {
    user_regs_struct registers{};
    iovec place{&registers, sizeof registers};
    if (::ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &place) == -1) return std::nullopt;
    if (place.iov_len != sizeof registers) return std::nullopt;
    return registers;
}

// Where the program begins when its interpreter has loaded it; 0 where that is unknown.
std::uint64_t entry_of(int pid) {
    const auto text = read_file_if_readable(cat("/proc/", pid, "/auxv"));
    Elf64_auxv_t one{};
    for (std::size_t at = 0; text && at + sizeof one <= text->size(); at += sizeof one) {
        std::memcpy(&one, text->data() + at, sizeof one);
        if (one.a_type == AT_ENTRY) return one.a_un.a_val;
    }
    return 0;
}

void* place_at(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

}  // namespace

void ProgramStart::ask() noexcept {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
}

// Returns false where the program is stopped at its entry already, having no interpreter, or where
// a breakpoint of somebody else's, such as a uprobe's, is there: it would not stop for us.
bool ProgramStart::plant() {
    const auto registers = registers_of(pid_);
    const std::uint64_t entry = entry_of(pid_);
    if (!registers || entry == 0 || (*registers).*kProgramCounter == entry) return false;
    errno = 0;
    code_ = ::ptrace(PTRACE_PEEKTEXT, pid_, place_at(entry), nullptr);
    if (errno != 0 || std::memcmp(&code_, &kBreakpoint, sizeof kBreakpoint) == 0) return false;
    long planted = code_;
    std::memcpy(&planted, &kBreakpoint, sizeof kBreakpoint);
    if (::ptrace(PTRACE_POKETEXT, pid_, place_at(entry), planted) == -1) return false;
    entry_ = entry;
    return true;
}

void ProgramStart::let_go(int signal) {
    if (entry_ != 0) ::ptrace(PTRACE_POKETEXT, pid_, place_at(entry_), code_);
    entry_ = 0;
    is_stopped_ = false;
    ::ptrace(PTRACE_DETACH, pid_, nullptr, signal);
}

void ProgramStart::take(int status) {
    const int signal = WSTOPSIG(status);
    if (signal != SIGTRAP) {
        let_go(signal);
        return;
    }
    is_stopped_ = true;
}

void ProgramStart::go_on() {
    if (!is_stopped_) return;
    auto registers = registers_of(pid_);
    if (entry_ != 0 && registers && (*registers).*kProgramCounter == entry_ + kBehindBreakpoint) {
        (*registers).*kProgramCounter = entry_;
        iovec place{&*registers, sizeof *registers};
        ::ptrace(PTRACE_SETREGSET, pid_, NT_PRSTATUS, &place);
        let_go(0);
        return;
    }
    // Behind an exec, of which there may be several in front of an entry.
    entry_ = 0;
    if (!plant()) {
        let_go(0);
        return;
    }
    is_stopped_ = false;
    ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
}

}  // namespace gpufs
