#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/kernel_abi.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/syntax/words.h"
#include "bt/types/constants.h"
#include "bt/types/format.h"
#include "lang/program/registers.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

}  // namespace

TypePtr Inference::type_of_call(const Expr& expr) {
    const FunctionRow* row = find_function(expr.text);
    if (!row && (expr.text == "pid" || expr.text == "tid") && expr.operands.size() == 1)
        return type_of_task_id(expr);
    if (!row) {
        bool is_known = expr.operands.empty();
        if (is_known)
            if (TypePtr type = type_of_builtin(expr, is_known); is_known) return type;
        const std::string_view reason = why_absent(expr.text);
        complain(expr.at, gpufs::cat("Unknown function: ", expr.text),
                 reason.empty() ? did_you_mean(expr.text, function_names()) : std::string(reason));
        return nullptr;
    }
    if (row->is_unsafe && !in_.options.is_unsafe)
        complain(expr.at, gpufs::cat(row->name, "() is an unsafe function being used in safe mode"),
                 "--unsafe allows it");
    const std::size_t given = expr.operands.size();
    if (given < row->least || given > row->most) {
        complain(expr.at,
                 row->least == row->most
                     ? gpufs::cat(row->name, "() requires ", gpufs::counted(row->least, "argument"),
                                  " (", given, " provided)")
                     : gpufs::cat(row->name, "() takes ", row->least, " to ", row->most,
                                  " arguments (", given, " provided)"));
        return nullptr;
    }
    if (row->is_aggregation && &expr != aggregation_) {
        complain(expr.at, gpufs::cat(row->name, "() should be directly assigned to a map"));
        return nullptr;
    }
    check_arguments(expr, *row);
    return type_of_function(expr, *row);
}

// As FunctionRow::arguments says.
void Inference::check_arguments(const Expr& expr, const FunctionRow& row) {
    const std::size_t known = std::min(expr.operands.size(), row.arguments.size());
    for (std::size_t i = 0; i < known; ++i) {
        const Expr& argument = *expr.operands[i];
        if (row.arguments[i] == '.') continue;
        TypePtr type = type_of(argument);
        if (row.arguments[i] == 's' && type && type->is(Kind::probe_name) &&
            known_probe_text(argument, *instance_)) {
            names_as_texts_.insert(&argument);
            type = type_of(argument);
        }
        if (row.arguments[i] == 'n')
            number_argument(expr, i);
        else if (row.arguments[i] == 'q' && !literal_of(argument))
            complain(argument.at, gpufs::cat(row.name, "() wants a text in quotes here"));
        else if (row.arguments[i] == 's' && type && !type->is(Kind::string))
            complain(argument.at, gpufs::cat(row.name, "() wants a string here (", name_of(*type),
                                             " provided)"));
    }
}

TypePtr Inference::number_argument(const Expr& call, std::size_t which) {
    TypePtr type = type_of(*call.operands[which]);
    if (type && !type->is_number() && !type->is(Kind::pointer))
        complain(call.operands[which]->at,
                 gpufs::cat(call.text, "() only supports numbers (", name_of(*type), " provided)"));
    return type;
}

bool Inference::requires_keys(const Expr& call, const TypedMap& map) {
    if (map.is_keyed || !map.value) return true;
    complain(call.operands[0]->at, gpufs::cat("call to ", call.text,
                                              "() expects a map with explicit keys (non-scalar "
                                              "map)"));
    return false;
}

// What has a slot for each part of its value is no element that a program finds.
bool Inference::has_elements(const Expr& call, const Expr& map) {
    const TypePtr value = map_of(map).value;
    if (!value || !value->has_slots()) return true;
    complain(map.at,
             gpufs::cat(call.text, "() expects a map of single values; @", map.text, " is ",
                        name_of(*value)),
             call.text == "delete" ? gpufs::cat("clear(@", map.text, ") empties it") : "");
    return false;
}

// delete() and has_key()
TypePtr Inference::type_of_element_call(const Expr& expr, const FunctionRow&) {
    check_map_argument(expr);
    return boolean_type();
}

