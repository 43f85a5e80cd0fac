#include "bt/infer/infer.h"

#include <algorithm>

#include "base/cat.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/types/common_type.h"
#include "bt/types/functions.h"
#include "lang/ir/ir.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// A type can only grow, and few times: from unknown to known, by signs, by sizes of texts.
constexpr int kMostPasses = 50;
constexpr std::int64_t kMostUnrolled = 100;
// What a map may be declared as.
constexpr std::string_view kMapKinds[] = {"hash", "lruhash", "percpuhash", "percpulruhash",
                                          "percpuarray"};

// Nothing behind it in its block runs.
bool is_end(const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::return_ || stmt.kind == Stmt::Kind::break_ ||
           stmt.kind == Stmt::Kind::continue_ ||
           (stmt.kind == Stmt::Kind::expression && stmt.value->kind == Expr::Kind::call &&
            stmt.value->text == "exit");
}

// As the script has it: the variables of a function's calls have numbers behind their names.
std::string_view written_name(const Variable& variable) {
    return std::string_view(variable.name).substr(0, variable.name.find('#'));
}

// What a function returns goes into a variable that is called as it is used: "f()".
bool is_result(const Variable& variable) {
    return written_name(variable).ends_with(')');
}

}  // namespace

void Inference::run() {
    find_types();
    const auto lacks_type = [](const TypedMap& map) { return map.is_assigned && !map.value; };
    if (std::ranges::any_of(typed_.maps, lacks_type)) {
        takes_other_operand_ = true;
        find_types();
    }
    is_final_ = true;
    for (Instance& instance : typed_.instances) visit(instance);
    for (const TypedMap& map : typed_.maps)
        if (map.is_undefined()) complain(map.at, gpufs::cat("Undefined map: @", map.name));
}

void Inference::find_types() {
    for (int pass = 0; pass < kMostPasses; ++pass) {
        is_changed_ = false;
        for (Instance& instance : typed_.instances) visit(instance);
        if (!is_changed_) break;
    }
}

void Inference::visit(Instance& instance) {
    instance_ = &instance;
    loops_ = 0;
    if (instance.probe->predicate) {
        const TypePtr type = type_of(*instance.probe->predicate);
        if (type && !type->is_number() && !type->is(Kind::pointer))
            complain(instance.probe->predicate->at,
                     gpufs::cat("Invalid type for predicate: ", name_of(*type)));
    }
    visit(instance.probe->body);
}

void Inference::visit(const Block& block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        visit(*block[i]);
        if (is_final_ && i + 1 < block.size() && is_end(*block[i]))
            in_.warn(block[i + 1]->at, "Unreachable statement");
    }
}

void Inference::visit(const Stmt& stmt) {
    switch (stmt.kind) {
        case Stmt::Kind::expression:
            type_of(*stmt.value);
            return;
        case Stmt::Kind::assign:
            return assign(stmt);
        case Stmt::Kind::declare:
            return declare(stmt);
        case Stmt::Kind::if_:
        case Stmt::Kind::while_: {
            const TypePtr type = type_of(*stmt.value);
            if (type && !type->is_number() && !type->is(Kind::pointer))
                complain(stmt.value->at,
                         gpufs::cat("Invalid condition: a number is wanted, not ", name_of(*type)),
                         hint_for_condition(*type));
            if (const auto taken = decided_branch(stmt))
                return visit(*taken ? stmt.body : stmt.otherwise);
            loops_ += stmt.kind == Stmt::Kind::while_;
            visit(stmt.body);
            loops_ -= stmt.kind == Stmt::Kind::while_;
            return visit(stmt.otherwise);
        }
        case Stmt::Kind::unroll: {
            type_of(*stmt.value);
            const auto times = constant(*stmt.value);
            if (!times)
                complain(stmt.value->at, "unroll needs a number that is known before it runs");
            else if (*times < 1)
                complain(stmt.value->at, "unroll minimum value is 1");
            else if (*times > kMostUnrolled)
                complain(stmt.value->at, gpufs::cat("unroll maximum value is ", kMostUnrolled));
            return visit(stmt.body);
        }
        case Stmt::Kind::for_map:
        case Stmt::Kind::for_range:
            return visit_for(stmt);
        case Stmt::Kind::break_:
        case Stmt::Kind::continue_:
            if (loops_ == 0)
                complain(stmt.at, gpufs::cat(stmt.kind == Stmt::Kind::break_ ? "break" : "continue",
                                             " is only for loops"));
            return;
        case Stmt::Kind::return_:
            if (stmt.value) type_of(*stmt.value);
            return;
        case Stmt::Kind::block:
            return visit(stmt.body);
    }
}

