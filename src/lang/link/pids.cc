#include <algorithm>

#include "base/align.h"
#include "lang/insn/insn.h"
#include "lang/link/unit.h"

namespace gpufs::linking {
namespace {

// Since Linux 5.7; older headers lack it. It stores { u32 pid, u32 tgid }, zeros if the task has no
// ids in the namespace. As one u64 this equals the result of bpf_get_current_pid_tgid().
constexpr std::int32_t kGetNsCurrentPidTgid = 120;
constexpr std::size_t kWord = 8;

bool asks_for_ids(const Insn& insn) {
    return insn.op.code == (BPF_JMP | BPF_CALL) && insn.op.src_reg == 0 &&
           insn.op.imm == BPF_FUNC_get_current_pid_tgid;
}

std::vector<Insn> own_ids(const LinkTarget::PidNamespace& of, std::size_t stack_bytes,
                          const SourceRef& at) {
    const auto slot = -static_cast<std::int32_t>(stack_bytes + kWord);
    const auto simple = [&](const bpf_insn& op) {
        Insn insn;
        insn.op = op;
        insn.at = at;
        return insn;
    };
    const auto number = [&](Reg reg, std::uint64_t value) {
        Insn insn = simple(insn::load_imm64(reg, value)[0]);
        insn.wide = value;
        return insn;
    };
    return {number(Reg::r1, of.device),
            number(Reg::r2, of.inode),
            simple(insn::mov(Reg::r3, Reg::fp)),
            simple(insn::alu64(AluOp::add, Reg::r3, slot)),
            simple(insn::mov(Reg::r4, static_cast<std::int32_t>(kWord))),
            simple(insn::call(kGetNsCurrentPidTgid)),
            simple(insn::load(Width::dw, Reg::r0, Reg::fp, static_cast<__s16>(slot)))};
}

void use_own_ids(const LinkTarget::PidNamespace& of, Unit& unit) {
    const std::size_t stack_bytes = align_up(unit.stack_bytes, kWord);
    std::vector<Insn> made;
    std::vector<std::size_t> moved;  // by old index: the new one
    for (const Insn& insn : unit.insns) {
        moved.push_back(made.size());
        if (!asks_for_ids(insn)) {
            made.push_back(insn);
            continue;
        }
        const std::vector<Insn> ids = own_ids(of, stack_bytes, insn.at);
        made.insert(made.end(), ids.begin(), ids.end());
    }
    for (Insn& insn : made)
        if (insn.target != kNone) insn.target = moved[insn.target];
    unit.insns = std::move(made);
}

}  // namespace

bool use_own_pids(const LinkContext& job, std::vector<Unit>& units) {
    bool is_changed = false;
    for (Unit& unit : units) {
        if (!std::ranges::any_of(unit.insns, asks_for_ids)) continue;
        use_own_ids(*job.target.pid_namespace, unit);
        is_changed = true;
    }
    return is_changed;
}

}  // namespace gpufs::linking
