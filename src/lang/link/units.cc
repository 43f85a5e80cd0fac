#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "lang/insn/insn.h"
#include "lang/link/unit.h"

// Code items to units: labels, calls, and what can be reached.
namespace gpufs::linking {
namespace {

// Ends the program for other system calls than the one asked for. It uses no register that the
// program may count on but r1, and the topmost 8 bytes of the stack before the program does.
std::vector<Insn> syscall_check(const LinkTarget::SyscallCheck& check, const SourceRef& at) {
    constexpr __s16 kNumber = 8;             // raw sys_enter has (struct pt_regs *, long number)
    constexpr std::size_t kEnd = kNone - 1;  // stands for the end while the code is written
    std::vector<Insn> code;
    const auto add = [&](const bpf_insn& op, std::size_t target = kNone) {
        Insn insn;
        insn.op = op;
        insn.target = target;
        insn.at = at;
        code.push_back(insn);
    };
    add(insn::load(Width::dw, Reg::r0, Reg::r1, kNumber));
    add(insn::jump64(JumpOp::ne, Reg::r0, static_cast<__s32>(check.number), 0), kEnd);
    if (check.compat) {
        const auto offset = static_cast<__s16>(check.compat->offset);
        add(insn::mov(Reg::r6, Reg::r1));
        if (check.reads_task) {
            add(insn::call(BPF_FUNC_get_current_task_btf));
            add(insn::load(Width::w, Reg::r0, Reg::r0, offset));
        } else {
            add(insn::call(BPF_FUNC_get_current_task));
            add(insn::mov(Reg::r3, Reg::r0));
            add(insn::alu64(AluOp::add, Reg::r3, offset));
            add(insn::mov(Reg::r2, 4));
            add(insn::mov(Reg::r1, Reg::fp));
            add(insn::alu64(AluOp::add, Reg::r1, -8));
            add(insn::call(BPF_FUNC_probe_read_kernel));
            add(insn::load(Width::w, Reg::r0, Reg::fp, -8));
        }
        add(insn::mov(Reg::r1, Reg::r6));
        add(insn::jump64(JumpOp::set, Reg::r0, static_cast<__s32>(check.compat->mask), 0), kEnd);
    }
    add(insn::go(0), code.size() + 3);  // over the end, to the program
    const std::size_t end = code.size();
    add(insn::mov(Reg::r0, 0));
    add(insn::leave());
    for (Insn& insn : code)
        if (insn.target == kEnd) insn.target = end;
    return code;
}

class UnitMaker {
public:
    explicit UnitMaker(LinkContext& job) : job_(job), items_(job) {}

    std::vector<Unit> make() {
        add_unit(job_.probe.name, job_.probe.code, job_.probe.at, true);
        // Functions are added behind while calls of them are found.
        for (std::size_t next = 0; next < wanted_.size(); ++next) {
            const Subprogram& function = *wanted_[next];
            add_unit(function.name, function.code, function.at, false);
        }
        return std::move(units_);
    }

private:
    struct Reference {
        std::size_t insn;
        std::string label;  // empty: to `slot`
        std::int64_t slot;  // of the items as they were written
        SourceRef at;
    };

    void add_unit(const std::string& name, const std::vector<CodeItem>& code, const SourceRef& at,
                  bool is_program) {
        Unit unit{name, at, {}, 0};
        if (is_program && job_.target.syscall) unit.insns = syscall_check(*job_.target.syscall, at);
        const std::size_t own = unit.insns.size();
        labels_.clear();
        references_.clear();
        std::map<std::int64_t, std::size_t> insn_at_slot;
        std::int64_t slot = 0;
        for (const CodeItem& item : code) {
            const bool is_label = item.kind == CodeItem::Kind::label;
            if (!is_label) insn_at_slot[slot] = unit.insns.size();
            if (items_.holds(item.guard)) add_item(item, slot, unit);
            if (!is_label) slot += is_wide(item.insn) ? 2 : 1;
        }
        if (unit.insns.size() == own)
            job_.error(at,
                       cat(is_program ? "program '" : "function '", name, "' has no instructions"));
        for (const Reference& reference : references_)
            unit.insns[reference.insn].target = find_target(reference, insn_at_slot, unit);
        units_.push_back(std::move(unit));
    }

    void add_item(const CodeItem& item, std::int64_t slot, Unit& unit) {
        if (item.kind == CodeItem::Kind::label) {
            if (!labels_.emplace(item.name, unit.insns.size()).second)
                job_.error(item.at, cat("label '", item.name, "' is there twice"));
            return;
        }
        const std::size_t first = unit.insns.size();
        try {
            items_.resolve(item, unit.insns);
            refer(item, first, slot, unit.insns);
        } catch (const Unresolved&) {
            unit.insns.resize(first);
        }
    }

