#include "lang/ir/aggregate.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/cat.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

constexpr std::int64_t kWord = 8;
// How often a compare-and-exchange is tried: each failure is another program's success.
constexpr int kTries = 64;

Relocation reference(Relocation::Kind kind, std::string name) {
    Relocation relocation;
    relocation.kind = kind;
    relocation.name = std::move(name);
    return relocation;
}

std::string zero_of(const MapDeclaration& map) {
    return cat(map.name, "_zero");
}
std::string refused_of(const MapDeclaration& map) {
    return cat(map.name, "_refused");
}

bool has_extremes(const Aggregation& how) {
    return how.kind == Kind::min || how.kind == Kind::max || how.kind == Kind::stats;
}

ValueType integer(std::size_t bytes) {
    ValueType type;
    type.bytes = bytes;
    return type;
}

class AggregateWriter {
public:
    AggregateWriter(ir::Code& code, const MapDeclaration& map, ir::Slot key,
                    const ir::Operand& value, bool is_signed)
        : code_(code), map_(map), key_(key), value_(value), type_{8, is_signed} {}

    void write() {
        const ir::Label done = code_.new_label(), add = code_.new_label();
        const ir::Temp entry = code_.new_temp(ir::kU64);
        code_.assign(entry, look_up());
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, add);
        if (!map_.is_array()) {
            create(done);
            code_.assign(entry, look_up());
            code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, add);
            append_loss(code_, refused_of(map_));
        }
        code_.jump(done);
        code_.bind(add);
        add_to(entry);
        code_.bind(done);
    }

