#include "lang/ir/aggregate.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/cat.h"
#include "lang/ir/feature_guard.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

constexpr std::int64_t kWord = 8;
// How often a compare-and-exchange is tried. Each failure is another program's larger extreme: of
// one that interrupts on the same CPU, or of another CPU.
constexpr int kTriesOnCpu = 4, kTriesOnAll = 32;

bool has_extremes(const Aggregation& how) {
    return how.kind == Kind::min || how.kind == Kind::max || how.kind == Kind::stats ||
           how.is_histogram();
}

ir::Temp loss_counter(ir::Code& code, const std::string& name) {
    return code.symbol(Relocation::to(Relocation::Kind::map_value, name));
}

// Has an index that can be too large.
bool has_indexes(const MapDeclaration& map) {
    return map.is_array() && (map.max_entries != 1 || !map.max_parameter.empty());
}

// The code that adds a value to a map.
class AggregateWriter {
public:
    AggregateWriter(ir::Code& code, const MapDeclaration& map, const AggregateKey& key,
                    ir::Operand value, bool has_atomics)
        : code_(code),
          map_(map),
          how_(map.aggregation),
          key_(key),
          has_atomics_(has_atomics),
          value_(value),
          type_{8, map.aggregation.is_signed} {}

    // To the element of a key or an index.
    void add_at(ir::Temp key) {
        const ir::Label done = code_.new_label(), add = code_.new_label(),
                        refused = code_.new_label();
        const ir::Temp entry = find_or_create(key, add, refused);
        code_.bind(refused);
        const bool can_refuse = !map_.is_array() || has_indexes(map_);
        if (can_refuse && adds_one()) {
            code_.assign(entry, loss_counter(code_, refused_of(map_)));
        } else {
            if (can_refuse) append_loss(code_, refused_of(map_));
            code_.jump(done);
        }
        code_.bind(add);
        add_to(entry);
        code_.bind(done);
    }

    // To the value of a map that has an address.
    void add_to_value() { add_to(value_address()); }