    // What an instruction says about other places.
    void refer(const CodeItem& item, std::size_t at, std::int64_t slot, std::vector<Insn>& insns) {
        using Kind = Relocation::Kind;
        const Relocation& relocation = item.relocation;
        Insn& insn = insns[at];
        if (relocation.kind == Kind::subprogram || relocation.kind == Kind::callback) {
            insn.callee = unit_index(relocation);
            insn.op.src_reg = relocation.kind == Kind::callback ? BPF_PSEUDO_FUNC : BPF_PSEUDO_CALL;
            return;
        }
        if (insn.is_local_call())
            job_.fail(item.at, "a function of the program is called by its name");
        const auto distance = jump_distance(insn.op);
        if (relocation.kind == Kind::label)
            references_.push_back({at, relocation.name, 0, relocation.at});
        else if (distance)
            references_.push_back({at, "", slot + 1 + *distance, item.at});
    }

    std::size_t unit_index(const Relocation& relocation) {
        const Subprogram* function = job_.program.find_subprogram(relocation.name);
        if (!function) {
            std::vector<std::string> names;
            for (const Subprogram& known : job_.program.subprograms) names.push_back(known.name);
            job_.fail(relocation.at, cat("there is no function '", relocation.name, "'"),
                      did_you_mean(relocation.name, names));
        }
        auto known = std::ranges::find(wanted_, function);
        if (known == wanted_.end()) known = wanted_.insert(known, function);
        return static_cast<std::size_t>(known - wanted_.begin()) + 1;
    }

    std::size_t find_target(const Reference& reference,
                            const std::map<std::int64_t, std::size_t>& insn_at_slot,
                            const Unit& unit) {
        std::size_t target = kNone;
        if (reference.label.empty()) {
            const auto it = insn_at_slot.find(reference.slot);
            if (it != insn_at_slot.end()) target = it->second;
            if (target >= unit.insns.size())
                job_.error(reference.at, "the jump leads to no instruction of this program");
            return target;
        }
        const auto it = labels_.find(reference.label);
        if (it == labels_.end()) {
            std::vector<std::string> names;
            for (const auto& [name, at] : labels_) names.push_back(name);
            job_.error(reference.at, cat("there is no label '", reference.label, "'"),
                       did_you_mean(reference.label, names));
        } else if (it->second == unit.insns.size()) {
            job_.error(reference.at, cat("no instruction follows label '", reference.label, "'"),
                       "end the program with 'exit'");
        } else {
            target = it->second;
        }
        return target;
    }

    LinkContext& job_;
    ItemResolver items_;
    std::vector<Unit> units_;
    std::vector<const Subprogram*> wanted_;
    std::map<std::string, std::size_t> labels_;  // of the unit at hand: the instruction behind
    std::vector<Reference> references_;
};

// Which instructions the first one leads to. Notes where the code runs off its end.
std::vector<bool> reachable(LinkContext& job, const Unit& unit, bool is_program) {
    const auto& insns = unit.insns;
    std::vector<bool> is_reached(insns.size());
    std::vector<std::size_t> work{0};
    const auto visit = [&](std::size_t at) {
        if (at >= insns.size() || is_reached[at]) return;
        is_reached[at] = true;
        work.push_back(at);
    };
    is_reached[0] = true;
    while (!work.empty()) {
        const std::size_t at = work.back();
        work.pop_back();
        const Insn& insn = insns[at];
        if (insn.target != kNone) visit(insn.target);
        if (insn.is_exit() || insn.is_go()) continue;
        if (at + 1 == insns.size())
            job.error(insn.at,
                      cat(is_program ? "program '" : "function '", unit.name,
                          "' does not end here: nothing follows this instruction"),
                      "end it with 'exit'");
        visit(at + 1);
    }
    return is_reached;
}

void keep_only(const std::vector<bool>& is_kept, Unit& unit) {
    std::vector<std::size_t> moved(unit.insns.size() + 1);
    for (std::size_t i = 0; i < unit.insns.size(); ++i)
        moved[i + 1] = moved[i] + (is_kept[i] ? 1 : 0);
    for (Insn& insn : unit.insns)
        if (insn.target != kNone) insn.target = moved[insn.target];
    std::size_t i = 0;
    std::erase_if(unit.insns, [&](const Insn&) { return !is_kept[i++]; });
}

}  // namespace

std::vector<Unit> resolve_units(LinkContext& job) {
    return UnitMaker(job).make();
}

void drop_unreachable(LinkContext& job, std::vector<Unit>& units) {
    std::vector<bool> is_called(units.size());
    std::vector<std::size_t> work{0};
    is_called[0] = true;
    while (!work.empty()) {
        const std::size_t at = work.back();
        work.pop_back();
        keep_only(reachable(job, units[at], at == 0), units[at]);
        for (const Insn& insn : units[at].insns) {
            if (insn.callee == kNone || is_called[insn.callee]) continue;
            is_called[insn.callee] = true;
            work.push_back(insn.callee);
        }
    }
    std::vector<std::size_t> moved(units.size() + 1);
    for (std::size_t i = 0; i < units.size(); ++i) moved[i + 1] = moved[i] + (is_called[i] ? 1 : 0);
    std::size_t i = 0;
    std::erase_if(units, [&](const Unit&) { return !is_called[i++]; });
    for (Unit& unit : units)
        for (Insn& insn : unit.insns)
            if (insn.callee != kNone) insn.callee = moved[insn.callee];
}

}  // namespace gpufs::linking
