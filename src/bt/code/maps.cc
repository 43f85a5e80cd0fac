#include "base/align.h"
#include "bt/code/probe_code.h"
#include "lang/ir/aggregate.h"

// Maps: keys, elements, what is added to them.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// Bytes between the parts of a key must be zeros: the kernel compares them, too.
bool has_padding(const Type& type) {
    if (!type.is(Kind::tuple)) return type.bytes % kWord != 0;
    std::size_t used = 0;
    for (const Type::Field& field : type.fields) {
        if (has_padding(*field.type)) return true;
        used += field.type->bytes;
    }
    return used != align_up(type.bytes, kWord);
}

}  // namespace

const TypedMap& ProbeCode::map_of(const Expr& expr) {
    return *shared_.typed().find_map(expr.text);
}

ir::Temp ProbeCode::map_symbol(const TypedMap& map) {
    return code_.symbol(Relocation::to(Relocation::Kind::map, shared_.map(map).name));
}

ir::Temp ProbeCode::value_address(const TypedMap& map) {
    return code_.symbol(Relocation::to(Relocation::Kind::map_value, shared_.map(map).name));
}

// The key of an element, in memory of its own, with `extra` bytes behind it.
ProbeCode::Key ProbeCode::key_of(const TypedMap& map, const std::vector<ExprPtr>& keys,
                                 std::size_t first, std::size_t extra) {
    if (shared_.has_address(map) || shared_.is_array_of_slots(map)) return std::nullopt;
    if (!map.is_keyed) {
        const Local key = allocate(kWord + extra);
        code_.store(key.place(), 0, ir::kU64);
        return key;
    }
    const Type& type = *map.key;
    const std::size_t bytes = align_up(type.bytes, kWord);
    const bool is_one = keys.size() - first == 1;
    std::vector<Value> values;
    for (std::size_t i = first; i < keys.size(); ++i)
        values.push_back(kept(eval(*keys[i]), std::span(keys).subspan(i + 1)));
    const Local key = allocate(bytes + std::max(extra, room_behind(type)));
    if (has_padding(type)) zero(key, bytes);
    if (is_one) {
        put(values.front(), map.key, key, TextEnd::roomy);
        return key;
    }
    // In order: what comes next is written over the byte behind a text.
    for (std::size_t i = 0; i < values.size(); ++i)
        put(values[i], type.fields[i].type, key.at(type.fields[i].offset), TextEnd::roomy);
    return key;
}

Value ProbeCode::eval_map(const Expr& expr) {
    if (const Expr* const first = predicate_reads_.first_of(expr)) {
        const auto known = read_.find(first);
        if (known != read_.end()) return known->second;
    }
    const TypedMap& map = map_of(expr);
    Value value = eval_element(map, key_of(map, expr.operands, 0), &expr);
    // What is not a number may lie where something else is put later.
    if (value.number && map.is_keyed && !shared_.options().tells_failures) read_[&expr] = value;
    return value;
}

// What is not there reads as zeros.
Value ProbeCode::eval_element(const TypedMap& map, const Key& key, const Expr* asked) {
    const Type& type = *map.value;
    if (!key) {
        const ir::Temp value = value_address(map);
        return type.is_aggregation() ? aggregated(type, value) : load({value, 0}, map.value);
    }
    const ir::Temp entry = code_.new_temp(ir::kU64);
    code_.assign(entry, code_.call(BPF_FUNC_map_lookup_elem, {map_symbol(map), address_of(*key)}));
    if (asked && shared_.options().tells_failures) {
        const ir::Label is_there = code_.new_label();
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, is_there);
        tell_failure(*asked, "map_lookup_elem", 0);
        code_.bind(is_there);
    }
    const ir::Label done = code_.new_label();
    if (!type.is_aggregation() && !type.is_scalar()) {
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, done);
        code_.assign(entry, code_.symbol(Relocation::to(Relocation::Kind::map_value,
                                                        shared_.zeros(type.bytes))));
        code_.bind(done);
        // A copy: the element may be changed or deleted before its value is used.
        const Local made = allocate(type.bytes);
        copy({entry, 0}, made, type.bytes);
        return load(made, map.value);
    }
    const TypePtr as = type.is_aggregation() ? integer_type(kWord, type.is_signed) : map.value;
    const ir::Temp number = code_.new_temp(ir_type(*as));
    code_.assign(number, 0);
    code_.branch(ir::Cmp::eq, ir::kU64, entry, 0, done);
    code_.assign(number, type.is_aggregation() ? this->number(aggregated(type, entry))
                                               : code_.load({entry, 0}, ir_type(type)));
    code_.bind(done);
    return number_value(number, as);
}

