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
                return use(*stmt.target);
            case Stmt::Kind::declare:
                if (scopes_.back().contains(stmt.name) && !shared_.contains(stmt.name))
                    in_.complain(stmt.at, gpufs::cat("Variable $", stmt.name,
                                                     " was already declared in this block"));
                instance_.declares[&stmt] = make(stmt.name, stmt.at);
                instance_.variables.back().starts_empty = !stmt.value;
                return;
            case Stmt::Kind::for_map:
            case Stmt::Kind::for_range:
                if (stmt.target) use(*stmt.target);
                scopes_.emplace_back();
                instance_.declares[&stmt] = make(stmt.name, stmt.at);
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
};

}  // namespace

void resolve_variables(Instance& instance, const InferenceInput& input) {
    Scopes(instance, input).run();
}

}  // namespace gpufs::bt