// if comptime: what is not taken need not have types.
std::optional<bool> Inference::decided_branch(const Stmt& stmt) {
    if (stmt.kind != Stmt::Kind::if_ || !stmt.value->is_comptime) return std::nullopt;
    const auto condition = constant(*stmt.value);
    if (condition) return *condition != 0;
    complain(stmt.value->at, "the condition is not known before the program runs");
    return std::nullopt;
}

void Inference::visit_for(const Stmt& stmt) {
    Variable& variable = instance_->variables[instance_->declares.at(&stmt)];
    if (stmt.kind == Stmt::Kind::for_range) {
        for (const ExprPtr* bound : {&stmt.value, &stmt.limit})
            if (const TypePtr type = type_of(**bound); type && !type->is_number())
                complain((*bound)->at, gpufs::cat("a range goes from a number to a number, not ",
                                                  name_of(*type)));
        const auto first = constant(*stmt.value), limit = constant(*stmt.limit);
        std::int64_t turns = 0;
        if (first && limit && *first < *limit &&
            (__builtin_sub_overflow(*limit, *first, &turns) || turns > kMostTurns))
            complain(stmt.limit->at, gpufs::cat("a loop has at most ", kMostTurns, " turns"),
                     "a loop in a loop has more");
        put(variable, stmt.at, integer_type(kWord, true));
    } else {
        TypedMap& map = map_of(*stmt.target);
        if (!map.is_keyed && map.value && is_final_)
            complain(stmt.target->at, gpufs::cat("@", map.name, " has no keys to go through"));
        if (map.key && map.value) {
            if (map.value->has_slots())
                complain(stmt.target->at, "histograms and time series cannot be gone through");
            if (map.value->is(Kind::stats))
                complain(stmt.target->at,
                         gpufs::cat("@", map.name, " of type stats has no numbers to go through"),
                         "print() shows it");
            const TypePtr value =
                map.value->is_aggregation() ? integer_type(kWord, map.value->is_signed) : map.value;
            put(variable, stmt.at, tuple_type({{"", map.key}, {"", value}}));
        }
    }
    ++loops_;
    visit(stmt.body);
    --loops_;
}

void Inference::declare(const Stmt& stmt) {
    Variable& variable = instance_->variables[instance_->declares.at(&stmt)];
    if (stmt.type_name) {
        TypePtr type = resolve(*stmt.type_name);
        if (type && type->is(Kind::string) && type->bytes == 0)
            type = string_type(in_.options.string_bytes);
        if (type && type->is(Kind::integer)) {
            variable.is_declared = true;
            variable.type = type;
        }
        put(variable, stmt.at, type);
    }
    if (stmt.value) put(variable, stmt.at, type_of(*stmt.value), stmt.value.get());
}

void Inference::assign(const Stmt& stmt) {
    if (!stmt.target) {
        type_of(*stmt.value);
        return;
    }
    if (const Expr* const call = aggregation_in(*stmt.value)) {
        for (const Expr* block = stmt.value.get(); block != call; block = block->operands[0].get())
            visit(block->body);
        return assign_aggregation(stmt, *call, *find_function(call->text));
    }
    TypePtr type = type_of(*stmt.value);
    if (stmt.operation) {
        if (type && !type->is_number())
            complain(stmt.value->at,
                     gpufs::cat("The operator needs a number, not ", name_of(*type)));
        const TypePtr before = type_of(*stmt.target);
        const bool moves_pointer =
            before && before->is(Kind::pointer) &&
            (*stmt.operation == BinaryOp::add || *stmt.operation == BinaryOp::sub);
        type = moves_pointer ? before
               : type && before && before->is_number() && !before->is_aggregation()
                   ? integer_type(kWord, is_signed_together(*type, *before))
                   : type;
    }
    if (stmt.target->kind == Expr::Kind::variable) {
        const auto use = instance_->uses.find(stmt.target.get());
        if (use != instance_->uses.end())
            put(instance_->variables[use->second], stmt.at, type,
                stmt.operation ? nullptr : stmt.value.get());
        type_of(*stmt.target);
        return;
    }
    if (stmt.target->kind != Expr::Kind::map)
        return complain(stmt.target->at, "only variables and maps can be assigned to");
    TypedMap& map = map_of(*stmt.target);
    add_key(map, *stmt.target);
    put(map, stmt.at, type);
    type_of(*stmt.target);
}

