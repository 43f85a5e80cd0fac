// getopt("NAME"[, DEFAULT[, "HELP"]]): constants by the script's arguments.

#include <algorithm>
#include <cctype>

#include "base/cat.h"
#include "bt/parse/work.h"
#include "bt/syntax/constant.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/tree.h"

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
    // What was given and is asked for nowhere, or has a value that it cannot have.
    void check_given() {
        if (!refused_.empty()) throw UsageError(refused_);
        std::string unknown;
        for (const auto& [name, value] : work_.options)
            if (std::ranges::find(work_.script.options, name, &ScriptOption::name) ==
                work_.script.options.end())
                unknown += cat(unknown.empty() ? "--" : ", --", name);
        if (!unknown.empty())
            throw UsageError(cat("unexpected program command line options: ", unknown), expected());
    }

private:
    ExprPtr constant(const Expr& call);
    void put_given(Expr& value, const std::string& name, const std::string& text);
    // One a line, with what the script says of it; a single one that has no words on the same line.
    std::string expected() const {
        const std::vector<ScriptOption>& options = work_.script.options;
        if (options.empty()) return "the script expects no options";
        std::string text = "expected program options:";
        if (options.size() == 1 && options[0].help.empty())
            return cat(text, " --", options[0].name);
        for (const ScriptOption& option : options)
            text += cat("\n  --", option.name, option.help.empty() ? "" : ": ", option.help);
        return text;
    }

    Work& work_;
    std::string refused_;
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
            value->is_negative = *number < 0;
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
    put_given(*value, name, given->second);
    return value;
}

void Options::put_given(Expr& value, const std::string& name, const std::string& text) {
    const auto refuse = [&](const char* kind) {
        if (refused_.empty())
            refused_ = cat("program command line option --", name, " invalid ", kind,
                           " (value: ", text, ')');
    };
    if (value.kind == Expr::Kind::string) {
        value.text = text;
    } else if (value.kind == Expr::Kind::integer) {
        try {
            value.number = signed_number(text.empty() ? "none" : text, value.at);
            value.is_negative = text.starts_with('-');
            value.text = text;
        } catch (const Mistake&) {
            refuse("integer");
        }
    } else {
        std::string word = text;
        std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
        if (!word.empty() && word != "true" && word != "false" && word != "1" && word != "0")
            return refuse("boolean");
        value.number = word.empty() || word == "true" || word == "1";
    }
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
    if (work.mistakes.empty()) options.check_given();
}

}  // namespace gpufs::bt