private:
    ir::Temp look_up() {
        return code_.call(
            BPF_FUNC_map_lookup_elem,
            {code_.symbol(reference(Relocation::Kind::map, map_.name)), code_.address(key_)});
    }

    ir::Temp update(const ir::Operand& value) {
        return code_.call(BPF_FUNC_map_update_elem,
                          {code_.symbol(reference(Relocation::Kind::map, map_.name)),
                           code_.address(key_), value, static_cast<int>(BPF_NOEXIST)});
    }

    // Makes the entry, unless another CPU was faster. An extreme is born with its first value,
    // which is all there is to do then.
    void create(ir::Label done) {
        if (!has_extremes(map_.aggregation)) {
            update(code_.symbol(reference(Relocation::Kind::map_value, zero_of(map_))));
            return;
        }
        const bool is_stats = map_.aggregation.kind == Kind::stats;
        const ir::Slot first = code_.new_slot(map_.aggregation.bytes());
        const auto set = [&](std::int64_t word, const ir::Operand& value) {
            code_.store({first, word * kWord}, value, ir::kU64);
        };
        if (is_stats) {
            set(0, 1);
            for (const std::int64_t word : {1, 2, 3}) set(word, value_);
        } else {
            set(0, value_);
            set(1, 1);
        }
        code_.branch(ir::Cmp::eq, ir::kU64, update(code_.address(first)), 0, done);
    }

    void add_to(ir::Temp entry) {
        const auto add = [&](std::int64_t word, const ir::Operand& value) {
            code_.atomic(AtomicOp::add, {entry, word * kWord}, value, ir::kU64);
        };
        switch (map_.aggregation.kind) {
            case Kind::none:
                throw std::logic_error("a map of data is no aggregation");
            case Kind::count:
                return add(0, 1);
            case Kind::sum:
                return add(0, value_);
            case Kind::avg:
                add(0, 1);
                return add(1, value_);
            case Kind::min:
                return replace(entry, 0, ir::Cmp::lt);
            case Kind::max:
                return replace(entry, 0, ir::Cmp::gt);
            case Kind::stats:
                add(0, 1);
                add(1, value_);
                replace(entry, 2, ir::Cmp::lt);
                return replace(entry, 3, ir::Cmp::gt);
            case Kind::log2:
            case Kind::log_linear:
            case Kind::linear:
                break;
        }
        const ir::Temp slot = code_.new_temp(ir::kU64);
        if (map_.aggregation.kind == Kind::log2) log2_slot(slot);
        if (map_.aggregation.kind == Kind::log_linear) log_linear_slot(slot);
        if (map_.aggregation.kind == Kind::linear) linear_slot(slot);
        add_to_slot(entry, slot);
    }

    // Puts the value into the word while it is less, or greater, than what is there.
    void replace(ir::Temp entry, std::int64_t word, ir::Cmp is_better) {
        const ir::Place place{entry, word * kWord};
        const ir::Label again = code_.new_label(), better = code_.new_label(),
                        done = code_.new_label();
        const ir::Temp seen = code_.new_temp(type_), tries = code_.new_temp(ir::kU64);
        code_.assign(seen, code_.load(place, type_));
        code_.assign(tries, 0);
        code_.bind(again);
        code_.branch(is_better, type_, value_, seen, better);
        code_.jump(done);
        code_.bind(better);
        const ir::Temp found = code_.compare_exchange(place, seen, value_, type_);
        code_.branch(ir::Cmp::eq, type_, found, seen, done);
        code_.assign(seen, found);
        code_.assign(tries, code_.compute(ir::Op::add, ir::kU64, tries, 1));
        code_.branch(ir::Cmp::lt, ir::kU64, tries, kTries, again);
        append_loss(code_, refused_of(map_));
        code_.bind(done);
    }

    void add_to_slot(ir::Temp entry, ir::Temp slot) {
        const ir::Label done = code_.new_label();
        const auto slots = static_cast<std::int64_t>(map_.aggregation.bytes()) / kWord;
        // Never so; the verifier wants to see it.
        code_.branch(ir::Cmp::ge, ir::kU64, slot, slots, done);
        const ir::Temp offset = code_.compute(ir::Op::shl, ir::kU64, slot, 3);
        const ir::Temp place = code_.compute(ir::Op::add, ir::kU64, entry, offset);
        code_.atomic(AtomicOp::add, {place, 0}, 1, ir::kU64);
        code_.bind(done);
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

    // 0 for 0 and less, else the number of bits.
    void log2_slot(ir::Temp slot) {
        const ir::Label done = code_.new_label();
        code_.assign(slot, 0);
        code_.branch(ir::Cmp::le, type_, value_, 0, done);
        const ir::Temp rest = code_.new_temp(ir::kU64);
        code_.assign(rest, value_);
        code_.assign(slot, 1);
        count_bits(rest, slot);
        code_.bind(done);
    }

    // Below 2^sub_bits the value itself. Above, every power of two has 2^sub_bits slots: the bits
    // behind the first say which.
    void log_linear_slot(ir::Temp slot) {
        const unsigned sub_bits = map_.aggregation.sub_bits;
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

    void linear_slot(ir::Temp slot) {
        const Aggregation& how = map_.aggregation;
        const auto last = static_cast<std::int64_t>(how.bytes()) / kWord - 1;
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
    ir::Slot key_;
    ir::Operand value_;
    ir::Type type_;  // of the value
};

}  // namespace

void declare_loss(Program& program, std::string name, std::string what) {
    MapDeclaration map;
    map.name = std::move(name);
    map.type = BPF_MAP_TYPE_ARRAY;
    map.key.add("key", integer(sizeof(std::uint32_t)));
    map.value.add("value", integer(kWord));
    map.max_entries = 1;
    map.is_global = true;
    map.loss = std::move(what);
    program.maps.push_back(std::move(map));
}

void append_loss(ir::Code& code, const std::string& name) {
    const ir::Temp counter = code.symbol(reference(Relocation::Kind::map_value, name));
    code.atomic(AtomicOp::add, {counter, 0}, 1, ir::kU64);
}

void declare_aggregation(Program& program, MapDeclaration map) {
    if (has_extremes(map.aggregation) && map.type != BPF_MAP_TYPE_HASH)
        throw std::logic_error("extremes need a hash map for all CPUs");
    if (map.key.members.empty()) map.key.add("key", integer(sizeof(std::uint32_t)));
    if (map.value.members.empty()) {
        ValueType value = integer(kWord);
        value.is_signed = map.aggregation.is_signed;
        map.value.add("value", std::move(value));
    }
    if (!map.is_array() && !has_extremes(map.aggregation)) {
        MapDeclaration zero;
        zero.name = zero_of(map);
        zero.type = BPF_MAP_TYPE_ARRAY;
        zero.key.add("key", integer(sizeof(std::uint32_t)));
        ValueType bytes = integer(map.aggregation.bytes());
        bytes.kind = ValueType::Kind::raw_bytes;
        zero.value.add("value", std::move(bytes));
        zero.max_entries = 1;
        zero.is_global = true;
        program.maps.push_back(std::move(zero));
    }
    if (!map.is_array())
        declare_loss(program, refused_of(map), cat("keys that found no room in '", map.name, "'"));
    program.maps.push_back(std::move(map));
}

void append_aggregation(ir::Code& code, const MapDeclaration& map, ir::Slot key,
                        const ir::Operand& value, bool is_signed) {
    AggregateWriter(code, map, key, value, is_signed).write();
}

}  // namespace gpufs