void Inference::assign_aggregation(const Stmt& stmt, const Expr& call, const FunctionRow& row) {
    if (stmt.target->kind != Expr::Kind::map || stmt.operation)
        return complain(stmt.at, gpufs::cat(row.name, "() should be directly assigned to a map"));
    aggregation_ = &call;
    const TypePtr type = type_of(call);
    TypedMap& map = map_of(*stmt.target);
    add_key(map, *stmt.target);
    put(map, stmt.at, type);
}

// "()", a structure without members, an array of none.
static bool is_without_bytes(const Type& type) {
    return type.bytes == 0 &&
           (type.is(Kind::tuple) || type.is(Kind::structure) || type.is(Kind::array));
}

void Inference::put(TypedMap& map, const SourceRef& at, const TypePtr& type) {
    map.is_assigned = true;
    if (!type) return;
    if (type->is(Kind::none))
        return complain(at, gpufs::cat("there is no value to put into @", map.name));
    if (is_without_bytes(*type))
        return complain(at,
                        gpufs::cat("a '", name_of(*type), "' has no bytes to keep in @", map.name));
    const TypePtr both = merged(map.value, stored(type));
    if (!both)
        return complain(
            at,
            gpufs::cat("Type mismatch for @", map.name, ": trying to assign value of type '",
                       name_of(*type), "' when map already contains a value of type '",
                       name_of(*map.value), '\''),
            type->is_histogram() && type->kind == map.value->kind
                ? gpufs::cat("all of a map have the same ",
                             type->is(Kind::hist) ? "number of bits" : "bounds and step")
                : "");
    if (same(both, map.value)) return;
    map.value = both;
    is_changed_ = true;
}

// A number that is known; others lose their upper bits.
void Inference::check_fits(const Type& type, const Expr& value) {
    const auto number = constant(value);
    if (!number || type.bytes == kWord) return;
    const ir::Type as{static_cast<std::uint8_t>(type.bytes), type.is_signed};
    const auto bits = static_cast<std::uint64_t>(*number);
    if (ir::converted(bits, as) == bits) return;
    complain(value.at,
             gpufs::cat("the number ", *number, " is out of the range of ", name_of(type)),
             gpufs::cat("a cast takes its lower bits: (", name_of(type), ')', *number));
}

void Inference::put(Variable& variable, const SourceRef& at, const TypePtr& type,
                    const Expr* value) {
    if (!type) return;
    const std::string_view name = written_name(variable);
    const bool is_none = type->is(Kind::none) || type->is_aggregation();
    if (is_none && is_result(variable))
        return complain(at, gpufs::cat("there is no value that ", name, " could return"));
    if (is_none) return complain(at, gpufs::cat("there is no value to put into $", name));
    if (variable.is_declared && type->is_number()) {
        if (value) check_fits(*variable.type, *value);
        return;
    }
    const TypePtr both = merged(variable.type, stored(type));
    if (!both && is_result(variable))
        return complain(
            at, gpufs::cat("Function ", name.substr(0, name.size() - 2), " is of type '",
                           name_of(*variable.type), "', cannot return '", name_of(*type), '\''));
    if (!both)
        return complain(
            at, gpufs::cat("Type mismatch for $", name, ": trying to assign value of type '",
                           name_of(*type), "' when variable already contains a value of type '",
                           name_of(*variable.type), '\''));
    if (same(both, variable.type)) return;
    variable.type = both;
    is_changed_ = true;
}

