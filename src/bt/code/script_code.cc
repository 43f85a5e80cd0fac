#include "bt/code/script_code.h"

#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "bt/syntax/walk.h"
#include "bt/types/functions.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/feature_guard.h"
#include "lang/ir/scratch.h"
#include "lang/ir/stack_map.h"
#include "lang/program/function_cookie.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::uint64_t kStacks = 16384;
constexpr std::size_t kMostFrameBytes = 32760;  // of a value of a per-CPU map
// A keyed histogram has an element for each key and slot in use.
constexpr std::uint64_t kSlotsOfKey = 16;
// A keyed time series has an element for each key and interval.
constexpr std::uint64_t kMostSeriesElements = 65536;
constexpr const char* kUnsent = "unsent";

Aggregation aggregation_of(const Type& type) {
    Aggregation how;
    how.is_signed = type.is_signed;
    switch (type.kind) {
        case Kind::sum:
            how.kind = Aggregation::Kind::sum;
            break;
        case Kind::min:
            how.kind = Aggregation::Kind::min;
            break;
        case Kind::max:
            how.kind = Aggregation::Kind::max;
            break;
        case Kind::avg:
            how.kind = Aggregation::Kind::avg;
            break;
        case Kind::stats:
            how.kind = Aggregation::Kind::stats;
            break;
        default:
            how.kind = Aggregation::Kind::count;
            break;
    }
    return how;
}

// An array of one value, which programs read by its address.
MapDeclaration global_of(const char* name, std::size_t bytes) {
    MapDeclaration map =
        array_map(name, BPF_MAP_TYPE_ARRAY, Layout::of("value", raw_bytes_value(bytes)));
    map.is_global = true;
    return map;
}

// Names the stacks that a key or a value has: they are in use.
void note_stacks(Layout& layout, const Type& type, std::size_t at = 0) {
    for (const Type::Field& field : type.fields)
        note_stacks(layout, *field.type, at + field.offset);
    if (!type.is_stack()) return;
    ValueType stack;
    stack.kind =
        type.is(Kind::kernel_stack) ? ValueType::Kind::kernel_stack : ValueType::Kind::user_stack;
    stack.bytes = sizeof(std::int32_t);
    stack.is_signed = true;
    stack.stack_map = type.map;
    layout.members.push_back({gpufs::cat("stack", at), stack, at});
}

// slot = the number of the slot that `value` belongs to.
void append_hist_slot(ir::Code& code, ir::Temp value, ir::Temp slot, unsigned bits) {
    const ir::Label done = code.new_label();
    code.assign(slot, 0);
    code.branch(ir::Cmp::lt, ir::kS64, value, 0, done);
    code.assign(slot, code.compute(ir::Op::add, ir::kU64, value, 1));
    code.branch(ir::Cmp::lt, ir::kU64, value, std::uint64_t{1} << bits, done);
    const ir::Temp rest = code.new_temp(ir::kU64), power = code.new_temp(ir::kU64);
    code.assign(rest, value);
    code.assign(power, 0);
    for (const int half : {32, 16, 8, 4, 2, 1}) {
        const ir::Label is_low = code.new_label();
        code.branch(ir::Cmp::lt, ir::kU64, rest, std::uint64_t{1} << half, is_low);
        code.assign(rest, code.compute(ir::Op::shr, ir::kU64, rest, half));
        code.assign(power, code.compute(ir::Op::add, ir::kU64, power, half));
        code.bind(is_low);
    }
    const ir::Temp shift = code.compute(ir::Op::sub, ir::kU64, power, bits);
    const ir::Temp within =
        code.compute(ir::Op::bit_and, ir::kU64, code.compute(ir::Op::shr, ir::kU64, value, shift),
                     (std::uint64_t{1} << bits) - 1);
    const ir::Temp before =
        code.compute(ir::Op::shl, ir::kU64, code.compute(ir::Op::add, ir::kU64, shift, 1), bits);
    code.assign(slot, code.compute(ir::Op::add, ir::kU64,
                                   code.compute(ir::Op::add, ir::kU64, before, within), 1));
    code.bind(done);
}

void append_lhist_slot(ir::Code& code, ir::Temp value, ir::Temp slot, const Type& type) {
    const ir::Label done = code.new_label();
    code.assign(slot, 0);
    code.branch(ir::Cmp::lt, ir::kS64, value, type.low, done);
    code.assign(slot, 1 + type.steps());
    code.branch(ir::Cmp::ge, ir::kS64, value, type.high, done);
    const ir::Temp above = code.compute(ir::Op::sub, ir::kU64, value, type.low);
    code.assign(slot, code.compute(ir::Op::add, ir::kU64,
                                   code.compute(ir::Op::div, ir::kU64, above, type.step), 1));
    code.bind(done);
}

