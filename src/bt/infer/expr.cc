#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/syntax/tree.h"
#include "bt/syntax/words.h"
#include "bt/types/common_type.h"
#include "bt/types/field_type.h"
#include "lang/print_fmt/shown_field.h"

namespace gpufs::bt {
namespace {

constexpr const char* kWhatHasArgs =
    "args has the fields of tracepoints, and the parameters of fentry, rawtracepoint and uprobe";

using Kind = Type::Kind;

TypePtr int64() {
    return integer_type(kWord, true);
}

// A text of so many bytes, and its NUL; one byte more, as a text that fills its type is one that
// was cut.
TypePtr text_type(std::size_t length) {
    return told_as(string_type(align_up(length + 2, kWord)), length + 1);
}

// The path through a structure, and where it ends: "a.b.c".
std::optional<std::pair<std::size_t, TypePtr>> follow(const TypeTable& table, TypePtr type,
                                                      const std::vector<std::string>& path) {
    std::size_t offset = 0;
    for (const std::string& name : path) {
        const auto structure = table.structure(*type);
        const Type::Field* found = structure ? member(*structure, name) : nullptr;
        if (!found) return std::nullopt;
        offset += found->offset;
        type = found->type;
    }
    return std::pair{offset, type};
}

// What kernels call a field differs from what they print it as, and from other kernels.
std::string hint_for_field(const EventFormat& event, const std::string& name, bool is_recording) {
    const char* const where = is_recording ? "this recording" : "this kernel";
    const std::vector<std::string> names = event.field_names();
    if (const std::string field = field_shown_as(event, name); !field.empty())
        return gpufs::cat(where, " names the field '", field, "', and prints it as ", name);
    const std::string near = did_you_mean(name, names);
    return near.empty() ? gpufs::cat("in ", where, " its fields are ", join(names, ", ")) : near;
}

}  // namespace

TypePtr literal_type(std::int64_t number) {
    std::size_t bytes = 1;
    for (; bytes < kWord; bytes *= 2)
        if (const std::int64_t limit = std::int64_t{1} << (bytes * 8 - 1);
            number >= -limit && number < limit)
            break;
    return told_as(integer_type(kWord, true), bytes);
}

bool is_computable(const Type& type) {
    return type.is_number() || type.is(Kind::pointer);
}

// What looks like an assignment in parentheses is a record.
std::string hint_for_condition(const Type& type) {
    return type.is(Kind::tuple) && type.fields.size() == 1 ? "'==' compares" : "";
}

TypePtr Inference::type_of(const Expr& expr) {
    TypePtr type = find_type(expr);
    if (type && type->is(Kind::integer) && type->is_signed && !in_.options.is_old)
        if (const auto number = constant(expr); number && *number >= 0) {
            auto made = std::make_shared<Type>(*type);
            made->has_any_sign = true;
            type = std::move(made);
        }
    if (type)
        instance_->types[&expr] = type;
    else if (in_.mistakes.empty() && std::ranges::none_of(typed_.maps, &TypedMap::is_undefined))
        complain(expr.at, "nothing tells what type this has");
    return type;
}

TypePtr Inference::find_type(const Expr& expr) {
    switch (expr.kind) {
        case Expr::Kind::integer:
            if (expr.number > INT64_MAX && !expr.is_negative) return integer_type(kWord, false);
            if (in_.options.is_old) return int64();
            return literal_type(static_cast<std::int64_t>(expr.number));
        case Expr::Kind::positional_count:
            return int64();
        case Expr::Kind::boolean:
            return boolean_type();
        case Expr::Kind::string:
            return text_type(expr.text.size());
        case Expr::Kind::positional:
            if (const auto number = constant(expr))
                return in_.options.is_old ? int64() : literal_type(*number);
            return text_type(expr.text.size());
        case Expr::Kind::identifier:
            return type_of_identifier(expr);
        case Expr::Kind::variable: {
            const auto use = instance_->uses.find(&expr);
            return use == instance_->uses.end() ? nullptr : instance_->variables[use->second].type;
        }
        case Expr::Kind::map:
            return type_of_map(expr);
        case Expr::Kind::call:
            return type_of_call(expr);
        case Expr::Kind::member:
            return type_of_member(expr);
        case Expr::Kind::tuple_index: {
            const TypePtr tuple = type_of(*expr.operands[0]);
            if (!tuple) return nullptr;
            if (tuple->is(Kind::tuple) && expr.number < tuple->fields.size())
                return tuple->fields[expr.number].type;
            complain(expr.at,
                     tuple->is(Kind::tuple)
                         ? gpufs::cat("Invalid tuple index: ", expr.number, " of ", name_of(*tuple))
                         : gpufs::cat("Can not access index '", expr.number,
                                      "' on expression of type '", name_of(*tuple), '\''));
            return nullptr;
        }
        case Expr::Kind::index:
            return type_of_index(expr);
        case Expr::Kind::unary:
            return type_of_unary(expr);
        case Expr::Kind::binary:
            return type_of_binary(expr);
        case Expr::Kind::increment:
            return type_of_increment(expr);
        case Expr::Kind::ternary:
            return type_of_ternary(expr);
        case Expr::Kind::cast:
            return type_of_cast(expr);
        case Expr::Kind::size_of: {
            const TypePtr of =
                expr.operands.empty() ? resolve(expr.type_name) : type_of(*expr.operands[0]);
            if (!of) return nullptr;
            const auto structure = in_.table.structure(*of);
            instance_->constants[&expr] =
                static_cast<std::int64_t>(structure ? structure->bytes : told_size(*of));
            return int64();
        }
        case Expr::Kind::offset_of: {
            const TypePtr of =
                expr.operands.empty() ? resolve(expr.type_name) : type_of(*expr.operands[0]);
            if (!of) return nullptr;
            const auto found = follow(in_.table, of, expr.path);
            if (!found) {
                complain(expr.at,
                         gpufs::cat('\'', name_of(*of), "' does not contain a field named '",
                                    expr.path.front(), '\''));
                return nullptr;
            }
            instance_->constants[&expr] = static_cast<std::int64_t>(found->first);
            return int64();
        }
        case Expr::Kind::tuple:
        case Expr::Kind::record:
            return type_of_tuple(expr);
        case Expr::Kind::block: {
            const unsigned outer = loops_;
            if (expr.is_function) loops_ = 0;
            visit(expr.body);
            loops_ = outer;
            return expr.operands[0] ? type_of(*expr.operands[0]) : none_type();
        }
        case Expr::Kind::type:
            complain(expr.at, "a type is no value");
            return nullptr;
    }
    return nullptr;
}

TypePtr Inference::type_of_identifier(const Expr& expr) {
    bool is_known = true;
    TypePtr type = type_of_builtin(expr, is_known);
    if (is_known) return type;
    if (const auto constant = in_.table.constant(expr.text))
        return constant->type ? stored(constant->type) : int64();
    if (const FunctionRow* row = find_function(expr.text)) {
        complain(expr.at, gpufs::cat(row->name, " is a function"),
                 gpufs::cat("write ", row->name, "()"));
        return nullptr;
    }
    const std::string hint = in_.script.includes.empty() ? did_you_mean(expr.text, builtin_names())
                                                         : hint_for_headers(in_.script);
    complain(expr.at, gpufs::cat("Unknown identifier: '", expr.text, '\''), hint);
    return nullptr;
}

TypePtr Inference::type_of_map(const Expr& expr) {
    TypedMap& map = map_of(expr);
    add_key(map, expr);
    if (!map.value || !map.value->is_aggregation()) return map.value;
    if (map.value->is(Kind::stats) || map.value->has_slots()) {
        complain(expr.at, gpufs::cat("@", map.name, " of type ", name_of(*map.value),
                                     " is no number; print() shows it"));
        return nullptr;
    }
    return integer_type(kWord, map.value->is_signed || map.value->is(Kind::count));
}

TypePtr Inference::whole(const TypePtr& type) {
    if (type->is(Kind::array)) {
        TypePtr element = whole(type->element);
        return element == type->element ? type : array_type(std::move(element), type->count);
    }
    if (!type->is(Kind::structure)) return type;
    const auto structure = in_.table.structure(*type);
    if (!structure) return type;
    std::shared_ptr<const Structure>& known = wholes_[structure];
    if (!known) {
        known = structure;  // of a damaged file, which has it in itself
        auto deep = std::make_shared<Structure>(*structure);
        for (Type::Field& field : deep->fields) field.type = whole(field.type);
        known = std::move(deep);
    }
    auto made = std::make_shared<Type>(*type);
    made->bytes = structure->bytes;
    made->structure = known;
    return made;
}

TypePtr Inference::as_value(TypePtr type) const {
    if (!type->is(Kind::string)) return type;
    if (type->bytes == 0) return string_type(in_.options.string_bytes);
    const std::size_t characters = std::min(type->bytes, in_.options.string_bytes - 1);
    return told_as(string_type(align_up(characters + 1, kWord)), type->bytes);
}

std::vector<std::string> Inference::names_of_args() const {
    std::vector<std::string> names;
    const auto& places = instance_->parameter_places;
    for (std::size_t i = 0; i < instance_->parameters.size(); ++i) {
        const std::string& name = instance_->parameters[i].name;
        const bool is_there = places.empty() || places[i].kind != StaticArgument::Kind::unknown;
        if (is_there && name != "retval") names.push_back(name);
    }
    if (!instance_->event) return names;
    for (const gpufs::Field& field : instance_->event->fields) {
        const bool has_size = !field.is_array || !field.is_dynamic() || field.holds_text();
        if (!field.is_common && has_size) names.push_back(field.name);
    }
    return names;
}

TypePtr Inference::type_of_args(const Expr& expr) {
    ExprPtr& record = instance_->written_out[&expr];
    if (record) return type_of(*record);
    const std::vector<std::string> names = names_of_args();
    if (names.empty()) {
        const std::string& where = instance_->points.front().text;
        if (instance_->parameters.empty())
            complain(expr.at, gpufs::cat("there are no arguments at ", where), kWhatHasArgs);
        else
            complain(expr.at, gpufs::cat("no program can read the arguments at ", where));
        return nullptr;
    }
    record = std::make_unique<Expr>();
    record->kind = Expr::Kind::record;
    record->at = expr.at;
    record->names = names;
    for (const std::string& name : record->names) {
        ExprPtr& member = record->operands.emplace_back(std::make_unique<Expr>());
        member->kind = Expr::Kind::member;
        member->at = expr.at;
        member->text = name;
        member->operands.push_back(clone(expr));
    }
    return type_of(*record);
}

TypePtr Inference::type_of_args_member(const Expr& expr) {
    if (const EventFormat* event = instance_->event) {
        const gpufs::Field* field = event->find(expr.text);
        if (field && !field->is_common) return as_value(field_type(*event, *field, in_.world));
        complain(expr.at,
                 gpufs::cat("Struct/union of type 'struct ", event->system, "_", event->name,
                            "_args' does not contain a field named '", expr.text, '\''),
                 hint_for_field(*event, expr.text, in_.world.is_recording()));
        return nullptr;
    }
    const auto found = std::ranges::find(instance_->parameters, expr.text, &Type::Field::name);
    if (found != instance_->parameters.end()) return as_value(whole(found->type));
    std::vector<std::string> names;
    for (const Type::Field& one : instance_->parameters) names.push_back(one.name);
    std::string hint = names.empty() ? kWhatHasArgs : did_you_mean(expr.text, names);
    if (hint.empty()) hint = gpufs::cat("its arguments are ", join(names, ", "));
    complain(
        expr.at,
        gpufs::cat("there is no argument '", expr.text, "' at ", instance_->points.front().text),
        hint);
    return nullptr;
}

TypePtr Inference::type_of_member(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind == Expr::Kind::identifier && of.text == "args") return type_of_args_member(expr);
    TypePtr type = type_of(of);
    if (!type) return nullptr;
    if (type->is(Kind::tuple)) {
        const auto found = std::ranges::find(type->fields, expr.text, &Type::Field::name);
        if (found != type->fields.end()) return found->type;
    }
    Space space = type->space;
    if (type->is(Kind::pointer) && type->element) type = type->element;
    const auto structure = in_.table.structure(*type);
    if (!structure) {
        complain(expr.at,
                 type->is(Kind::structure)
                     ? gpufs::cat("Unknown struct/union: '", name_of(*type), '\'')
                     : gpufs::cat("Can not access field '", expr.text, "' on expression of type '",
                                  name_of(*type), '\''),
                 in_.world.has_types()      ? ""
                 : in_.world.is_recording() ? "a recording does not have the kernel's types (BTF)"
                                            : "this kernel does not tell its types (BTF)");
        return nullptr;
    }
    const Type::Field* found = member(*structure, expr.text);
    if (!found) {
        complain(expr.at,
                 gpufs::cat("Struct/union of type '", name_of(*type),
                            "' does not contain a field named '", expr.text, '\''),
                 hint_for_member(*structure, expr.text));
        return nullptr;
    }
    if (found->type->is(Kind::pointer) && found->type->space == Space::none)
        return pointer_type(found->type->element, space);
    return as_value(whole(found->type));
}

