// Macros: their uses are replaced by what they stand for, with names of their own.

#include <algorithm>

#include "base/cat.h"
#include "base/text.h"
#include "bt/parse/inlining.h"
#include "bt/parse/work.h"
#include "bt/syntax/tree.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

bool is_bare_map(const Expr& expr) {
    return expr.kind == Expr::Kind::map && expr.operands.empty();
}

// Whether an argument can stand for a parameter.
bool fits(const Macro::Parameter& parameter, const Expr& argument) {
    switch (parameter.kind) {
        case Macro::Parameter::Kind::variable:
            return argument.kind == Expr::Kind::variable;
        case Macro::Parameter::Kind::map:
            return is_bare_map(argument);
        case Macro::Parameter::Kind::expression:
            return true;
    }
    return false;
}

std::string use_of(const Macro& macro) {
    std::vector<std::string> parameters;
    for (const Macro::Parameter& p : macro.parameters) {
        using Kind = Macro::Parameter::Kind;
        const char* sigil = p.kind == Kind::variable ? "$" : p.kind == Kind::map ? "@" : "";
        parameters.push_back(sigil + p.name);
    }
    return cat(macro.name, "(", join(parameters, ", "), ")");
}

// Makes the body of a macro fit one of its uses.
class Substitution {
public:
    // `number` tells this use from others.
    Substitution(Work& work, const Macro& macro, const Expr& use, std::size_t number)
        : work_(work), macro_(macro), arguments_(use.operands), uses_{use.at}, number_(number) {
        uses_.insert(uses_.end(), use.expanded_from.begin(), use.expanded_from.end());
        visitor_.expr = [this](ExprPtr& expr) { apply(expr); };
        visitor_.statement = [this](Stmt& statement) { apply(statement); };
        visitor_.type = [this](TypeName& type) { apply(type); };
    }

    void apply(ExprPtr& expr);
    void apply(Block& block) {
        for (const StmtPtr& statement : block) apply(*statement);
    }

private:
    using Kind = Macro::Parameter::Kind;

    const Expr* find(Kind kind, const std::string& name) const {
        for (std::size_t i = 0; i < macro_.parameters.size(); ++i)
            if (macro_.parameters[i].kind == kind && macro_.parameters[i].name == name)
                return arguments_[i].get();
        return nullptr;
    }
    void apply(Stmt& statement);
    void apply(TypeName& type);
    void put_type(TypeName& type, const Expr& argument);
    std::string variable(const std::string& name) const {
        const Expr* argument = find(Kind::variable, name);
        return argument ? argument->text : cat(name, '#', number_);
    }
    void map(Expr& expr) const;

    Work& work_;
    const Macro& macro_;
    const std::vector<ExprPtr>& arguments_;
    std::vector<SourceRef> uses_;  // of this macro, and of those that use it
    std::size_t number_;
    TreeVisitor visitor_;
};

void Substitution::apply(ExprPtr& expr) {
    work_.spend(1, expr->at);
    visit_children(*expr, visitor_);
    switch (expr->kind) {
        case Expr::Kind::variable:
            expr->text = variable(expr->text);
            break;
        case Expr::Kind::map:
            map(*expr);
            break;
        case Expr::Kind::call:
            work_.spend(static_cast<std::uint32_t>(uses_.size()), expr->at);
            expr->expanded_from = uses_;
            break;
        case Expr::Kind::identifier:
            if (const Expr* argument = find(Kind::expression, expr->text);
                argument && !expr->has_call_parentheses) {
                work_.spend(argument->height, expr->at);
                expr = clone(*argument);
            }
            break;
        case Expr::Kind::size_of:
            // sizeof(T), where T is a parameter that stands for a type.
            if (!expr->operands.empty() && expr->operands[0]->kind == Expr::Kind::type) {
                expr->type_name = std::move(expr->operands[0]->type_name);
                expr->operands.clear();
            }
            break;
        case Expr::Kind::offset_of:
            if (!expr->operands.empty() && expr->operands[0]->kind == Expr::Kind::type) {
                expr->type_name = std::move(expr->operands[0]->type_name);
                expr->operands.clear();
            }
            for (std::string& field : expr->path)
                if (const Expr* argument = find(Kind::expression, field);
                    argument && argument->kind == Expr::Kind::identifier)
                    field = argument->text;
            break;
        case Expr::Kind::index:
            // T[4], the same.
            if (expr->operands[0]->kind == Expr::Kind::type &&
                expr->operands[1]->kind == Expr::Kind::integer) {
                const std::uint64_t length = expr->operands[1]->number;
                ExprPtr type = std::move(expr->operands[0]);
                type->type_name.dimensions.push_back(length);
                expr = std::move(type);
            }
            break;
        default:
            break;
    }
}

