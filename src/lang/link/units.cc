#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/suggest.h"
#include "lang/insn/insn.h"
#include "lang/link/unit.h"

// Code items to units: labels, calls, and what can be reached.
namespace gpufs::linking {
namespace {

// Puts branches into a unit where items with other guards begin and end. The branch of an .if leads
// to its .else, or behind it; a `go` in front of the .else leads behind that.
class GuardBranches {
public:
    GuardBranches(const GuardTree& guards, Unit& unit) : guards_(guards), unit_(unit) {}

    // Ends the .ifs that an item of this node is not in.
    void leave_for(std::size_t node) {
        if (is_in(node)) return;
        const std::vector<std::size_t> path = guards_.path_to(node);
        std::size_t common = 0;
        while (common < std::min(path.size(), open_.size()) && path[common] == open_[common].node)
            ++common;
        while (open_.size() > common + 1) close();
        if (open_.size() == common) return;
        if (common < path.size() && guards_.opposite(path[common]) == open_[common].node)
            begin_else(path[common]);
        else
            close();
    }

    // Begins those that it is in.
    void enter(std::size_t node, const SourceRef& at) {
        if (is_in(node)) return;
        const std::vector<std::size_t> path = guards_.path_to(node);
        for (std::size_t i = open_.size(); i < path.size(); ++i) {
            open_.push_back({path[i], unit_.insns.size()});
            add(path[i], at);
        }
    }

    // One that all machines come to which are not in the node: they go to another place.
    std::size_t add(std::size_t node, const SourceRef& at) {
        Insn branch;
        branch.op = insn::jump64(JumpOp::eq, Reg::r0, 0, 0);
        branch.node = node;
        branch.at = at;
        unit_.insns.push_back(branch);
        return unit_.insns.size() - 1;
    }

    const GuardTree& guards() const { return guards_; }

private:
    struct Open {
        std::size_t node;
        std::size_t branch;  // the one whose target is not known yet
    };

    bool is_in(std::size_t node) const { return node == (open_.empty() ? 0 : open_.back().node); }

    void close() {
        unit_.insns[open_.back().branch].target = unit_.insns.size();
        open_.pop_back();
    }

    void begin_else(std::size_t node) {
        Insn over;
        over.op = insn::go(0);
        over.node = node;
        over.at = unit_.insns.back().at;
        unit_.insns.push_back(over);
        unit_.insns[open_.back().branch].target = unit_.insns.size();
        open_.back() = {node, unit_.insns.size() - 1};
    }

    const GuardTree& guards_;
    Unit& unit_;
    std::vector<Open> open_;
};

// A field's load, address or length, as far as registers go: where it is, is not known.
bpf_insn stand_in(const CodeItem& item) {
    const Reg dst = static_cast<Reg>(item.insn.dst_reg), src = static_cast<Reg>(item.insn.src_reg);
    return item.kind == CodeItem::Kind::field_length ? insn::mov(dst, 0)
                                                     : insn::load(Width::dw, dst, src, 0);
}

// The items that jumps by number lead to, by slot.
std::set<std::int64_t> numbered_targets(const std::vector<CodeItem>& code) {
    std::set<std::int64_t> targets;
    std::int64_t slot = 0;
    for (const CodeItem& item : code) {
        if (item.kind == CodeItem::Kind::label) continue;
        const auto distance = jump_distance(item.insn);
        if (item.kind == CodeItem::Kind::insn && distance) targets.insert(slot + 1 + *distance);
        slot += is_wide(item.insn) ? 2 : 1;
    }
    return targets;
}

// By instruction, and for the end: is it the end, or a guard's branch from which some machine comes
// to the end without an instruction in between? Such branches lead forward only.
std::vector<bool> find_ways_out(const Unit& unit) {
    std::vector<bool> leads_out(unit.insns.size() + 1);
    leads_out[unit.insns.size()] = true;
    for (std::size_t i = unit.insns.size(); i-- > 0;) {
        const Insn& insn = unit.insns[i];
        if (insn.is_guard())
            leads_out[i] = leads_out[insn.target] || (!insn.is_go() && leads_out[i + 1]);
    }
    return leads_out;
}

// Which instructions the first one leads to. Notes where the code runs off its end.
std::vector<bool> reachable(LinkContext& job, const Unit& unit) {
    const auto& insns = unit.insns;
    const std::vector<bool> leads_out = find_ways_out(unit);
    std::vector<bool> is_reached(insns.size());
    std::vector<std::size_t> work;
    const auto visit = [&](std::size_t at) {
        if (at >= insns.size() || is_reached[at]) return;
        is_reached[at] = true;
        work.push_back(at);
    };
    visit(0);
    while (!work.empty()) {
        const std::size_t at = work.back();
        work.pop_back();
        const Insn& insn = insns[at];
        if (insn.target != kNone) visit(insn.target);
        if (insn.is_exit() || insn.is_go()) continue;
        if (leads_out[at + 1] && !insn.is_guard())
            job.error(insn.at,
                      cat(unit.title(), " does not end here: nothing follows this instruction"),
                      "end it with 'exit'");
        visit(at + 1);
    }
    return is_reached;
}

class UnitMaker {
public:
    // For one machine; with `guards`, for all at once.
    explicit UnitMaker(LinkContext& job, const GuardTree* guards = nullptr)
        : job_(job), items_(job), guards_(guards) {}