TypePtr Inference::type_of_len(const Expr& expr, const FunctionRow&) {
    const Expr& of = *expr.operands[0];
    if (of.kind == Expr::Kind::map && of.operands.empty()) {
        const TypedMap& map = map_of(of);
        if (map.is_keyed || !map.value || !map.value->is_stack()) {
            requires_keys(expr, map);
            return integer_type(kWord, true);
        }
    }
    const TypePtr type = type_of(of);
    if (type && !type->is_stack())
        complain(expr.at, "call to len() expects a map, ustack, or kstack");
    return integer_type(kWord, true);
}

// A map by its name, and where there are more arguments, its key. delete(@m[k]) has one argument,
// delete(@m, k) two.
void Inference::check_map_argument(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind != Expr::Kind::map)
        return complain(of.at, gpufs::cat(expr.text, "() expects a map to be provided"));
    TypedMap& map = map_of(of);
    if (expr.text == "has_key" && !requires_keys(expr, map)) return;
    if (!has_elements(expr, of)) return;
    if (map.has_key_behind(expr)) return add_key(map, expr.operands[1]->at, expr.operands, 1);
    for (const ExprPtr& one : expr.operands) {
        if (one->kind != Expr::Kind::map)
            return complain(one->at, gpufs::cat(expr.text, "() expects a map to be provided"));
        if (!has_elements(expr, *one)) return;
        add_key(map_of(*one), *one);
    }
}

// What the reader does when it comes to the record.
TypePtr Inference::type_of_output(const Expr& expr, const FunctionRow& row) {
    check_output(expr, row);
    return none_type();
}

void Inference::check_output(const Expr& expr, const FunctionRow& row) {
    const auto whole_map = [&] {
        const Expr& of = *expr.operands[0];
        if (of.kind == Expr::Kind::map && of.operands.empty())
            map_of(of);
        else
            complain(of.at, gpufs::cat(row.name, "() expects a map to be provided"));
    };
    switch (row.function) {
        case Fn::print:
            return check_print(expr);
        case Fn::clear:
        case Fn::zero:
            return whole_map();
        case Fn::exit:
        case Fn::join:
        case Fn::time:
            return;
        default:
            check_format(expr);
            if (row.function != Fn::debugf) return;
            for (std::size_t i = 1; i < expr.operands.size(); ++i)
                if (const TypePtr type = type_of(*expr.operands[i]); type && !type->is_number() &&
                                                                     !type->is(Kind::pointer) &&
                                                                     !type->is(Kind::string))
                    complain(expr.operands[i]->at, gpufs::cat("debugf() takes numbers and texts (",
                                                              name_of(*type), " provided)"));
    }
}

void Inference::check_format(const Expr& expr) {
    const auto format = literal_of(*expr.operands[0]);
    if (!format)
        return complain(expr.operands[0]->at, gpufs::cat(expr.text, "() wants a format in quotes"));
    std::vector<TypePtr> types;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        TypePtr type = type_of(*expr.operands[i]);
        if (!type) return;
        types.push_back(std::move(type));
    }
    if (!is_final_) return;
    const std::string mistake = mistake_in(parse_format(*format), types);
    if (!mistake.empty())
        complain(expr.at, gpufs::cat(expr.text, ": ", mistake), hint_for_format(*format));
}

void Inference::check_print(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind == Expr::Kind::map) {
        TypedMap& map = map_of(of);
        if (of.operands.empty()) {
            for (std::size_t i = 1; i < expr.operands.size(); ++i) number_argument(expr, i);
            return;
        }
        add_key(map, of);
        if (map.value && map.value->is_aggregation()) return;
    }
    if (expr.operands.size() > 1)
        complain(expr.at, "only print() of a map takes how many of its elements are printed");
    const TypePtr type = type_of(of);
    if (type && type->is(Kind::none)) complain(of.at, "there is no value to print");
}

}  // namespace gpufs::bt