void Substitution::map(Expr& expr) const {
    if (const Expr* argument = find(Kind::map, expr.text)) {
        expr.text = argument->text;
        return;
    }
    throw Mistake{
        expr.at, cat("Unhygienic access to map: @", expr.text, " in the macro '", macro_.name, "'"),
        "maps are passed to macros as arguments"};
}

void Substitution::apply(Stmt& statement) {
    visit_children(statement, visitor_);
    using S = Stmt::Kind;
    if (statement.kind == S::declare || statement.kind == S::for_map ||
        statement.kind == S::for_range)
        statement.name = variable(statement.name);
}

void Substitution::apply(TypeName& type) {
    if (type.of) {
        apply(type.of);
        if (type.of->kind == Expr::Kind::type) {
            const ExprPtr argument = std::move(type.of);
            put_type(type, *argument);
        }
        return;
    }
    if (type.kind != TypeName::Kind::plain || type.name.empty()) return;
    if (const Expr* argument = find(Kind::expression, type.name)) put_type(type, *argument);
}

// The argument's type in the place of a parameter, with what is behind the parameter.
void Substitution::put_type(TypeName& type, const Expr& argument) {
    TypeName made;
    if (argument.kind == Expr::Kind::type) {
        made = clone(argument.type_name);
    } else if (argument.kind == Expr::Kind::identifier) {
        made.name = argument.text;
    } else {
        throw Mistake{argument.at, cat("the macro '", macro_.name, "' needs a type here"),
                      "typeof(TYPE)"};
    }
    made.pointers += type.pointers;
    made.dimensions.insert(made.dimensions.begin(), type.dimensions.begin(), type.dimensions.end());
    made.at = type.at;
    type = std::move(made);
}

class Expansion {
public:
    explicit Expansion(Work& work) : work_(work) {
        for (const Macro& macro : work.macros) macros_.emplace(macro.name, &macro);
        for (const Function& function : work.script.functions) {
            if (!functions_.emplace(function.name, &function).second)
                work.report(
                    {function.at, cat("there is a function '", function.name, "' already"), ""});
            if (is_function(function.name) || is_builtin(function.name))
                work.report(
                    {function.at, cat("'", function.name, "' is a word of the language"), ""});
        }
        visitor_.expr = [this](ExprPtr& expr) { expand(expr); };
        visitor_.statement = [this](Stmt& statement) { expand(statement); };
        visitor_.type = [this](TypeName& type) {
            if (type.of) expand(type.of);
        };
    }

    void expand(Probe& probe) {
        if (probe.predicate) begin(probe.predicate);
        expand(probe.body);
    }

private:
    // Reports a mistake: what comes next is expanded as if nothing had been.
    template <class Part>
    void begin(Part& part) {
        try {
            expand(part);
        } catch (const Mistake& mistake) {
            work_.report(mistake);
            active_.clear();
            called_.clear();
            depth_ = 0;
        }
    }
    void expand(Block& block) {
        for (const StmtPtr& statement : block) {
            if (work_.is_too_long() || work_.mistakes.is_full()) return;
            begin(*statement);
        }
    }
    void expand(Stmt& statement) { visit_children(statement, visitor_); }
    void expand(ExprPtr& expr);
    const Macro* choose(const Expr& use) const;
    void call(ExprPtr& expr);
    ExprPtr replacement(const Macro& macro, const Expr& use);