// The map in "@m++", "@m += 1" and "@m = count()"; null for other statements.
const Expr* map_added_to(const Stmt& stmt) {
    const Expr* to = nullptr;
    if (stmt.kind == Stmt::Kind::expression && stmt.value->kind == Expr::Kind::increment)
        to = stmt.value->operands[0].get();
    else if (stmt.kind == Stmt::Kind::assign &&
             (stmt.operation == BinaryOp::add || stmt.operation == BinaryOp::sub ||
              (!stmt.operation && aggregation_in(*stmt.value))))
        to = stmt.target.get();
    return to && to->kind == Expr::Kind::map ? to : nullptr;
}

}  // namespace

ScriptCode::ScriptCode(const Script& script, const Typed& typed, const TypeTable& table,
                       World& world, const CompileOptions& options, Compiled& made)
    : script_(script), typed_(typed), table_(table), world_(world), options_(options), made_(made) {
    for (const Probe& probe : script.probes)
        for_each_expr(probe, [this](const Expr& expr) {
            for (const Expr* const map : maps_emptied_by(expr)) {
                emptied_.insert(map->text);
                if (find_function(expr.text)->function != Fn::zero) deleted_.insert(map->text);
            }
        });
    const auto count = [this](const auto& node, bool is_unrolled) {
        if constexpr (std::is_same_v<std::decay_t<decltype(node)>, Stmt>)
            if (const Expr* const map = map_added_to(node)) adds_[map->text] += is_unrolled ? 2 : 1;
    };
    const auto is_unrolled = [](const Stmt& stmt) { return stmt.kind == Stmt::Kind::unroll; };
    for (const Instance& instance : typed.instances)
        InsideOfLoops(is_unrolled, count).walk(*instance.probe);
    note_uses();
}

// Each use of a map but those that add to it, and those that ask the reader to print or clear it.
void ScriptCode::note_uses() {
    std::map<std::string, std::size_t> uses, others;
    const auto is_map = [](const ExprPtr& expr) { return expr && expr->kind == Expr::Kind::map; };
    for (const Probe& probe : script_.probes) {
        for_each_expr(probe, [&](const Expr& expr) {
            if (expr.kind == Expr::Kind::map) ++uses[expr.text];
            const FunctionRow* const row =
                expr.kind == Expr::Kind::call ? find_function(expr.text) : nullptr;
            if (!row || expr.operands.empty() || !is_map(expr.operands[0])) return;
            const Expr& map = *expr.operands[0];
            const bool is_whole = map.operands.empty();
            const TypedMap* const of = typed_.find_map(map.text);
            const bool is_entry = of && of->value && of->value->is_aggregation();
            if (row->function == Fn::clear || row->function == Fn::zero ||
                (row->function == Fn::print && (is_whole || is_entry)))
                ++others[map.text];
        });
        for_each_stmt(probe.body, [&](const Stmt& stmt) {
            if (const Expr* const map = map_added_to(stmt)) ++others[map->text];
        });
    }
    for (const auto& [map, count] : uses)
        if (count != others[map]) looked_at_.insert(map);
}

bool ScriptCode::is_only_added_to(const TypedMap& map) const {
    constexpr Kind kKinds[] = {Kind::integer, Kind::count, Kind::sum,  Kind::avg,
                               Kind::stats,   Kind::hist,  Kind::lhist};
    const bool is_word = !map.value->is(Kind::integer) || map.value->bytes == kWord;
    return !looked_at_.contains(map.name) && is_word &&
           std::ranges::any_of(kKinds, [&](Kind kind) { return map.value->is(kind); });
}

bool ScriptCode::is_added_to_once(const TypedMap& map) const {
    const auto adds = adds_.find(map.name);
    return adds != adds_.end() && adds->second == 1;
}

bool ScriptCode::is_always_there(const TypedMap& map) const {
    if (map.is_keyed) return false;
    return options_.types.is_old ? map.value->is(Kind::count) : !deletes(map.name);
}

bool ScriptCode::has_address(const TypedMap& map) const {
    const Type& value = *map.value;
    const bool is_one_value = value.is_scalar() || (value.is_aggregation() && !value.has_slots() &&
                                                    !value.is(Kind::tseries));
    return !map.is_keyed && is_one_value && is_always_there(map) && !deletes(map.name);
}

