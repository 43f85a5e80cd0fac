#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/suggest.h"
#include "lang/asm/work.h"
#include "lang/insn/insn.h"
#include "lang/link/unit.h"

// What is wrong with code on every machine. Guards leave out different lines on different ones:
// each combination of their conditions is looked at.
namespace gpufs {
namespace {

using linking::kNone;
using Condition = std::pair<Guard::Kind, std::string>;

constexpr std::size_t kMaxConditions = 8;

// A program or a function, and what it is called in messages.
struct Checked {
    std::string what;
    const std::string& name;
    SourceRef at;
    const std::vector<CodeItem>& code;
    bool is_complete;
};

// A field's load, address or length, as far as registers go: where it is, is not known.
bpf_insn stand_in(const CodeItem& item) {
    const Reg dst = static_cast<Reg>(item.insn.dst_reg), src = static_cast<Reg>(item.insn.src_reg);
    return item.kind == CodeItem::Kind::field_length ? insn::mov(dst, 0)
                                                     : insn::load(Width::dw, dst, src, 0);
}

class CodeChecker {
public:
    explicit CodeChecker(AsmWork& work) : work_(work) {
        for (const AsmUnit& unit : work.units) {
            const Program& program = work.program;
            if (unit.is_program) {
                const ProbeProgram& probe = program.programs[unit.index];
                units_.push_back({cat("program '", probe.name, "'"), probe.name, probe.at,
                                  probe.code, unit.is_complete});
            } else {
                const Subprogram& function = program.subprograms[unit.index];
                units_.push_back({cat("function '", function.name, "'"), function.name, function.at,
                                  function.code, unit.is_complete});
            }
        }
    }

    void check() {
        for (std::size_t i = 0; i < units_.size(); ++i)
            if (work_.units[i].is_program) check_together(with_callees(i));
        // What no program calls.
        for (std::size_t i = 0; i < units_.size(); ++i)
            if (!checked_.contains(i)) check_together({i});
    }

private:
    // A program and the functions it calls, or one function.
    using Together = std::vector<std::size_t>;

    std::optional<std::size_t> callee_of(const CodeItem& item) const {
        if (item.relocation.kind != Relocation::Kind::subprogram &&
            item.relocation.kind != Relocation::Kind::callback)
            return {};
        for (std::size_t i = 0; i < units_.size(); ++i)
            if (!work_.units[i].is_program && units_[i].name == item.relocation.name) return i;
        return {};
    }

    Together with_callees(std::size_t program) const {
        Together all{program};
        for (std::size_t next = 0; next < all.size(); ++next)
            for (const CodeItem& item : units_[all[next]].code)
                if (const auto callee = callee_of(item);
                    callee && !std::ranges::count(all, *callee))
                    all.push_back(*callee);
        return all;
    }

    void check_together(const Together& together) {
        std::set<Condition> conditions;
        bool is_complete = true;
        for (const std::size_t unit : together) {
            checked_.insert(unit);
            is_complete = is_complete && units_[unit].is_complete && !is_empty(units_[unit]);
            for (const CodeItem& item : units_[unit].code)
                for (const Guard* guard = guard_of(item.guard); guard;
                     guard = guard_of(guard->outer))
                    if (conditions.size() < kMaxConditions)
                        conditions.emplace(guard->kind, guard->name);
        }
        const std::vector<Condition> all(conditions.begin(), conditions.end());
        for (std::size_t bits = 0; bits < std::size_t{1} << all.size(); ++bits) {
            std::size_t events = 0;
            holding_.clear();
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!(bits >> i & 1)) continue;
                holding_.insert(all[i]);
                events += all[i].first == Guard::Kind::is_event;
            }
            if (events > 1) continue;  // a program is at one event at a time
            const std::size_t before = complaints_;
            std::vector<linking::Unit> made;
            for (const std::size_t unit : together) made.push_back(make_unit(together, unit));
            const bool is_whole =
                std::ranges::none_of(made, [](const auto& unit) { return unit.insns.empty(); });
            if (is_complete && is_whole && complaints_ == before &&
                work_.units[together[0]].is_program)
                check_memory(work_.program.programs[work_.units[together[0]].index], made);
        }
    }

    // Complains once: a mistake shows up under many conditions.
    void complain(const SourceRef& at, const std::string& message, const std::string& hint = {}) {
        ++complaints_;
        if (told_.emplace(at.source, at.span.begin, message).second)
            work_.errors.error(work_.sources[at.source], at.span, message, hint);
    }

    bool is_empty(const Checked& unit) {
        const bool is_empty = std::ranges::all_of(
            unit.code, [](const CodeItem& item) { return item.kind == CodeItem::Kind::label; });
        if (is_empty && unit.is_complete)
            complain(unit.at, cat(unit.what, " has no code"),
                     "instructions stand on the lines behind it");
        return is_empty;
    }

    const Guard* guard_of(std::size_t guard) const {
        return guard == 0 ? nullptr : &work_.program.guards[guard - 1];
    }