    // Adds to a sum, and leaves the function with what it was before.
    void fetch_at(ir::Temp key) {
        const ir::Label found = code_.new_label(), refused = code_.new_label();
        const ir::Temp entry = find_or_create(key, found, refused);
        code_.bind(refused);
        append_loss(code_, refused_of(map_));
        code_.leave(0);
        code_.bind(found);
        fetch(entry);
    }
    void fetch_value() { fetch(value_address()); }

private:
    // Where the element of a key or an index is; goes on at `refused` or behind it where it has no
    // room.
    ir::Temp find_or_create(ir::Temp key, ir::Label found, ir::Label refused) {
        const ir::Temp address = map_.is_array() ? index_at(key, refused) : key_at(key);
        const ir::Temp entry = code_.new_temp(ir::kU64);
        const auto find = [&] {
            code_.assign(entry, look_up(address));
            code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, found);
        };
        find();
        if (!map_.is_array()) {
            create(address);
            find();
        }
        return entry;
    }

    void fetch(ir::Temp sum) {
        if (has_atomics_) {
            code_.leave(code_.fetch(AtomicOp::fetch_add, {sum, 0}, value_, ir::kU64));
        } else {
            const ir::Temp before = code_.load({sum, 0}, ir::kU64);
            code_.atomic(AtomicOp::add, {sum, 0}, value_, ir::kU64);
            code_.leave(before);
        }
    }

    ir::Temp value_address() {
        return code_.symbol(Relocation::to(Relocation::Kind::map_value, map_.name));
    }

    // All that it does to an element is to add 1 to its first word, as to a counter of losses.
    bool adds_one() const {
        return (how_.kind == Kind::count || how_.kind == Kind::sum) && !value_.temp() &&
               value_.number() == 1;
    }

    ir::Temp map_address() {
        return code_.symbol(Relocation::to(Relocation::Kind::map, map_.name));
    }

    ir::Temp look_up(ir::Temp key) {
        return code_.call(BPF_FUNC_map_lookup_elem, {map_address(), key});
    }

    // An entry of zeros, unless another program is faster.
    void create(ir::Temp key) {
        const ir::Slot zeros = code_.new_slot(how_.bytes());
        for (std::size_t at = 0; at < how_.bytes(); at += kWord)
            code_.store({zeros, static_cast<std::int64_t>(at)}, 0, ir::kU64);
        code_.call(BPF_FUNC_map_update_elem,
                   {map_address(), key, code_.address(zeros), static_cast<int>(BPF_NOEXIST)});
    }

    // Where the index of the element is, on the stack.
    ir::Temp index_at(ir::Temp index, ir::Label refused) {
        ir::Operand element = index;
        if (has_indexes(map_)) code_.branch(ir::Cmp::ge, ir::kU64, index, entries(), refused);
        if (how_.is_histogram()) {
            if (map_.is_per_cpu()) {
                const ir::Temp cpu = code_.call(BPF_FUNC_get_smp_processor_id, {});
                element =
                    has_indexes(map_)
                        ? code_.compute(ir::Op::add, ir::kU64,
                                        code_.compute(ir::Op::mul, ir::kU64, cpu, entries()), index)
                        : cpu;
            }
            const ir::Temp first = code_.compute(ir::Op::mul, ir::kU64, element,
                                                 static_cast<std::int64_t>(how_.buckets()));
            element = code_.compute(ir::Op::add, ir::kU64, first, bucket());
        }
        const ir::Slot slot = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        code_.store(slot, element, ir::kU32);
        return code_.address(slot);
    }

    ir::Operand entries() {
        if (map_.max_parameter.empty()) return map_.max_entries;
        return code_.symbol(Relocation::to(Relocation::Kind::parameter, map_.max_parameter));
    }

    // Where the whole key is.
    ir::Temp key_at(ir::Temp given) {
        if (!how_.is_histogram()) return given;
        const std::size_t end = map_.bucket_at();
        ir::Temp tail = bucket();
        tail = code_.compute(ir::Op::shl, ir::kU64, tail, 16);
        if (map_.is_per_cpu()) {
            const ir::Temp cpu = code_.call(BPF_FUNC_get_smp_processor_id, {});
            tail = code_.compute(ir::Op::bit_or, ir::kU64, tail, cpu);
        }
        const auto at = static_cast<std::int64_t>(end);
        if (key_.has_room) {
            code_.store({given, at}, tail, ir::kU32);
            return given;
        }
        const ir::Slot whole = code_.new_slot(end + sizeof(std::uint32_t));
        for (std::size_t from = 0; from < end;) {
            const std::size_t left = map_.key.bytes - std::min(map_.key.bytes, from);
            std::size_t bytes = std::min<std::size_t>(key_.alignment, kWord);
            while (bytes > std::max<std::size_t>(left, 1)) bytes /= 2;
            const ir::Type type{static_cast<std::uint8_t>(bytes), false};
            const auto offset = static_cast<std::int64_t>(from);
            const ir::Operand part =
                left == 0 ? ir::Operand(0) : ir::Operand(code_.load({given, offset}, type));
            code_.store({whole, offset}, part, type);
            from += bytes;
        }
        code_.store({whole, at}, tail, ir::kU32);
        return code_.address(whole);
    }

    // Extremes come first and the count last: who reads an entry in between, in this order, sees
    // extremes that belong to what is counted.
    void add_to(ir::Temp entry) {
        const auto add = [&](std::int64_t word, const ir::Operand& value) {
            code_.atomic(AtomicOp::add, {entry, word * kWord}, value, ir::kU64);
        };
        switch (how_.kind) {
            case Kind::none:
                throw std::logic_error("a map of data is no aggregation");
            case Kind::count:
            case Kind::sum:
                return add(0, value_);
            case Kind::avg:
                add(1, value_);
                return add(0, 1);
            case Kind::min:
            case Kind::max:
                raise(entry, 0, how_.kind == Kind::min);
                return code_.store({entry, kWord}, 1, ir::kU64);
            case Kind::stats:
            case Kind::log2:
            case Kind::log_linear:
            case Kind::linear:
                raise(entry, 2, true);
                raise(entry, 3, false);
                add(1, value_);
                return add(0, 1);
        }
    }

    // Puts the value into the word while it is further than what is there.
    void raise(ir::Temp entry, std::int64_t word, bool is_least) {
        const ir::Place place{entry, word * kWord};
        const std::uint64_t flipped = extreme_mask(type_.is_signed, is_least);
        const ir::Operand value =
            flipped == 0 ? value_ : code_.compute(ir::Op::bit_xor, ir::kU64, value_, flipped);
        const ir::Label again = code_.new_label(), better = code_.new_label(),
                        done = code_.new_label();
        const ir::Temp seen = code_.new_temp(ir::kU64), tries = code_.new_temp(ir::kU64);
        code_.assign(seen, code_.load(place, ir::kU64));
        code_.assign(tries, 0);
        code_.bind(again);
        code_.branch(ir::Cmp::gt, ir::kU64, value, seen, better);
        code_.jump(done);
        code_.bind(better);
        if (has_atomics_) {
            const ir::Temp found = code_.compare_exchange(place, seen, value, ir::kU64);
            code_.branch(ir::Cmp::eq, ir::kU64, found, seen, done);
            code_.assign(seen, found);
            code_.assign(tries, code_.compute(ir::Op::add, ir::kU64, tries, 1));
            code_.branch(ir::Cmp::lt, ir::kU64, tries,
                         map_.is_per_cpu() ? kTriesOnCpu : kTriesOnAll, again);
            append_loss(code_, refused_of(map_));
        } else {
            code_.store(place, value, ir::kU64);
        }
        code_.bind(done);
    }

    ir::Temp bucket() {
        const ir::Temp slot = code_.new_temp(ir::kU64);
        if (how_.kind == Kind::linear)
            linear_bucket(slot);
        else
            power_bucket(slot);
        return slot;
    }

    // bits = how many bits `rest` has beyond its lowest; rest becomes 1, or stays 0. By halves: six
    // steps, whatever the value.
    void count_bits(ir::Temp rest, ir::Temp bits) {
        for (const int half : {32, 16, 8, 4, 2, 1}) {
            const ir::Label is_low = code_.new_label();
            code_.branch(ir::Cmp::lt, ir::kU64, rest, std::uint64_t{1} << half, is_low);
            code_.assign(rest, code_.compute(ir::Op::shr, ir::kU64, rest, half));
            code_.assign(bits, code_.compute(ir::Op::add, ir::kU64, bits, half));
            code_.bind(is_low);
        }
    }

    // Below 2^sub_bits the value itself. Above, every power of two has 2^sub_bits buckets: the bits
    // behind the first say which.
    void power_bucket(ir::Temp slot) {
        const unsigned sub_bits = how_.bucket_bits();
        const std::int64_t each = std::int64_t{1} << sub_bits;
        const ir::Label done = code_.new_label();
        code_.assign(slot, 0);
        code_.branch(ir::Cmp::le, type_, value_, 0, done);
        code_.assign(slot, value_);
        code_.branch(ir::Cmp::lt, ir::kU64, slot, each, done);
        const ir::Temp rest = code_.new_temp(ir::kU64), bits = code_.new_temp(ir::kU64);
        code_.assign(rest, value_);
        code_.assign(bits, 0);
        count_bits(rest, bits);
        const ir::Temp power = code_.compute(ir::Op::sub, ir::kU64, bits, sub_bits);
        // value >> power has sub_bits + 1 bits: a number from `each` to 2 * each - 1.
        const ir::Temp leading = code_.compute(ir::Op::shr, ir::kU64, value_, power);
        const ir::Temp before = code_.compute(ir::Op::shl, ir::kU64, power, sub_bits);
        code_.assign(slot, code_.compute(ir::Op::add, ir::kU64, before, leading));
        code_.bind(done);
    }

    void linear_bucket(ir::Temp slot) {
        const Aggregation& how = how_;
        const auto last = static_cast<std::int64_t>(how.buckets()) - 1;
        const ir::Label done = code_.new_label();
        code_.assign(slot, 0);
        // An unsigned value is never below a negative bound.
        if (type_.is_signed || how.low > 0) code_.branch(ir::Cmp::lt, type_, value_, how.low, done);
        code_.assign(slot, last);
        if (type_.is_signed || how.high > 0)
            code_.branch(ir::Cmp::ge, type_, value_, how.high, done);
        else
            code_.jump(done);
        const ir::Temp above = code_.compute(ir::Op::sub, ir::kU64, value_, how.low);
        const ir::Temp step = code_.compute(ir::Op::div, ir::kU64, above, how.step);
        code_.assign(slot, code_.compute(ir::Op::add, ir::kU64, step, 1));
        code_.bind(done);
    }

    ir::Code& code_;
    const MapDeclaration& map_;
    const Aggregation& how_;
    const AggregateKey& key_;
    bool has_atomics_;
    ir::Operand value_;
    ir::Type type_;  // of the value
};

