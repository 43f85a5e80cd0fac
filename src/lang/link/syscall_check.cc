#include <vector>

#include "lang/insn/insn.h"
#include "lang/link/link.h"

namespace gpufs {
namespace {

// Raw sys_enter has (struct pt_regs *, long number), and records have the number there, too.
constexpr __s16 kNumber = 8;
constexpr __s16 kToEnd = -1;  // stands for the distance while the code is written

// Goes to the end for calls of another architecture. r1 is the same afterwards; r0, r6 and the
// topmost 8 bytes of the stack are not.
void append_compat_check(const SyscallCheck& check, std::vector<bpf_insn>& code) {
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
    code.push_back(insn::mov(Reg::r1, Reg::r6));
    code.push_back(
        insn::jump64(JumpOp::set, Reg::r0, static_cast<__s32>(check.compat->mask), kToEnd));
}

void append_end(std::vector<bpf_insn>& code) {
    const std::size_t end = code.size();
    code.push_back(insn::mov(Reg::r0, 0));
    code.push_back(insn::leave());
    for (std::size_t i = 0; i < end; ++i)
        if (BPF_CLASS(code[i].code) == BPF_JMP && code[i].off == kToEnd)
            code[i].off = static_cast<__s16>(end - i - 1);
}

// It uses no register that the program may count on but r1, and the topmost 8 bytes of the stack
// before the program does.
std::vector<bpf_insn> code_of(const SyscallCheck& check) {
    std::vector<bpf_insn> code;
    code.push_back(insn::load(Width::dw, Reg::r0, Reg::r1, kNumber));
    code.push_back(insn::jump64(JumpOp::ne, Reg::r0, static_cast<__s32>(check.number), kToEnd));
    append_compat_check(check, code);
    code.push_back(insn::go(2));  // over the end, to the program
    append_end(code);
    return code;
}

}  // namespace

std::vector<bpf_insn> jump_by_syscall(const SyscallCheck& check, int programs) {
    const auto array = insn::load_pseudo(Reg::r2, Pseudo::map_fd, programs);
    std::vector<bpf_insn> code;
    code.push_back(insn::load(Width::dw, Reg::r7, Reg::r1, kNumber));
    append_compat_check(check, code);
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

}  // namespace

void add_syscall_check(const SyscallCheck& check, Linked& linked) {
    prepend(code_of(check), linked);
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