    bool holds(std::size_t index) const {
        for (const Guard* guard = guard_of(index); guard; guard = guard_of(guard->outer))
            if (holding_.contains({guard->kind, guard->name}) == guard->negated) return false;
        return true;
    }

    // The instructions that are there when the conditions hold, with the targets of jumps.
    linking::Unit make_unit(const Together& together, std::size_t index) {
        const Checked& unit = units_[index];
        linking::Unit made{unit.name, unit.at, {}, 0};
        std::vector<const CodeItem*> items;
        std::map<std::int64_t, std::size_t> insn_at_slot;
        std::vector<std::int64_t> slots;
        std::int64_t slot = 0;
        labels_.clear();
        for (const CodeItem& item : unit.code) {
            if (item.kind == CodeItem::Kind::label) {
                if (holds(item.guard) && !labels_.emplace(item.name, items.size()).second)
                    complain(item.at, cat("label '", item.name, "' is defined twice"));
                continue;
            }
            insn_at_slot.emplace(slot, items.size());
            if (holds(item.guard)) {
                items.push_back(&item);
                slots.push_back(slot);
            }
            slot += is_wide(item.insn) ? 2 : 1;
        }
        for (const CodeItem* item : items) {
            linking::Insn insn;
            insn.op = item->kind == CodeItem::Kind::insn ? item->insn : stand_in(*item);
            insn.at = item->at;
            if (const auto callee = callee_of(*item)) {
                const auto place = std::ranges::find(together, *callee) - together.begin();
                insn.callee = static_cast<std::size_t>(place);
            }
            made.insns.push_back(insn);
        }
        for (std::size_t i = 0; i < items.size(); ++i)
            made.insns[i].target = target_of(unit, *items[i], slots[i], insn_at_slot, items.size());
        if (unit.is_complete) find_open_end(unit, made);
        return made;
    }

    std::size_t target_of(const Checked& unit, const CodeItem& item, std::int64_t slot,
                          const std::map<std::int64_t, std::size_t>& insn_at_slot,
                          std::size_t end) {
        const Relocation& to = item.relocation;
        if (to.kind == Relocation::Kind::label) {
            const auto label = labels_.find(to.name);
            if (label != labels_.end() && label->second < end) return label->second;
            if (label == labels_.end())
                complain_of_label(unit, to);
            else if (unit.is_complete)
                complain(to.at, cat("no instruction follows label '", to.name, "'"),
                         "end the program with 'exit'");
            return kNone;
        }
        const auto distance = jump_distance(item.insn);
        if (item.kind != CodeItem::Kind::insn || !distance || BPF_OP(item.insn.code) == BPF_CALL)
            return kNone;
        const auto target = insn_at_slot.find(slot + 1 + *distance);
        if (target != insn_at_slot.end() && target->second < end) return target->second;
        if (unit.is_complete) complain(item.at, "this jump leads to no instruction of the program");
        return kNone;
    }

    void complain_of_label(const Checked& unit, const Relocation& to) {
        std::vector<std::string> known;
        for (const CodeItem& item : unit.code)
            if (item.kind == CodeItem::Kind::label) known.push_back(item.name);
        if (std::ranges::count(known, to.name))
            return complain(to.at, cat("label '", to.name, "' may be missing"),
                            "an .if leaves it out where this jump is not left out");
        complain(to.at, cat("no label is named '", to.name, "'"), did_you_mean(to.name, known));
    }

    // From the first instruction along every way.
    void find_open_end(const Checked& unit, const linking::Unit& made) {
        std::vector<bool> is_reached(made.insns.size());
        std::vector<std::size_t> work;
        const auto visit = [&](std::size_t at) {
            if (at >= is_reached.size() || is_reached[at]) return;
            is_reached[at] = true;
            work.push_back(at);
        };
        visit(0);
        while (!work.empty()) {
            const std::size_t at = work.back();
            work.pop_back();
            const linking::Insn& insn = made.insns[at];
            if (insn.target != kNone) visit(insn.target);
            if (insn.is_exit() || insn.is_go()) continue;
            if (at + 1 == made.insns.size())
                complain(insn.at,
                         cat(unit.what, " does not end here: nothing follows this instruction"),
                         "end it with 'exit'");
            visit(at + 1);
        }
    }

    void check_memory(const ProbeProgram& probe, std::vector<linking::Unit>& made) {
        const LinkTarget nowhere;
        linking::LinkContext job{work_.program, probe, nowhere};
        linking::check_memory(job, made);
        work_.errors.add(job.mistakes);
    }

    AsmWork& work_;
    std::vector<Checked> units_;
    std::set<std::size_t> checked_;
    std::set<Condition> holding_;
    std::set<std::tuple<std::size_t, std::size_t, std::string>> told_;
    std::size_t complaints_ = 0;                 // told again and again
    std::map<std::string, std::size_t> labels_;  // of the unit at hand: the instruction behind
};

}  // namespace

void check_code(AsmWork& work) {
    CodeChecker(work).check();
}

}  // namespace gpufs
