#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "gpufs/base/suggest.h"
#include "gpufs/lang/bpf_isa.h"
#include "lang/asm_work.h"

// What is wrong with code on every machine. Guards leave out different lines on different ones:
// each combination of their conditions is looked at.
namespace gpufs {
namespace {

constexpr std::size_t kMaxConditions = 8;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

using Condition = std::pair<Guard::Kind, std::string>;

bool is_exit(const bpf_insn& op) {
    return op.code == (BPF_JMP | BPF_EXIT);
}
bool is_go(const bpf_insn& op) {
    return op.code == (BPF_JMP | BPF_JA) || op.code == (BPF_JMP32 | BPF_JA);
}

class CodeChecker {
public:
    CodeChecker(AsmWork& work, const CheckedUnit& unit, const std::vector<CodeItem>& code)
        : work_(work), unit_(unit), code_(code) {}

    void check() {
        std::set<Condition> conditions;
        for (const CodeItem& item : code_)
            for (const Guard* guard = guard_of(item.guard); guard; guard = guard_of(guard->outer))
                if (conditions.size() < kMaxConditions)
                    conditions.emplace(guard->kind, guard->name);
        const std::vector<Condition> all(conditions.begin(), conditions.end());
        for (std::size_t bits = 0; bits < std::size_t{1} << all.size(); ++bits) {
            std::size_t events = 0;
            holding_.clear();
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!(bits >> i & 1)) continue;
                holding_.insert(all[i]);
                events += all[i].first == Guard::Kind::is_event;
            }
            if (events <= 1) check_variant();  // a program is at one event at a time
        }
    }

private:
    const Guard* guard_of(std::size_t guard) const {
        return guard == 0 ? nullptr : &work_.program.guards[guard - 1];
    }

    bool holds(std::size_t index) const {
        for (const Guard* guard = guard_of(index); guard; guard = guard_of(guard->outer))
            if (holding_.contains({guard->kind, guard->name}) == guard->negated) return false;
        return true;
    }

    void complain(const SourceRef& at, const std::string& message, std::string hint = {}) {
        if (!told_.emplace(at.source, at.span.begin, message).second) return;
        work_.errors.error(work_.sources[at.source], at.span, message, std::move(hint));
    }

    void check_variant() {
        insns_.clear();
        labels_.clear();
        std::map<std::int64_t, std::size_t> insn_at_slot;
        std::int64_t slot = 0;
        std::vector<std::int64_t> slots;
        for (const CodeItem& item : code_) {
            const bool is_label = item.kind == CodeItem::Kind::label;
            if (is_label) {
                if (holds(item.guard) && !labels_.emplace(item.name, insns_.size()).second)
                    complain(item.at, cat("label '", item.name, "' is defined twice"));
                continue;
            }
            insn_at_slot.emplace(slot, insns_.size());
            if (holds(item.guard)) {
                insns_.push_back(&item);
                slots.push_back(slot);
            }
            slot += is_wide(item.insn) ? 2 : 1;
        }
        std::vector<std::size_t> targets;
        for (std::size_t i = 0; i < insns_.size(); ++i)
            targets.push_back(target_of(*insns_[i], slots[i], insn_at_slot));
        if (!insns_.empty() && unit_.is_complete) follow(targets);
    }

    std::size_t target_of(const CodeItem& item, std::int64_t slot,
                          const std::map<std::int64_t, std::size_t>& insn_at_slot) {
        const Relocation& to = item.relocation;
        if (to.kind == Relocation::Kind::label) {
            const auto label = labels_.find(to.name);
            if (label == labels_.end()) {
                complain_of_label(to);
            } else if (label->second == insns_.size()) {
                if (unit_.is_complete)
                    complain(to.at, cat("no instruction follows label '", to.name, "'"),
                             "end the program with 'exit'");
            } else {
                return label->second;
            }
            return kNone;
        }
        const auto distance = jump_distance(item.insn);
        if (item.kind != CodeItem::Kind::insn || !distance || BPF_OP(item.insn.code) == BPF_CALL)
            return kNone;
        const auto target = insn_at_slot.find(slot + 1 + *distance);
        if (target == insn_at_slot.end() || target->second == insns_.size()) {
            if (unit_.is_complete)
                complain(item.at, "this jump leads to no instruction of the program");
            return kNone;
        }
        return target->second;
    }

    void complain_of_label(const Relocation& to) {
        std::vector<std::string> known;
        bool is_elsewhere = false;
        for (const CodeItem& item : code_) {
            if (item.kind != CodeItem::Kind::label) continue;
            known.push_back(item.name);
            is_elsewhere = is_elsewhere || item.name == to.name;
        }
        if (is_elsewhere)
            return complain(to.at, cat("label '", to.name, "' may be missing"),
                            "an .if leaves it out where this jump is not left out");
        complain(to.at, cat("no label is named '", to.name, "'"), did_you_mean(to.name, known));
    }

    // From the first instruction along every way.
    void follow(const std::vector<std::size_t>& targets) {
        std::vector<bool> is_reached(insns_.size());
        std::vector<std::size_t> work;
        const auto visit = [&](std::size_t at) {
            if (is_reached[at]) return;
            is_reached[at] = true;
            work.push_back(at);
        };
        visit(0);
        while (!work.empty()) {
            const std::size_t at = work.back();
            work.pop_back();
            const CodeItem& item = *insns_[at];
            if (targets[at] != kNone) visit(targets[at]);
            const bool is_plain = item.kind == CodeItem::Kind::insn;
            if (is_plain && (is_exit(item.insn) || is_go(item.insn))) continue;
            if (at + 1 == insns_.size())
                complain(item.at,
                         cat(unit_.what, " does not end here: nothing follows this instruction"),
                         "end it with 'exit'");
            else
                visit(at + 1);
        }
    }

    AsmWork& work_;
    const CheckedUnit& unit_;
    const std::vector<CodeItem>& code_;
    std::set<Condition> holding_;
    std::set<std::tuple<std::size_t, std::size_t, std::string>> told_;
    std::vector<const CodeItem*> insns_;         // of the variant at hand
    std::map<std::string, std::size_t> labels_;  // the instruction behind each
};

}  // namespace

void check_code(AsmWork& work, const CheckedUnit& unit, const std::vector<CodeItem>& code) {
    const bool is_empty = std::ranges::all_of(
        code, [](const CodeItem& item) { return item.kind == CodeItem::Kind::label; });
    if (is_empty && unit.is_complete)
        return work.errors.error(work.sources[unit.at.source], unit.at.span,
                                 cat(unit.what, " has no code"),
                                 "instructions stand on the lines behind it");
    CodeChecker(work, unit, code).check();
}

}  // namespace gpufs