enum class Gives { nothing, what_was_before };

// A map's function.
std::vector<CodeItem> function_code(const MapDeclaration& map, const AggregateKey& key,
                                    bool has_atomics, std::string_view labels,
                                    Gives gives = Gives::nothing) {
    ir::Code code;
    code.set_source(map.at);
    unsigned arguments = 0;
    std::optional<ir::Temp> at;
    if (!map.is_global) at = code.argument(++arguments);
    const ir::Operand value = map.aggregation.kind == Kind::count
                                  ? ir::Operand(1)
                                  : ir::Operand(code.argument(++arguments));
    AggregateWriter writer(code, map, key, value, has_atomics);
    if (gives == Gives::what_was_before) {
        at ? writer.fetch_at(*at) : writer.fetch_value();
    } else {
        at ? writer.add_at(*at) : writer.add_to_value();
        code.leave(0);
    }
    return code.assemble(labels);
}

// The same in two ways, for kernels with atomics that give what was there before, and without.
std::vector<CodeItem> code_by_atomics(Program& program, const MapDeclaration& map,
                                      const AggregateKey& key, Gives gives = Gives::nothing) {
    std::vector<CodeItem> code;
    for (const bool has_atomics : {true, false})
        append_guarded(code, function_code(map, key, has_atomics, has_atomics ? ".a" : ".b", gives),
                       feature_guard(program, "atomics", has_atomics, map.at));
    return code;
}