TypePtr Inference::type_of_index(const Expr& expr) {
    const TypePtr of = type_of(*expr.operands[0]), at = type_of(*expr.operands[1]);
    if (!of || !at) return nullptr;
    if (!at->is_number())
        complain(expr.operands[1]->at, "The array index operator [] accepts only numbers");
    if (of->is(Kind::array) || of->is(Kind::pointer)) {
        if (of->element && !of->element->is(Kind::none)) {
            if (of->is(Kind::array) && of->count != 0) check_index(*expr.operands[1], of->count);
            return as_value(whole(of->element));
        }
        return integer_type(kWord, false);
    }
    if (of->is(Kind::string)) {
        check_index(*expr.operands[1], told_size(*of));
        return integer_type(1, true);
    }
    if (of->is(Kind::tuple)) {
        const auto index = constant(*expr.operands[1]);
        if (index && static_cast<std::uint64_t>(*index) < of->fields.size())
            return of->fields[static_cast<std::size_t>(*index)].type;
    }
    complain(expr.at, gpufs::cat("The array index operator [] can not be used on expression of "
                                 "type '",
                                 name_of(*of), '\''));
    return nullptr;
}

void Inference::check_index(const Expr& at, std::uint64_t size) {
    if (const auto index = constant(at); index && static_cast<std::uint64_t>(*index) >= size)
        complain(at.at,
                 gpufs::cat("the index ", *index, " is out of bounds for array of size ", size));
}

