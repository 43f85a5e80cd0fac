#include "bt/parse/inlining.h"

#include <algorithm>
#include <iterator>

#include "base/cat.h"
#include "bt/syntax/tree.h"

namespace gpufs::bt {
namespace {

class Inlining {
public:
    // `number` tells this call from others.
    Inlining(Work& work, std::size_t number) : work_(work), number_(number) {
        visitor_.expr = [this](ExprPtr& expr) { rename(*expr); };
        visitor_.statement = [this](Stmt& statement) { rename(statement); };
        visitor_.type = [this](TypeName& type) {
            if (type.of) rename(*type.of);
        };
    }

    ExprPtr made_of(const Function& function, Expr& call) {
        auto made = std::make_unique<Expr>();
        made->kind = Expr::Kind::block;
        made->is_function = true;
        made->at = call.at;
        Block body = clone(function.body);
        for (const StmtPtr& statement : body) rename(*statement);
        if (function.result) {
            result_ = variable(cat(function.name, "()"));  // a name that no script can write
            made->body.push_back(declared(result_, *function.result, empty_value(function), call));
            for (const StmtPtr& statement : body) put_result(*statement);
        }
        for (std::size_t i = 0; i < function.parameters.size(); ++i) {
            const auto& [name, type] = function.parameters[i];
            made->body.push_back(declared(variable(name), type, std::move(call.operands[i]), call));
        }
        std::ranges::move(body, std::back_inserter(made->body));
        made->operands.push_back(function.result ? use_of_result(call.at) : nullptr);
        return made;
    }

private:
    std::string variable(const std::string& name) const { return cat(name, '#', number_); }

    void rename(Expr& expr) {
        work_.spend(1, expr.at);
        visit_children(expr, visitor_);
        if (expr.kind == Expr::Kind::variable) expr.text = variable(expr.text);
    }
    void rename(Stmt& statement) {
        visit_children(statement, visitor_);
        using S = Stmt::Kind;
        if (statement.kind == S::declare || statement.kind == S::for_map ||
            statement.kind == S::for_range)
            statement.name = variable(statement.name);
    }

    // return VALUE: the value goes into the variable.
    void put_result(Stmt& statement) {
        for (const StmtPtr& inner : statement.body) put_result(*inner);
        for (const StmtPtr& inner : statement.otherwise) put_result(*inner);
        if (statement.kind != Stmt::Kind::return_ || !statement.value) return;
        auto assign = std::make_unique<Stmt>();
        assign->kind = Stmt::Kind::assign;
        assign->at = statement.at;
        assign->target = use_of_result(statement.at);
        assign->value = std::move(statement.value);
        auto leave = std::make_unique<Stmt>();
        leave->kind = Stmt::Kind::return_;
        leave->at = statement.at;
        statement.kind = Stmt::Kind::block;
        statement.body.push_back(std::move(assign));
        statement.body.push_back(std::move(leave));
    }

    ExprPtr use_of_result(const SourceRef& at) const {
        auto use = std::make_unique<Expr>();
        use->kind = Expr::Kind::variable;
        use->text = result_;
        use->at = at;
        return use;
    }

    // Where no return is come to: 0, of what a number can be assigned to.
    static ExprPtr empty_value(const Function& function) {
        const TypeName& type = *function.result;
        const bool is_number = type.kind == TypeName::Kind::plain && !type.of &&
                               type.dimensions.empty() && type.pointers == 0 &&
                               type.name != "string" && type.name != "buffer" &&
                               type.name != "bool";
        if (!is_number) return nullptr;
        auto zero = std::make_unique<Expr>();
        zero->at = function.at;
        return zero;
    }

    static StmtPtr declared(std::string name, const TypeName& type, ExprPtr value,
                            const Expr& call) {
        auto made = std::make_unique<Stmt>();
        made->kind = Stmt::Kind::declare;
        made->at = value ? value->at : call.at;
        made->name = std::move(name);
        made->type_name = clone(type);
        made->value = std::move(value);
        return made;
    }

    Work& work_;
    std::size_t number_;
    std::string result_;
    TreeVisitor visitor_;
};

}  // namespace

ExprPtr inlined(Work& work, const Function& function, Expr& call, std::size_t number) {
    return Inlining(work, number).made_of(function, call);
}

}  // namespace gpufs::bt