    Work& work_;
    TreeVisitor visitor_;
    std::multimap<std::string_view, const Macro*> macros_;
    std::map<std::string_view, const Function*> functions_;
    std::vector<const Macro*> active_;
    std::vector<const Function*> called_;
    std::size_t uses_ = 0;
    std::uint32_t depth_ = 0;
};

void Expansion::expand(ExprPtr& expr) {
    if (++depth_ > kMostHeight)
        throw Mistake{expr->at, "more than 600 levels are nested here with what macros stand for",
                      ""};
    visit_children(*expr, visitor_);
    if (expr->kind == Expr::Kind::call || expr->kind == Expr::Kind::identifier) {
        if (const Macro* macro = choose(*expr)) {
            if (std::ranges::find(active_, macro) != active_.end())
                throw Mistake{expr->at, cat("the macro '", macro->name, "' uses itself"),
                              "macros are put in the place of their uses, which would not end"};
            expr = replacement(*macro, *expr);
            active_.push_back(macro);
            expand(expr);
            active_.pop_back();
        }
    }
    if (expr->kind == Expr::Kind::call) call(expr);
    std::uint32_t height = height_of(expr->body);
    for (const ExprPtr& operand : expr->operands)
        if (operand) height = std::max(height, operand->height);
    expr->height = height + 1;
    --depth_;
}

void Expansion::call(ExprPtr& expr) {
    const auto found = functions_.find(expr->text);
    if (found == functions_.end()) return;
    const Function& function = *found->second;
    if (expr->operands.size() != function.parameters.size())
        throw Mistake{
            expr->at,
            cat(function.name, "() requires ", counted(function.parameters.size(), "argument"),
                " (", expr->operands.size(), " provided)"),
            ""};
    if (std::ranges::find(called_, &function) != called_.end())
        throw Mistake{expr->at, cat("the function '", function.name, "' calls itself"),
                      "a program of the kernel has no room for that"};
    expr = inlined(work_, function, *expr, ++uses_);
    called_.push_back(&function);
    visit_children(*expr, visitor_);
    called_.pop_back();
}

// The macro that a use means: of those that its arguments fit the one with most variables and maps.
// Null where the name is not a macro's, or the language has it for such arguments.
const Macro* Expansion::choose(const Expr& use) const {
    const Macro* best = nullptr;
    const Macro* near = nullptr;
    std::ptrdiff_t most = -1;
    const auto [first, last] = macros_.equal_range(use.text);
    for (auto it = first; it != last; ++it) {
        const Macro& macro = *it->second;
        near = &macro;
        if (!std::ranges::equal(macro.parameters, use.operands,
                                [](const auto& p, const ExprPtr& a) { return fits(p, *a); }))
            continue;
        const auto exact = std::ranges::count_if(macro.parameters, [](const auto& p) {
            return p.kind != Macro::Parameter::Kind::expression;
        });
        if (exact > most) {
            best = &macro;
            most = exact;
        }
    }
    const bool is_of_language = is_builtin(use.text) || is_function(use.text);
    const bool is_call = use.kind == Expr::Kind::call || use.has_call_parentheses;
    if (best != nullptr || near == nullptr || is_of_language || !is_call) return best;
    throw Mistake{use.at, cat("the macro '", use.text, "' takes other arguments"),
                  cat("it is ", use_of(*near))};
}

ExprPtr Expansion::replacement(const Macro& macro, const Expr& use) {
    Substitution substitution(work_, macro, use, ++uses_);
    auto made = std::make_unique<Expr>();
    if (macro.body.empty() && macro.value) {
        made = clone(*macro.value);
        substitution.apply(made);
    } else {
        made->kind = Expr::Kind::block;
        made->body = clone(macro.body);
        substitution.apply(made->body);
        made->operands.push_back(macro.value ? clone(*macro.value) : nullptr);
        if (macro.value) substitution.apply(made->operands[0]);
    }
    // A message names its own place, and then the uses.
    const bool is_message =
        made->kind == Expr::Kind::call && (made->text == "errorf" || made->text == "warnf");
    if (!is_message) made->at = use.at;
    return made;
}

}  // namespace

void expand_macros(Work& work) {
    Expansion expansion(work);
    for (Probe& probe : work.script.probes) expansion.expand(probe);
}

}  // namespace gpufs::bt