TypePtr Inference::type_of_ternary(const Expr& expr) {
    const TypePtr condition = type_of(*expr.operands[0]);
    const TypePtr yes = expr.operands[1] ? type_of(*expr.operands[1]) : condition;
    const TypePtr no = type_of(*expr.operands[2]);
    if (condition && !is_computable(*condition))
        complain(expr.operands[0]->at,
                 gpufs::cat("Invalid condition: a number is wanted, not ", name_of(*condition)),
                 hint_for_condition(*condition));
    if (!yes || !no) return yes ? yes : no;
    const bool is_if = expr.operands[1] && expr.operands[1]->kind == Expr::Kind::block;
    if (is_if && (yes->is(Kind::none) || no->is(Kind::none))) return none_type();
    if (yes->is(Kind::none) && no->is(Kind::none)) return none_type();
    TypePtr both = merged(stored(yes), stored(no));
    if (!both)
        complain(expr.at, gpufs::cat("Ternary operator must return the same type: have '",
                                     name_of(*yes), "' and '", name_of(*no), '\''));
    return both;
}

TypePtr Inference::type_of_cast(const Expr& expr) {
    const TypePtr from = type_of(*expr.operands[0]);
    TypePtr to = resolve(expr.type_name);
    if (!from || !to) return nullptr;
    if (to->is(Kind::string) && to->bytes == 0) to = string_type(in_.options.string_bytes);
    const bool is_text =
        to->is(Kind::string) && (from->is(Kind::string) || from->is(Kind::pointer));
    if (to->is(Kind::array) && to->count == 0 && to->element->bytes != 0) {
        // As many as there are bytes for.
        const std::size_t count = told_size(*from) / to->element->bytes;
        if (count != 0) to = array_type(to->element, count);
    }
    const bool is_bits =
        (to->is(Kind::array) && to->count != 0 &&
         (from->is_number() || (from->is(Kind::string) && to->bytes <= from->bytes))) ||
        (to->is_number() && from->is(Kind::array) && from->bytes <= kWord);
    if (to->is(Kind::pointer) && from->is(Kind::pointer) && from->space != Space::none)
        return pointer_type(to->element, from->space);
    if ((to->is_scalar() && from->is_scalar()) || is_text || is_bits) return to;
    if (to->is(Kind::structure))
        complain(expr.at, gpufs::cat("Cannot cast to struct \"", name_of(*to), '"'),
                 gpufs::cat("write (", name_of(*to), " *)"));
    else
        complain(expr.at,
                 gpufs::cat("Cannot cast from \"", name_of(*from), "\" to \"", name_of(*to), '"'));
    return nullptr;
}

TypePtr Inference::type_of_tuple(const Expr& expr) {
    std::vector<Type::Field> fields;
    bool is_known = true;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        TypePtr type = stored(type_of(*expr.operands[i]));
        is_known = is_known && type;
        if (type && type->is(Kind::none))
            complain(expr.operands[i]->at, "there is no value to put into a tuple");
        fields.push_back({expr.kind == Expr::Kind::record ? expr.names[i] : "", std::move(type)});
    }
    return is_known ? tuple_type(std::move(fields)) : nullptr;
}

}  // namespace gpufs::bt