// Would the functions of both be the same, but for the names of the maps?
bool is_alike(const MapDeclaration& a, const AggregateKey& a_key, const MapDeclaration& b,
              const AggregateKey& b_key) {
    if (a.type != b.type || a.aggregation != b.aggregation || a.is_global != b.is_global)
        return false;
    if (a.is_array()) return a.max_entries == b.max_entries && a.max_parameter == b.max_parameter;
    return !a.aggregation.is_histogram() ||
           (a.key.bytes == b.key.bytes && a_key.alignment == b_key.alignment &&
            a_key.has_room == b_key.has_room);
}

// Makes the code of one map's function that of another map that is alike.
void rename_map(std::vector<CodeItem>& code, const MapDeclaration& from, const MapDeclaration& to) {
    for (CodeItem& item : code) {
        item.at = to.at;
        Relocation& relocation = item.relocation;
        if (relocation.kind == Relocation::Kind::label) relocation.at = to.at;
        if (relocation.kind == Relocation::Kind::map) relocation.name = to.name;
        if (relocation.kind == Relocation::Kind::map_value)
            relocation.name = relocation.name == from.name ? to.name : refused_of(to);
    }
}

}  // namespace

void declare_loss(Program& program, std::string name, std::string what, SourceRef at) {
    MapDeclaration map =
        array_map(std::move(name), BPF_MAP_TYPE_ARRAY, Layout::of("value", integer_value(kWord)));
    map.is_global = true;
    map.loss = std::move(what);
    map.at = at;
    program.maps.push_back(std::move(map));
}