const MapDeclaration& ScriptCode::map(const TypedMap& map) {
    const std::string name = gpufs::cat('@', map.name);
    if (const MapDeclaration* known = program().find_map(name)) return *known;
    const Type& value = *map.value;
    MapDeclaration made;
    made.name = name;
    made.type = map.type;
    made.key =
        Layout::of("key", raw_bytes_value(map.key ? align_up(map.key->bytes, kWord) : kWord));
    made.max_entries = map.is_keyed ? map.entries : 1;
    made.at = map.at;
    if (has_address(map)) {
        made.type = BPF_MAP_TYPE_ARRAY;
        made.is_global = true;
        made.key = Layout::of("key", integer_value(sizeof(std::uint32_t)));
    }
    if (value.is(Kind::tseries)) {
        made.key.add("slot", ValueType{});
        made.value = Layout::of("value", raw_bytes_value(value.bytes));
        made.max_entries =
            std::clamp<std::uint64_t>(made.max_entries * value.count, value.count,
                                      std::max<std::uint64_t>(value.count, kMostSeriesElements));
        program().maps.push_back(made);
    } else if (value.is_aggregation()) {
        made.aggregation = aggregation_of(value);
        ValueType number;
        number.is_signed = value.is_signed;
        made.value.add("value", number);
        if (is_array_of_slots(map)) {
            made.type = BPF_MAP_TYPE_ARRAY;
            made.key = Layout::of("slot", integer_value(sizeof(std::uint32_t)));
            made.max_entries = value.slots();
        } else if (value.is_histogram()) {
            made.key.add("slot", ValueType{});
            made.max_entries = map.is_keyed ? made.max_entries * kSlotsOfKey : value.slots();
        }
        program().maps.push_back(made);
    } else {
        made.value = Layout::of("value", raw_bytes_value(align_up(value.bytes, kWord)));
        program().maps.push_back(made);
    }
    MapDeclaration& declared = *std::ranges::find(program().maps, name, &MapDeclaration::name);
    if (map.key) note_stacks(declared.key, *map.key);
    if (!value.is_aggregation()) note_stacks(declared.value, value);
    return declared;
}

std::string ScriptCode::add_function_of(const TypedMap& map) {
    const MapDeclaration declared = added_to(map);
    std::string name = add_function(declared);
    if (!program().find_subprogram(name))
        AggregateFunctions(program()).define(declared, {kWord, false});
    return name;
}

MapDeclaration ScriptCode::added_to(const TypedMap& map) {
    MapDeclaration declared = this->map(map);
    if (declared.aggregation.kind == Aggregation::Kind::none)
        declared.aggregation.kind = Aggregation::Kind::sum;
    return declared;
}

std::string ScriptCode::fetch_function_of(const TypedMap& map) {
    return define_fetch(program(), added_to(map), {kWord, false});
}

std::string ScriptCode::refused_of_map(const TypedMap& map) {
    const MapDeclaration declared = this->map(map);
    declare_refused(program(), declared);
    return refused_of(declared);
}

ir::Temp ScriptCode::append_slot(ir::Code& code, const TypedMap& map, ir::Temp value) {
    const ir::Temp slot = code.new_temp(ir::kU64);
    if (map.value->is(Kind::hist))
        append_hist_slot(code, value, slot, map.value->bits);
    else
        append_lhist_slot(code, value, slot, *map.value);
    return slot;
}

std::string ScriptCode::slot_function_of(const TypedMap& map) {
    std::string name = gpufs::cat("slot.", map.name);
    if (program().find_subprogram(name)) return name;
    ir::Code code;
    const ir::Temp value = code.argument(1);
    code.set_source(map.at);
    code.leave(append_slot(code, map, value));
    Subprogram function;
    function.name = name;
    function.code = code.assemble();
    function.at = map.at;
    program().subprograms.push_back(std::move(function));
    return name;
}

std::string ScriptCode::stack_function_of(const Type& stack) {
    if (const MapDeclaration* known = program().find_map(stack.map)) return stack_function(*known);
    // A kernel stack may begin with functions of the probe, which the reader leaves out.
    constexpr std::size_t kOfProbe = 8;
    const bool is_kernel = stack.is(Type::Kind::kernel_stack);
    declare_stacks(program(), stack.map, kStacks,
                   std::min(Type::kMostFrames, stack.frames + (is_kernel ? kOfProbe : 0)));
    return stack_function(*program().find_map(stack.map));
}

std::string ScriptCode::depth_function_of(const Type& stack) {
    stack_function_of(stack);
    const MapDeclaration map = *program().find_map(stack.map);
    return depth_function(program(), map);
}

