// getopt("NAME"[, DEFAULT[, "HELP"]]): constants by the script's arguments.

#include <algorithm>

#include "base/cat.h"
#include "base/suggest.h"
#include "bt/syntax/constant.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/tree.h"
#include "bt/syntax/work.h"

namespace gpufs::bt {
namespace {

constexpr std::string_view kForm = "getopt(\"name\", default, \"help\")";

// A number with its sign.
std::uint64_t signed_number(std::string_view text, SourceRef at) {
    const bool is_negative = text.starts_with('-');
    const std::uint64_t magnitude = number_value(text.substr(is_negative ? 1 : 0), at);
    return is_negative ? -magnitude : magnitude;
}

class Options {
public:
    explicit Options(Work& work) : work_(work) {}

    void resolve(ExprPtr& expr) {
        if (expr->kind != Expr::Kind::call || expr->text != "getopt") return;
        try {
            expr = constant(*expr);
        } catch (const Mistake& mistake) {
            work_.report(mistake);
        }
    }
    // What was given and is asked for nowhere.
    void check_unknown() {
        std::vector<std::string> known;
        for (const ScriptOption& option : work_.script.options) known.push_back(option.name);
        for (const auto& [name, value] : work_.options)
            if (std::ranges::find(known, name) == known.end()) {
                const std::string near = did_you_mean(name, known);
                throw UsageError(cat("the script has no option --", name), near);
            }
    }

private:
    ExprPtr constant(const Expr& call);

    Work& work_;
};

ExprPtr Options::constant(const Expr& call) {
    const auto& arguments = call.operands;
    if (arguments.empty() || arguments.size() > 3 || arguments[0]->kind != Expr::Kind::string ||
        (arguments.size() == 3 && arguments[2]->kind != Expr::Kind::string))
        throw Mistake{call.at, "getopt() takes the name of an option, and more if need be",
                      std::string(kForm)};
    const std::string& name = arguments[0]->text;
    auto value = std::make_unique<Expr>();
    value->at = call.at;
    value->kind = Expr::Kind::boolean;
    if (arguments.size() > 1) {
        const Expr& fallback = *arguments[1];
        value->kind = fallback.kind;
        value->text = fallback.text;
        if (value->kind != Expr::Kind::string) {
            const auto number = constant_value(
                fallback, [](const Expr&) -> std::optional<std::int64_t> { return std::nullopt; });
            if (!number)
                throw Mistake{fallback.at, "the default of an option is a constant",
                              std::string(kForm)};
            value->number = static_cast<std::uint64_t>(*number);
            if (value->kind != Expr::Kind::boolean) value->kind = Expr::Kind::integer;
        }
    }
    const auto known = std::ranges::find(work_.script.options, name, &ScriptOption::name);
    if (known == work_.script.options.end()) {
        std::string fallback = value->text;
        if (value->kind == Expr::Kind::boolean) fallback = value->number ? "true" : "false";
        if (value->kind == Expr::Kind::integer)
            fallback = cat(static_cast<std::int64_t>(value->number));
        work_.script.options.push_back(
            {name, fallback, arguments.size() == 3 ? arguments[2]->text : std::string()});
    }
    const auto given = work_.options.find(name);
    if (given == work_.options.end()) return value;
    if (value->kind == Expr::Kind::string) {
        value->text = given->second;
    } else if (value->kind == Expr::Kind::integer) {
        if (given->second.empty())
            throw Mistake{call.at, cat("the option --", name, " needs a number"),
                          cat("--", name, "=5")};
        value->text = given->second;
        value->number = signed_number(given->second, call.at);
    } else {
        const std::string& text = given->second;
        if (!text.empty() && text != "true" && text != "false" && text != "1" && text != "0")
            throw Mistake{call.at,
                          cat("the option --", name, " is true or false, not '", text, "'"), ""};
        value->number = text.empty() || text == "true" || text == "1";
    }
    return value;
}

}  // namespace

void resolve_options(Work& work) {
    Options options(work);
    const auto visit = [&](ExprPtr& expr) { options.resolve(expr); };
    for (Probe& probe : work.script.probes) {
        if (probe.predicate) for_each_expression(probe.predicate, visit);
        for_each_expression(probe.body, visit);
    }
    for (Function& function : work.script.functions) for_each_expression(function.body, visit);
    if (work.mistakes.empty()) options.check_unknown();
}

}  // namespace gpufs::bt