std::string refused_of(const MapDeclaration& map) {
    return cat(map.name, ".refused");
}

void append_loss(ir::Code& code, const std::string& name) {
    code.atomic(AtomicOp::add, {loss_counter(code, name), 0}, 1, ir::kU64);
}

std::string add_function(const MapDeclaration& map) {
    return cat("add.", map.name);
}

void AggregateFunctions::define(const MapDeclaration& map, const AggregateKey& key) {
    Subprogram function;
    function.name = add_function(map);
    function.at = map.at;
    const auto known = std::ranges::find_if(
        made_, [&](const Made& made) { return is_alike(made.map, made.key, map, key); });
    if (known != made_.end()) {
        function.code = program_.subprograms[known->index].code;
        rename_map(function.code, known->map, map);
    } else if (!has_extremes(map.aggregation)) {
        function.code = function_code(map, key, true, ".");
    } else {
        function.code = code_by_atomics(program_, map, key);
    }
    if (known == made_.end()) made_.push_back({map, key, program_.subprograms.size()});
    program_.subprograms.push_back(std::move(function));
    declare_refused(program_, map);
}

std::string define_fetch(Program& program, const MapDeclaration& map, const AggregateKey& key) {
    std::string name = cat("fetch.", map.name);
    if (program.find_subprogram(name)) return name;
    Subprogram function;
    function.name = name;
    function.at = map.at;
    function.code = code_by_atomics(program, map, key, Gives::what_was_before);
    program.subprograms.push_back(std::move(function));
    declare_refused(program, map);
    return name;
}

void declare_refused(Program& program, const MapDeclaration& map) {
    const bool can_refuse = !map.is_array() || has_indexes(map) || has_extremes(map.aggregation);
    if (!can_refuse || program.find_map(refused_of(map))) return;
    declare_loss(program, refused_of(map),
                 map.is_global    ? cat("extremes of '", map.name, "' that others overtook")
                 : map.is_array() ? cat("values for indexes that '", map.name, "' does not have")
                                  : cat("values whose key found no room in '", map.name, "'"));
}

bool adds_without_call(const MapDeclaration& map) {
    return !has_extremes(map.aggregation);
}

void append_add(Program& program, ir::Code& code, const MapDeclaration& map, ir::Temp key,
                const ir::Operand& value) {
    declare_refused(program, map);
    AggregateWriter(code, map, {}, value, true).add_at(key);
}

void append_add_to_value(ir::Code& code, const MapDeclaration& map, const ir::Operand& value) {
    AggregateWriter(code, map, {}, value, true).add_to_value();
}

void declare_aggregation(Program& program, MapDeclaration map) {
    if (map.key.members.empty()) map.key.add("key", integer_value(sizeof(std::uint32_t)));
    if (map.value.members.empty()) {
        ValueType value = integer_value(kWord);
        value.is_signed = map.aggregation.is_signed;
        map.value.add("value", std::move(value));
    }
    program.maps.push_back(map);
    AggregateFunctions(program).define(map, {kWord, true});
}

void append_aggregation(ir::Code& code, const MapDeclaration& map, ir::Slot key,
                        const ir::Operand& value) {
    const ir::Operand at =
        map.is_array() ? ir::Operand(code.load(key, ir::kU32)) : ir::Operand(code.address(key));
    if (map.aggregation.kind == Kind::count)
        code.call(add_function(map), {at});
    else
        code.call(add_function(map), {at, value});
}

}  // namespace gpufs