    std::vector<Unit> make() {
        add_unit({job_.probe.name, job_.probe.at}, job_.probe.code, true);
        // Functions are added behind while calls of them are found.
        for (std::size_t next = 0; next < wanted_.size(); ++next) {
            const Subprogram& function = *wanted_[next];
            add_unit({function.name, function.at, false, function.leaves_record_alone},
                     function.code, true);
        }
        return std::move(units_);
    }

    Unit make_one(const Subprogram& function) {
        add_unit({function.name, function.at, false, function.leaves_record_alone}, function.code,
                 true);
        return std::move(units_.back());
    }

    std::vector<Unit> make_all(const IncompleteCode& incomplete) {
        first_function_ = job_.program.programs.size();
        for (const Subprogram& function : job_.program.subprograms) wanted_.push_back(&function);
        for (const ProbeProgram& probe : job_.program.programs)
            add_unit({probe.name, probe.at}, probe.code, !incomplete.contains(probe.name));
        for (const Subprogram& function : job_.program.subprograms)
            add_unit({function.name, function.at, false, function.leaves_record_alone},
                     function.code, !incomplete.contains(function.name));
        return std::move(units_);
    }

private:
    struct Definition {
        std::size_t node;
        std::size_t insn = kNone;  // the one behind
    };
    struct Label {
        std::vector<Definition> definitions = {};  // in the order of the text
        std::set<std::size_t> nodes = {};          // where one of these holds, the label is there
        std::size_t placed = 0;                    // so many definitions have their place
        std::vector<std::size_t> branches = {};    // past the last of them, where its node is not
    };
    struct Reference {
        std::size_t insn;
        std::string label;  // empty: to `slot`
        std::int64_t slot;  // of the items as they were written
        std::size_t node;   // where the instruction is
        SourceRef at;
    };

    void add_unit(Unit unit, const std::vector<CodeItem>& code, bool is_complete) {
        const std::size_t mistakes = job_.mistakes.size();
        references_.clear();
        find_labels(code);
        find_targets(code, unit);
        if (guards_) settle_guards(*guards_, unit);
        if (is_complete) complain_of_ends(unit);
        if (guards_ && is_complete) reachable(job_, unit);
        if (guards_ && (!is_complete || job_.mistakes.size() > mistakes)) unit.insns.clear();
        units_.push_back(std::move(unit));
    }

    bool is_there(const CodeItem& item) {
        return guards_ ? guards_->is_possible(node_of(item)) : items_.holds(item.guard);
    }
    std::size_t node_of(const CodeItem& item) const {
        return guards_ ? guards_->node_of(item.guard) : 0;
    }

    void find_labels(const std::vector<CodeItem>& code) {
        labels_.clear();
        for (const CodeItem& item : code) {
            if (item.kind != CodeItem::Kind::label || !is_there(item)) continue;
            Label& label = labels_[item.name];
            const std::size_t node = node_of(item);
            const bool is_double = std::ranges::any_of(label.definitions, [&](const auto& other) {
                return !guards_ || guards_->can_meet(other.node, node);
            });
            if (is_double) job_.error(item.at, cat("label '", item.name, "' is defined twice"));
            label.definitions.push_back({node});
            // Both branches of an .if are as good as what is around it.
            for (std::size_t at = node; label.nodes.insert(at).second && at != 0;
                 at = guards_->outer(at)) {
                const auto other = guards_->opposite(at);
                if (!other || !label.nodes.contains(*other)) break;
            }
        }
    }