Value ProbeCode::aggregated(const Type& type, ir::Temp entry) {
    const ir::Type as{kWord, type.is_signed};
    const auto word = [&](std::int64_t at) { return code_.load({entry, at}, as); };
    const auto of = [&](ir::Temp number) {
        return number_value(number, integer_type(kWord, type.is_signed));
    };
    if (type.is(Kind::avg)) return of(code_.compute(ir::Op::div, as, word(kWord), word(0)));
    if (!type.is(Kind::min) && !type.is(Kind::max)) return of(word(0));
    // 0 where there was no value yet.
    const ir::Temp number = code_.new_temp(as);
    const ir::Label done = code_.new_label();
    code_.assign(number, 0);
    code_.branch(ir::Cmp::eq, ir::kU64, word(kWord), 0, done);
    code_.assign(number, code_.compute(ir::Op::bit_xor, ir::kU64, word(0),
                                       extreme_mask(type.is_signed, type.is(Kind::min))));
    code_.bind(done);
    return of(number);
}

void ProbeCode::update(const TypedMap& map, const Key& key, const Value& value) {
    if (!key) return put(value, map.value, {value_address(map), 0});
    const std::size_t bytes = align_up(map.value->bytes, kWord);
    const Local made = allocate(bytes + room_behind(*map.value));
    if (has_padding(*map.value)) zero(made, bytes);
    put(value, map.value, made, TextEnd::roomy);
    const ir::Label done = code_.new_label();
    const ir::Temp result = code_.call(
        BPF_FUNC_map_update_elem,
        {map_symbol(map), address_of(*key), address_of(made), static_cast<int>(BPF_ANY)});
    code_.branch(ir::Cmp::eq, ir::kU32, result, 0, done);
    append_loss(code_, shared_.refused_of_map(map));
    code_.bind(done);
}

// Where nothing else adds to the map, without a call.
void ProbeCode::add_to(const TypedMap& map, const Key& key, ir::Operand value) {
    const MapDeclaration declared = shared_.added_to(map);
    if (adds_without_call(declared)) {
        if (!key) return append_add_to_value(code_, declared, value);
        if (shared_.is_added_to_once(map))
            return append_add(shared_.program(), code_, declared, address_of(*key), value);
    }
    const std::string function = shared_.add_function_of(map);
    if (!key)
        code_.call(function, {value});
    else if (declared.aggregation.kind == Aggregation::Kind::count)
        code_.call(function, {address_of(*key)});
    else
        code_.call(function, {address_of(*key), value});
}

ir::Temp ProbeCode::histogram_slot(const TypedMap& map, ir::Operand value) {
    if (!shared_.is_added_to_once(map)) return code_.call(shared_.slot_function_of(map), {value});
    return ScriptCode::append_slot(code_, map, code_.convert(value, ir::kU64));
}

void ProbeCode::emit_aggregation(const Expr& target, const Expr& call, const FunctionRow& row) {
    const TypedMap& map = map_of(target);
    const Key key = key_of(map, target.operands, 0, map.value->has_slots() ? kWord : 0);
    if (row.function == Fn::count) return add_to(map, key, 1);
    const ir::Operand value = number(*call.operands[0]);
    if (row.function == Fn::tseries) {
        code_.call(shared_.series_function_of(map), {address_of(*key), value, series_time()});
        return;
    }
    if (map.value->is_histogram())
        add_to_slot(map, key, histogram_slot(map, value));
    else
        add_to(map, key, value);
}

void ProbeCode::add_to_slot(const TypedMap& map, const Key& key, ir::Temp slot) {
    if (key) {
        const auto at = static_cast<std::int64_t>(shared_.map(map).key.find("slot")->offset);
        code_.store(key->place(at), slot, ir::kU64);
        add_to(map, key, 1);
    } else if (shared_.is_added_to_once(map)) {
        append_add(shared_.program(), code_, shared_.added_to(map), slot, 1);
    } else {
        code_.call(shared_.add_function_of(map), {slot});
    }
}

// The time of CLOCK_TAI, which old kernels do not tell.
ir::Operand ProbeCode::series_time() {
    const CompileOptions& options = shared_.options();
    const TypedMap* const clock = shared_.typed().find_map(options.clock_map);
    if (clock && clock->value && clock->value->is(Kind::integer) && !clock->is_keyed)
        return number(eval_element(*clock, key_of(*clock, {}, 0)));
    return code_.compute(ir::Op::add, ir::kU64, code_.call(BPF_FUNC_ktime_get_ns, {}),
                         options.tai_ahead_ns);
}

}  // namespace gpufs::bt