std::string ScriptCode::send_function() {
    if (program().find_subprogram(kSend)) return kSend;
    MapDeclaration ring;
    ring.name = kRing;
    ring.type = BPF_MAP_TYPE_RINGBUF;
    ring.or_perf_ring = true;
    ring.max_entries = options_.ring_bytes;
    program().maps.push_back(std::move(ring));
    declare_loss(program(), kUnsent, "records, the ring is full (perf_rb_pages is its size)");
    Subprogram function;
    function.name = kSend;
    for (const bool has_ring : {true, false}) {
        ir::Code code;
        const ir::Temp context = code.argument(1), record = code.argument(2),
                       bytes = code.argument(3);
        const ir::Temp map = code.symbol(Relocation::to(Relocation::Kind::map, kRing));
        if (has_ring) {
            const ir::Label done = code.new_label();
            const ir::Temp result = code.call(BPF_FUNC_ringbuf_output, {map, record, bytes, 0});
            code.branch(ir::Cmp::eq, ir::kS64, result, 0, done);
            append_loss(code, kUnsent);
            code.bind(done);
            code.leave(result);
        } else {
            // The kernel counts the losses.
            code.leave(code.call(
                BPF_FUNC_perf_event_output,
                {context, map, static_cast<std::uint64_t>(BPF_F_CURRENT_CPU), record, bytes}));
        }
        append_guarded(function.code, code.assemble(has_ring ? ".a" : ".b"),
                       feature_guard(program(), "ringbuf", has_ring, {}));
    }
    program().subprograms.push_back(std::move(function));
    return kSend;
}

std::string ScriptCode::claim_function() {
    if (program().find_subprogram(kClaimFrame)) return kClaimFrame;
    declare_loss(program(), "frames_busy", "hits of probes that found no memory of their own");
    Subprogram function;
    function.name = kClaimFrame;
    for (const bool has_atomics : {true, false}) {
        ir::Code code;
        const ir::Label none = code.new_label();
        code.leave(append_claim(code, kFrames, has_atomics, none));
        code.bind(none);
        append_loss(code, "frames_busy");
        code.leave(0);
        append_guarded(function.code, code.assemble(has_atomics ? ".a" : ".b"),
                       feature_guard(program(), "atomics", has_atomics, {}));
    }
    program().subprograms.push_back(std::move(function));
    return kClaimFrame;
}

const char* ScriptCode::child_map() {
    if (program().find_map(kChildMap)) return kChildMap;
    program().maps.push_back(global_of(kChildMap, kWord));
    return kChildMap;
}

const char* ScriptCode::exit_map() {
    if (!program().find_map(kExitMap)) program().maps.push_back(global_of(kExitMap, kWord));
    return kExitMap;
}

const char* ScriptCode::zeros(std::size_t bytes) {
    zero_bytes_ = std::max(zero_bytes_, align_up(bytes, kWord));
    return kZeros;
}

std::string ScriptCode::add_record(SentRecord record) {
    record.name = gpufs::cat("record", made_.records.size());
    RecordLayout layout;
    layout.name = record.name;
    ValueType id;
    id.bytes = sizeof(std::uint32_t);
    layout.layout.add("id", id);
    if (record.bytes > sizeof(std::uint32_t)) {
        ValueType rest;
        rest.kind = ValueType::Kind::raw_bytes;
        rest.bytes = record.bytes - sizeof(std::uint32_t);
        layout.layout.add("values", rest);
    }
    for (const SentValue& value : record.values)
        note_stacks(layout.layout, *value.type, value.offset);
    layout.at = record.at;
    program().records.push_back(std::move(layout));
    std::string name = record.name;
    made_.records.push_back(std::move(record));
    return name;
}

std::uint32_t ScriptCode::add_format(const std::string& format) {
    const auto found = std::ranges::find(made_.formats, format);
    if (found != made_.formats.end())
        return static_cast<std::uint32_t>(found - made_.formats.begin());
    made_.formats.push_back(format);
    return static_cast<std::uint32_t>(made_.formats.size() - 1);
}

std::uint64_t ScriptCode::add_name(const std::string& name) {
    const std::uint64_t number = function_cookie(name);
    made_.names.emplace(number, name);
    return number;
}

std::string ScriptCode::new_function_name(const char* stem) {
    return gpufs::cat(stem, functions_++);
}

void ScriptCode::finish() {
    if (zero_bytes_ != 0) {
        program().maps.push_back(global_of(kZeros, zero_bytes_));
    }
    if (frame_bytes_ != 0) declare_frames();
}

void ScriptCode::declare_frames() {
    if (frame_bytes_ > kMostFrameBytes)
        throw UsageError(gpufs::cat("the values of one probe take ", frame_bytes_,
                                    " bytes of memory; ", kMostFrameBytes, " are the most"),
                         "max_strlen in the config block makes texts shorter");
    program().maps.push_back(scratch_map(kFrames, frame_bytes_));
}

}  // namespace gpufs::bt