    // Is the label there on all machines where code of this node is?
    bool covers(const Label& label, std::size_t node) const {
        for (std::size_t at = node;; at = guards_->outer(at)) {
            if (label.nodes.contains(at)) return true;
            if (at == 0) break;
        }
        const Knowledge here = guards_->knowledge_in(node);
        return std::ranges::any_of(label.nodes, [&](std::size_t at) {
            for (; at != 0; at = guards_->outer(at))
                if (!here.implies(guards_->literal(at))) return false;
            return true;
        });
    }

    // Makes the instructions, with the targets of jumps.
    void find_targets(const std::vector<CodeItem>& code, Unit& unit) {
        const std::set<std::int64_t> numbered =
            guards_ ? numbered_targets(code) : std::set<std::int64_t>();
        std::optional<GuardBranches> branches;
        if (guards_) branches.emplace(*guards_, unit);
        std::vector<std::size_t> insn_at_slot;  // kNone within a wide one
        std::int64_t slot = 0;
        for (const CodeItem& item : code) {
            const bool is_label = item.kind == CodeItem::Kind::label;
            // A jump by number may come from where the guards here do not hold.
            if (branches) branches->leave_for(numbered.contains(slot) ? 0 : node_of(item));
            if (!is_label) {
                insn_at_slot.resize(static_cast<std::size_t>(slot) + 1, kNone);
                insn_at_slot.back() = unit.insns.size();
            }
            if (branches) branches->enter(node_of(item), item.at);
            if (!is_there(item)) {
            } else if (is_label) {
                place(labels_[item.name], item.at, unit, branches);
            } else {
                add_insns(item, slot, unit.insns);
            }
            if (!is_label) slot += is_wide(item.insn) ? 2 : 1;
        }
        if (branches) branches->leave_for(0);
        for (const Reference& reference : references_)
            unit.insns[reference.insn].target = find_target(reference, insn_at_slot);
    }

    // Jumps go to the first definition of a label, and from there to the one that the machine has.
    void place(Label& label, const SourceRef& at, Unit& unit,
               std::optional<GuardBranches>& branches) {
        Definition& definition = label.definitions[label.placed++];
        definition.insn = unit.insns.size();
        for (const std::size_t branch : label.branches) unit.insns[branch].target = definition.insn;
        label.branches.clear();
        if (!guards_ || label.placed == label.definitions.size()) return;
        for (const std::size_t node : guards_->path_to(definition.node))
            label.branches.push_back(branches->add(node, at));
    }