TypedMap& Inference::map_of(const Expr& expr) {
    if (TypedMap* known = typed_.find_map(expr.text)) return *known;
    TypedMap map;
    map.name = expr.text;
    map.at = expr.at;
    map.entries = in_.options.map_entries;
    typed_.maps.push_back(std::move(map));
    is_changed_ = true;
    return typed_.maps.back();
}

void Inference::add_key(TypedMap& map, const Expr& expr) {
    if (expr.operands.empty()) {
        if (map.is_keyed)
            complain(expr.at, gpufs::cat("@", map.name, " used without a key, elsewhere with one"));
        return;
    }
    add_key(map, expr.at, expr.operands);
}

void Inference::add_key(TypedMap& map, const SourceRef& at, const std::vector<ExprPtr>& keys,
                        std::size_t first) {
    std::vector<Type::Field> parts;
    for (std::size_t i = first; i < keys.size(); ++i) {
        TypePtr part = stored(type_of(*keys[i]));
        if (!part) return;
        if (part->is(Kind::none) || part->is_aggregation())
            return complain(keys[i]->at, gpufs::cat(name_of(*part), " cannot be a key"));
        if (is_without_bytes(*part))
            return complain(keys[i]->at,
                            gpufs::cat("a '", name_of(*part), "' has no bytes to be a key of"));
        parts.push_back({"", std::move(part)});
    }
    if (!map.is_keyed && map.value && is_final_)
        return complain(at, gpufs::cat("@", map.name, " used with a key, elsewhere without one"));
    const TypePtr key = parts.size() == 1 ? parts.front().type : tuple_type(std::move(parts));
    const TypePtr both = merged(map.key, key);
    if (!both)
        return complain(at, gpufs::cat("Argument mismatch for @", map.name,
                                       ": trying to access with arguments: '", name_of(*key),
                                       "' when map expects arguments: '", name_of(*map.key), '\''));
    if (!map.is_keyed || !same(both, map.key)) is_changed_ = true;
    map.is_keyed = true;
    map.key = both;
}

// Where what a cast makes of an argument points to. Timers, samples and watchpoints are in either.
static Space space_of_arguments(Provider provider) {
    switch (provider) {
        case Provider::uprobe:
        case Provider::uretprobe:
        case Provider::usdt:
            return Space::user;
        case Provider::begin:
        case Provider::end:
        case Provider::self:
        case Provider::profile:
        case Provider::interval:
        case Provider::software:
        case Provider::hardware:
        case Provider::watchpoint:
        case Provider::asyncwatchpoint:
            return Space::none;
        default:
            return Space::kernel;
    }
}

TypePtr Inference::resolve(const TypeName& name) {
    if (name.of) {
        const TypePtr inner = type_of(*name.of);
        return inner ? in_.table.derive(inner, name) : nullptr;
    }
    const Space space = space_of_arguments(instance_->provider());
    const bool is_user = space == Space::user;
    TypePtr type =
        in_.table.resolve(name, space, is_user ? instance_->points.front().target : std::string());
    if (!type)
        complain(name.at, gpufs::cat("Cannot resolve unknown type \"", name.name, '"'),
                 in_.table.hint_for_type(name.name));
    return type;
}

Typed infer_types(const Script& script, World& world, const TypeTable& table,
                  const TypeOptions& options, Diagnostics& mistakes) {
    Typed typed;
    const InferenceInput input{script, world, table, options, mistakes, typed.warnings};
    typed.instances = split_probes(input);
    for (Instance& instance : typed.instances) resolve_variables(instance, input);
    Inference(input, typed).run();
    for (const MapDeclarationNode& declared : script.maps) {
        TypedMap* map = typed.find_map(declared.name);
        if (!map) {
            input.warn(declared.at, gpufs::cat("Unused map: @", declared.name));
            continue;
        }
        if (declared.entries != 0) map->entries = declared.entries;
        if (std::ranges::find(kMapKinds, declared.kind) == std::end(kMapKinds))
            input.complain(
                declared.at, gpufs::cat("Invalid bpf map type: ", declared.kind),
                gpufs::cat("one of ", join({std::begin(kMapKinds), std::end(kMapKinds)}, ", ")));
        if (declared.kind == "lruhash" || declared.kind == "percpulruhash")
            map->type = BPF_MAP_TYPE_LRU_HASH;
    }
    return typed;
}

}  // namespace gpufs::bt
