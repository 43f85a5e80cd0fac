#include <set>

#include "base/cat.h"
#include "base/suggest.h"
#include "bt/infer/inference.h"

namespace gpufs::bt {
namespace {

// Without what tells one use of a macro or a function from others.
std::string as_written(const std::string& name) {
    return name.substr(0, name.find('#'));
}

class Scopes {
public:
    Scopes(Instance& instance, const InferenceInput& input) : instance_(instance), in_(input) {}

    void run() {
        walk();
        if (unknown_.empty()) return;
        // These are used outside of the block that assigns them first: they are the probe's. One
        // that is declared is its block's.
        for (const auto& [name, at] : unknown_)
            if (assigned_.contains(name)) shared_.insert(name);
        walk();
        const std::vector<std::string> names(made_.begin(), made_.end());
        for (const auto& [name, at] : unknown_)
            in_.complain(at, gpufs::cat("Undefined or undeclared variable: $", as_written(name)),
                         made_.contains(name) ? "it is declared in a block, and ends with it"
                                              : did_you_mean(name, names));
    }

private:
    void walk() {
        unknown_.clear();
        instance_.variables.clear();
        counters_.clear();
        scopes_.assign(1, {});
        for (const std::string& name : shared_)
            instance_.variables[make(name, instance_.probe->at)].starts_empty = true;
        if (instance_.probe->predicate) use(*instance_.probe->predicate);
        use(instance_.probe->body);
    }

    std::size_t make(const std::string& name, const SourceRef& at) {
        made_.insert(name);
        instance_.variables.push_back({name, nullptr, at, false});
        return scopes_.back()[name] = instance_.variables.size() - 1;
    }

    std::optional<std::size_t> find(const std::string& name) const {
        for (std::size_t i = scopes_.size(); i-- > 0;)
            if (const auto it = scopes_[i].find(name); it != scopes_[i].end()) return it->second;
        return std::nullopt;
    }

    // Of this block or one around it. What all of the probe shares, as it did in bpftrace 0.17, may
    // also be declared in a block.
    bool is_taken(const std::string& name) const { return find(name) && !shared_.contains(name); }

    void check_assignable(const Expr& target) const {
        const auto use = instance_.uses.find(&target);
        if (use != instance_.uses.end() && counters_.contains(use->second))
            in_.complain(target.at, gpufs::cat('$', as_written(target.text),
                                               " is the variable of a loop over a range, which "
                                               "cannot be assigned"));
    }

    void use(const Block& block) {
        scopes_.emplace_back();
        for (const StmtPtr& stmt : block) use(*stmt);
        scopes_.pop_back();
    }

    void use(const Expr& expr) {
        if (expr.kind == Expr::Kind::variable) {
            if (const auto found = find(expr.text))
                instance_.uses[&expr] = *found;
            else
                unknown_.emplace(expr.text, expr.at);
            return;
        }
        if (expr.kind == Expr::Kind::block) {
            scopes_.emplace_back();
            for (const StmtPtr& stmt : expr.body) use(*stmt);
            if (expr.operands[0]) use(*expr.operands[0]);
            scopes_.pop_back();
            return;
        }
        for (const ExprPtr& operand : expr.operands)
            if (operand) use(*operand);
        if (expr.kind == Expr::Kind::increment) check_assignable(*expr.operands[0]);
        if (expr.type_name.of) use(*expr.type_name.of);
    }

    void use(const Stmt& stmt) {
        if (stmt.value) use(*stmt.value);
        if (stmt.limit) use(*stmt.limit);
        switch (stmt.kind) {
            case Stmt::Kind::assign:
                if (!stmt.target) return;
                if (stmt.target->kind == Expr::Kind::variable && !stmt.operation &&
                    !find(stmt.target->text)) {
                    assigned_.insert(stmt.target->text);
                    make(stmt.target->text, stmt.target->at);
                }
                use(*stmt.target);
                return check_assignable(*stmt.target);
            case Stmt::Kind::declare:
                if (is_taken(stmt.name))
                    in_.complain(stmt.at,
                                 gpufs::cat("Variable $", as_written(stmt.name),
                                            " was already declared. Variable shadowing is not "
                                            "allowed"));
                instance_.declares[&stmt] = make(stmt.name, stmt.at);
                instance_.variables.back().starts_empty = !stmt.value;
                return;
            case Stmt::Kind::for_map:
            case Stmt::Kind::for_range:
                if (stmt.target) use(*stmt.target);
                if (is_taken(stmt.name))
                    in_.complain(stmt.name_at, gpufs::cat("Loop declaration shadows existing "
                                                          "variable: $",
                                                          as_written(stmt.name)));
                scopes_.emplace_back();
                instance_.declares[&stmt] = make(stmt.name, stmt.at);
                if (stmt.kind == Stmt::Kind::for_range) counters_.insert(instance_.declares[&stmt]);
                use(stmt.body);
                scopes_.pop_back();
                return;
            default:
                use(stmt.body);
                use(stmt.otherwise);
        }
    }

    Instance& instance_;
    const InferenceInput& in_;
    std::vector<std::unordered_map<std::string, std::size_t>> scopes_;
    std::set<std::string> made_, assigned_, shared_;
    std::unordered_map<std::string, SourceRef> unknown_;
    std::set<std::size_t> counters_;  // variables of loops over ranges
};

}  // namespace

void resolve_variables(Instance& instance, const InferenceInput& input) {
    Scopes(instance, input).run();
}

}  // namespace gpufs::bt
