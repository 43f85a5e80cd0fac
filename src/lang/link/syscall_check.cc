#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "lang/insn/insn.h"
#include "lang/link/link.h"

namespace gpufs {
namespace {

// Raw sys_enter has (struct pt_regs *, long number), and records have the number there, too.
constexpr __s16 kNumber = 8;
constexpr __s16 kToEnd = -1;  // stands for the distance while the code is written

// Goes to the end for calls of another architecture. r6 is the context then, and r1, too, if it is
// to be restored; r0 and the topmost 8 bytes of the stack change.
void append_compat_check(const SyscallCheck& check, bool restores, std::vector<bpf_insn>& code) {
    if (!check.compat) return;
    const auto offset = static_cast<__s16>(check.compat->offset);
    code.push_back(insn::mov(Reg::r6, Reg::r1));
    if (check.reads_task) {
        code.push_back(insn::call(BPF_FUNC_get_current_task_btf));
        code.push_back(insn::load(Width::w, Reg::r0, Reg::r0, offset));
    } else {
        code.push_back(insn::call(BPF_FUNC_get_current_task));
        code.push_back(insn::mov(Reg::r3, Reg::r0));
        code.push_back(insn::alu64(AluOp::add, Reg::r3, offset));
        code.push_back(insn::mov(Reg::r2, 4));
        code.push_back(insn::mov(Reg::r1, Reg::fp));
        code.push_back(insn::alu64(AluOp::add, Reg::r1, -8));
        code.push_back(insn::call(BPF_FUNC_probe_read_kernel));
        code.push_back(insn::load(Width::w, Reg::r0, Reg::fp, -8));
    }
    if (restores) code.push_back(insn::mov(Reg::r1, Reg::r6));
    code.push_back(
        insn::jump64(JumpOp::set, Reg::r0, static_cast<__s32>(check.compat->mask), kToEnd));
}

void go_to_end(std::vector<bpf_insn>& code, std::size_t end) {
    for (std::size_t i = 0; i < code.size(); ++i)
        if (BPF_CLASS(code[i].code) == BPF_JMP && code[i].off == kToEnd)
            code[i].off = static_cast<__s16>(end - i - 1);
}

void append_end(std::vector<bpf_insn>& code) {
    const std::size_t end = code.size();
    code.push_back(insn::mov(Reg::r0, 0));
    code.push_back(insn::leave());
    go_to_end(code, end);
}

bool is_same(const bpf_insn& a, const bpf_insn& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool jumps_to(std::span<const bpf_insn> code, std::size_t target) {
    for (std::size_t i = 0; i < code.size(); ++i) {
        const int kind = BPF_CLASS(code[i].code);
        const bool is_jump = kind == BPF_JMP || kind == BPF_JMP32;
        if (is_jump &&
            static_cast<std::int64_t>(i) + 1 + code[i].off == static_cast<std::int64_t>(target))
            return true;
    }
    return false;
}

// Does the program begin as the check ends: with the context in r6, and a helper without arguments,
// after which there is nothing in r1?
bool goes_on_without_r1(std::span<const bpf_insn> program) {
    return program.size() > 2 && is_same(program[0], insn::mov(Reg::r6, Reg::r1)) &&
           is_same(program[1], insn::call(BPF_FUNC_get_current_pid_tgid)) && !jumps_to(program, 0);
}

// Where it ends with 0, if that is not too far for a jump.
std::optional<std::size_t> end_in(std::span<const bpf_insn> program) {
    constexpr std::size_t kFar = 30'000;
    for (std::size_t i = 0; i + 1 < std::min(program.size(), kFar); ++i)
        if (is_same(program[i], insn::mov(Reg::r0, 0)) && is_same(program[i + 1], insn::leave()))
            return i;
    return std::nullopt;
}

// It uses no register that the program may count on but r1, and the topmost 8 bytes of the stack
// before the program does. `end`: where the program behind it has an end.
std::vector<bpf_insn> code_of(const SyscallCheck& check, bool restores,
                              std::optional<std::size_t> end) {
    std::vector<bpf_insn> code;
    code.push_back(insn::load(Width::dw, Reg::r0, Reg::r1, kNumber));
    code.push_back(insn::jump64(JumpOp::ne, Reg::r0, static_cast<__s32>(check.number), kToEnd));
    append_compat_check(check, restores, code);
    if (end) {
        go_to_end(code, code.size() + *end);
    } else {
        code.push_back(insn::go(2));  // over the end, to the program
        append_end(code);
    }
    return code;
}

}  // namespace

std::vector<bpf_insn> jump_by_syscall(const SyscallCheck& check, int programs) {
    const auto array = insn::load_pseudo(Reg::r2, Pseudo::map_fd, programs);
    std::vector<bpf_insn> code;
    code.push_back(insn::load(Width::dw, Reg::r7, Reg::r1, kNumber));
    append_compat_check(check, true, code);
    code.insert(code.end(), array.begin(), array.end());
    code.push_back(insn::mov(Reg::r3, Reg::r7));
    code.push_back(insn::call(BPF_FUNC_tail_call));  // goes on where there is no such program
    append_end(code);
    return code;
}

namespace {

void prepend(const std::vector<bpf_insn>& code, Linked& linked) {
    linked.insns.insert(linked.insns.begin(), code.begin(), code.end());
    linked.lines.insert(linked.lines.begin(), code.size(), linked.lines.front());
    for (Linked::Function& function : linked.functions)
        if (function.begin != 0) function.begin += code.size();
}

void erase(std::size_t instruction, Linked& linked) {
    const auto at = static_cast<std::ptrdiff_t>(instruction);
    linked.insns.erase(linked.insns.begin() + at);
    linked.lines.erase(linked.lines.begin() + at);
    for (Linked::Function& function : linked.functions)
        if (function.begin > instruction) --function.begin;
}

}  // namespace

void add_syscall_check(const SyscallCheck& check, Linked& linked) {
    const std::size_t size =
        linked.functions.size() > 1 ? linked.functions[1].begin : linked.insns.size();
    const std::span<const bpf_insn> program = std::span(linked.insns).first(size);
    const bool restores = !check.compat || !goes_on_without_r1(program);
    const std::vector<bpf_insn> code =
        code_of(check, restores, end_in(program.subspan(restores ? 0 : 1)));
    prepend(code, linked);
    if (!restores) erase(code.size(), linked);
}

void run_on_task_stack(int programs, Linked& linked) {
    const auto array = insn::load_pseudo(Reg::r2, Pseudo::map_fd, programs);
    std::vector<bpf_insn> never(array.begin(), array.end());
    never.push_back(insn::mov(Reg::r3, 0));
    never.push_back(insn::call(BPF_FUNC_tail_call));
    append_end(never);
    // The context is never 0, which the verifier does not know.
    std::vector<bpf_insn> code{
        insn::jump64(JumpOp::ne, Reg::r1, 0, static_cast<__s16>(never.size()))};
    code.insert(code.end(), never.begin(), never.end());
    prepend(code, linked);
}

}  // namespace gpufs