    void add_insns(const CodeItem& item, std::int64_t slot, std::vector<Insn>& insns) {
        const std::size_t first = insns.size();
        try {
            if (guards_) {
                Insn insn;
                insn.op = item.kind == CodeItem::Kind::insn ? item.insn : stand_in(item);
                insn.at = item.at;
                insns.push_back(insn);
            } else {
                items_.resolve(item, insns);
            }
            refer(item, first, slot, insns);
        } catch (const Unresolved&) {
            insns.resize(first);
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
            job_.fail(item.at, "a function of the program is called by its name",
                      "declare it with .func");
        const auto distance = jump_distance(insn.op);
        if (relocation.kind == Kind::label)
            references_.push_back({at, relocation.name, 0, node_of(item), relocation.at});
        else if (!item.name.empty())
            references_.push_back({at, item.name, 0, node_of(item), item.at});
        else if (distance)
            references_.push_back({at, "", slot + 1 + *distance, node_of(item), item.at});
    }

    std::size_t unit_index(const Relocation& relocation) {
        const Subprogram* function = job_.program.find_subprogram(relocation.name);
        if (!function) {
            std::vector<std::string> names;
            for (const Subprogram& known : job_.program.subprograms) names.push_back(known.name);
            job_.fail(relocation.at, cat("no function is named '", relocation.name, "'"),
                      did_you_mean(relocation.name, names));
        }
        auto known = std::ranges::find(wanted_, function);
        if (known == wanted_.end()) known = wanted_.insert(known, function);
        return static_cast<std::size_t>(known - wanted_.begin()) + first_function_;
    }

    std::size_t find_target(const Reference& reference,
                            const std::vector<std::size_t>& insn_at_slot) {
        if (reference.label.empty()) {
            const auto slot = static_cast<std::size_t>(reference.slot);
            return slot < insn_at_slot.size() ? insn_at_slot[slot] : kNone;
        }
        const auto it = labels_.find(reference.label);
        if (it == labels_.end()) {
            std::vector<std::string> names;
            for (const auto& [name, label] : labels_) names.push_back(name);
            job_.error(reference.at, cat("no label is named '", reference.label, "'"),
                       did_you_mean(reference.label, names));
            return kNone;
        }
        if (guards_ && !covers(it->second, reference.node))
            job_.error(reference.at, cat("label '", reference.label, "' may be missing"),
                       "an .if leaves it out where this jump is not left out");
        return it->second.definitions.front().insn;
    }

    void complain_of_ends(const Unit& unit) {
        const std::vector<bool> leads_out = find_ways_out(unit);
        if (unit.insns.empty())
            job_.error(unit.at, cat(unit.title(), " has no instructions"),
                       "they stand on the lines behind it");
        else if (leads_out[0])
            job_.error(unit.at, cat(unit.title(), " may have no instructions"),
                       "an .if leaves all of them out on some machines");
        for (const Reference& reference : references_) {
            const std::size_t target = unit.insns[reference.insn].target;
            const bool is_label = !reference.label.empty();
            if (target == kNone ? is_label : !leads_out[target]) continue;
            if (is_label)
                job_.error(reference.at,
                           cat("no instruction follows label '", reference.label, "'"),
                           "end the program with 'exit'");
            else
                job_.error(reference.at, "this jump leads to no instruction of the program");
        }
    }

    LinkContext& job_;
    ItemResolver items_;
    const GuardTree* guards_;
    std::vector<Unit> units_;
    std::vector<const Subprogram*> wanted_;
    std::size_t first_function_ = 1;       // the unit of wanted_[0]
    std::map<std::string, Label> labels_;  // of the unit at hand
    std::vector<Reference> references_;
};

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

std::string Unit::title() const {
    return cat(is_program ? "program '" : "function '", name, '\'');
}

std::vector<Unit> resolve_units(LinkContext& job) {
    return UnitMaker(job).make();
}

Unit resolve_function(LinkContext& job, const Subprogram& function) {
    return UnitMaker(job).make_one(function);
}

std::vector<Unit> all_units(LinkContext& job, const IncompleteCode& incomplete) {
    const GuardTree guards(job.program.guards);
    return UnitMaker(job, &guards).make_all(incomplete);
}

void settle_guards(const GuardTree& guards, Unit& unit) {
    if (std::ranges::none_of(unit.insns, &Insn::is_guard)) return;
    const std::size_t end = unit.insns.size();
    // What is known where ways part and meet; in between it is carried along.
    std::vector<bool> is_kept(end + 1);
    for (std::size_t i = 0; i < end; ++i) {
        if (unit.insns[i].target != kNone) is_kept[unit.insns[i].target] = true;
        if (unit.insns[i].is_guard()) is_kept[i] = true;
    }
    std::vector<std::optional<Knowledge>> known(end + 1);
    std::vector<std::size_t> work;
    const auto visit = [&](std::size_t at, const Knowledge& knowledge) {
        if (at == kNone) return;
        if (!known[at])
            known[at] = knowledge;
        else if (!known[at]->keep_common(knowledge))
            return;
        work.push_back(at);
    };
    visit(0, {});
    while (!work.empty()) {
        std::size_t at = work.back();
        work.pop_back();
        Knowledge here = *known[at];
        for (bool goes_on = true; goes_on && at < end; ++at) {
            const Insn& insn = unit.insns[at];
            if (insn.is_guard() && !insn.is_go()) {
                const Literal& literal = guards.literal(insn.node);
                Knowledge there = here;
                there.add(literal.opposite());
                if (!here.implies(literal)) visit(insn.target, there);
                goes_on = !here.excludes(literal);
                here.add(literal);
            } else {
                visit(insn.target, here);
                goes_on = !insn.is_exit() && !insn.is_go();
            }
            if (goes_on && is_kept[at + 1]) {
                visit(at + 1, here);
                goes_on = false;
            }
        }
    }
    for (std::size_t i = 0; i < end; ++i) {
        Insn& insn = unit.insns[i];
        if (!insn.is_guard() || insn.is_go() || !known[i]) continue;
        const Literal& literal = guards.literal(insn.node);
        if (known[i]->implies(literal)) insn.target = i + 1;
        if (known[i]->excludes(literal)) insn.op = insn::go(0);
    }
}

void drop_unreachable(LinkContext& job, std::vector<Unit>& units) {
    std::vector<bool> is_called(units.size());
    std::vector<std::size_t> work{0};
    is_called[0] = true;
    while (!work.empty()) {
        const std::size_t at = work.back();
        work.pop_back();
        keep_only(reachable(job, units[at]), units[at]);
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
