#include "lang/link/link.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lang/insn/insn.h"
#include "lang/link/unit.h"

namespace gpufs {
namespace linking {
namespace {

// Assigns offsets. A jump that does not reach its target gets a longer form, which moves the code
// after it.
class Layout {
public:
    Layout(LinkContext& job, const std::vector<Unit>& units) : job_(job), units_(units) {
        for (const Unit& unit : units) {
            is_long_.emplace_back(unit.insns.size());
            begins_.emplace_back(unit.insns.size());
        }
    }

    Linked make() {
        do measure();
        while (lengthen());
        job_.mistakes.throw_if_any();
        for (std::size_t unit = 0; unit < units_.size(); ++unit) {
            linked_.functions.push_back(
                {units_[unit].name, linked_.insns.size(), units_[unit].stack_bytes});
            for (std::size_t i = 0; i < units_[unit].insns.size(); ++i) write(unit, i);
        }
        return std::move(linked_);
    }

private:
    void measure() {
        std::size_t slot = 0;
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            for (std::size_t i = 0; i < units_[unit].insns.size(); ++i) {
                const Insn& insn = units_[unit].insns[i];
                begins_[unit][i] = slot;
                slot += insn.slots() + (is_long_[unit][i] && !insn.is_go() ? 2 : 0);
            }
    }

    // The distance from the end of the jump, which is the last instruction of a long form.
    std::int64_t distance(std::size_t unit, std::size_t i, std::size_t extra) const {
        const auto from = static_cast<std::int64_t>(begins_[unit][i] + 1 + extra);
        return static_cast<std::int64_t>(begins_[unit][units_[unit].insns[i].target]) - from;
    }

    static bool reaches(std::int64_t distance) {
        return distance == static_cast<std::int16_t>(distance);
    }

    bool lengthen() {
        bool changes = false;
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            for (std::size_t i = 0; i < units_[unit].insns.size(); ++i) {
                const Insn& insn = units_[unit].insns[i];
                if (insn.target == kNone || is_long_[unit][i]) continue;
                const std::int64_t far = distance(unit, i, 0);
                if (reaches(far)) continue;
                is_long_[unit][i] = changes = true;
                if (!job_.has_v4())
                    job_.error(insn.at,
                               cat("this jump is ", far < 0 ? -far : far,
                                   " instructions long; on this kernel they reach ",
                                   std::numeric_limits<std::int16_t>::max()),
                               "Linux 6.6 has longer ones");
            }
        return changes;
    }

    void put(const bpf_insn& op, const SourceRef& at) {
        linked_.insns.push_back(op);
        linked_.lines.push_back(at);
    }

    void write(std::size_t unit, std::size_t i) {
        const Insn& insn = units_[unit].insns[i];
        bpf_insn op = insn.op;
        if (insn.callee != kNone) {
            const auto from = static_cast<std::int64_t>(begins_[unit][i]) + 1;
            op.imm = static_cast<__s32>(static_cast<std::int64_t>(begins_[insn.callee][0]) - from);
            put(op, insn.at);
            if (is_wide(op)) put({}, insn.at);
        } else if (insn.target != kNone) {
            write_jump(unit, i, op);
        } else if (is_wide(op)) {
            const auto both = insn::load_imm64(Reg::r0, insn.wide);
            op.imm = both[0].imm;
            put(op, insn.at);
            put(both[1], insn.at);
        } else {
            put(op, insn.at);
        }
    }

    void write_jump(std::size_t unit, std::size_t i, bpf_insn op) {
        const Insn& insn = units_[unit].insns[i];
        if (!is_long_[unit][i]) {
            const auto off = static_cast<__s16>(distance(unit, i, 0));
            if (insn.is_go()) op = insn::go(off);
            op.off = off;
            return put(op, insn.at);
        }
        if (!insn.is_go()) {
            op.off = 1;
            put(op, insn.at);
            put(insn::go(1), insn.at);
        }
        const std::size_t extra = insn.is_go() ? 0 : 2;
        put(insn::go_long(static_cast<__s32>(distance(unit, i, extra))), insn.at);
    }

    LinkContext& job_;
    const std::vector<Unit>& units_;
    std::vector<std::vector<bool>> is_long_;
    std::vector<std::vector<std::size_t>> begins_;  // by instruction: its slot
    Linked linked_;
};

// Fields that are in no record.
bool has_taken_fields(const LinkTarget& target) {
    return target.static_arguments || target.variables;
}

// All steps before the layout. Returns whether the program reads what r1 points at.
bool check_and_resolve(LinkContext& job, std::vector<Unit>& units) {
    units = resolve_units(job);
    job.mistakes.throw_if_any();
    drop_unreachable(job, units);
    job.mistakes.throw_if_any();
    bool reads_context = check_memory(job, units);
    job.mistakes.throw_if_any();
    if (has_taken_fields(job.target) && take_fields(job, units))
        reads_context = check_memory(job, units);
    job.mistakes.throw_if_any();
    if (job.target.pid_namespace && use_own_pids(job, units)) check_memory(job, units);
    job.mistakes.throw_if_any();
    return reads_context;
}

void add_text(StringPool& pool, const std::string& text) {
    constexpr std::size_t kUnit = 16;
    if (!pool.offsets.emplace(text, pool.bytes.size()).second) return;
    pool.bytes += text;
    pool.bytes.append(kUnit - text.size() % kUnit, '\0');
}

}  // namespace

Linked lay_out(LinkContext& job, const std::vector<Unit>& units) {
    return Layout(job, units).make();
}

}  // namespace linking

StringPool make_string_pool(const Program& program, const ParameterValues& values) {
    StringPool pool;
    const auto add = [&](const std::vector<CodeItem>& code) {
        for (const CodeItem& item : code) {
            const Relocation& relocation = item.relocation;
            if (relocation.kind == Relocation::Kind::constant)
                linking::add_text(pool, relocation.name);
            if (relocation.kind != Relocation::Kind::parameter) continue;
            const Parameter* parameter = program.find_parameter(relocation.name);
            if (!parameter || parameter->type != Parameter::Type::text) continue;
            linking::add_text(pool, values.text_of(*parameter));
        }
    };
    for (const ProbeProgram& probe : program.programs) add(probe.code);
    for (const Subprogram& function : program.subprograms) add(function.code);
    return pool;
}

Linked link(const Program& program, const ProbeProgram& probe, const LinkTarget& target) {
    linking::LinkContext job{program, probe, target};
    std::vector<linking::Unit> units;
    const bool reads_context = linking::check_and_resolve(job, units);
    Linked linked = linking::lay_out(job, units);
    linked.reads_context = reads_context;
    return linked;
}

}  // namespace gpufs
