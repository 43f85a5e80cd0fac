#include "base/cat.h"
#include "bt/code/script_code.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/feature_guard.h"

// Time series: a value for each of the last intervals.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr const char* kLate = "series_late";
constexpr int kMostTries = 8;  // of putting in an extreme; each failure is another program's

// The function that adds a value to the interval of a time: arguments: the key's address, with room
// for the slot behind it, the value, the time in ns.
class SeriesWriter {
public:
    SeriesWriter(const MapDeclaration& map, const Type& type, bool has_atomics)
        : map_(map), type_(type), has_atomics_(has_atomics) {}

    std::vector<CodeItem> write(std::string_view label_prefix) {
        const ir::Temp key = code_.argument(1), value = code_.argument(2), now = code_.argument(3);
        const ir::Temp epoch = code_.compute(ir::Op::div, ir::kU64, now, type_.step);
        const auto slot_at = static_cast<std::int64_t>(map_.key.find("slot")->offset);
        code_.store({key, slot_at}, code_.compute(ir::Op::mod, ir::kU64, epoch, type_.count),
                    ir::kU64);
        const ir::Temp entry = find_or_make(key);
        begin_interval(entry, epoch);
        add(entry, value);
        code_.leave(0);
        return code_.assemble(label_prefix);
    }

private:
    ir::Temp lookup(ir::Temp key) { return code_.call(BPF_FUNC_map_lookup_elem, {map(), key}); }
    ir::Temp map() { return code_.symbol(Relocation::to(Relocation::Kind::map, map_.name)); }

    ir::Temp find_or_make(ir::Temp key) {
        const ir::Temp entry = code_.new_temp(ir::kU64);
        const ir::Label found = code_.new_label();
        code_.assign(entry, lookup(key));
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, found);
        const ir::Slot zeros = code_.new_slot(type_.bytes);
        for (std::size_t at = 0; at < type_.bytes; at += kWord)
            code_.store({zeros, static_cast<std::int64_t>(at)}, 0, ir::kU64);
        code_.call(BPF_FUNC_map_update_elem,
                   {map(), key, code_.address(zeros), static_cast<int>(BPF_NOEXIST)});
        code_.assign(entry, lookup(key));
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, found);
        append_loss(code_, refused_of(map_));
        code_.leave(0);
        code_.bind(found);
        return entry;
    }

    // While one program empties the element, its epoch is larger than any: what others add
    // meanwhile is lost, and counted.
    void begin_interval(ir::Temp entry, ir::Temp epoch) {
        const ir::Label is_current = code_.new_label(), is_late = code_.new_label(),
                        is_new = code_.new_label();
        const ir::Temp old = code_.load({entry, 0}, ir::kU64);
        code_.branch(ir::Cmp::eq, ir::kU64, old, epoch, is_current);
        code_.branch(ir::Cmp::gt, ir::kU64, old, epoch, is_late);
        if (has_atomics_) {
            const ir::Temp seen = code_.compare_exchange({entry, 0}, old, kSignBit, ir::kU64);
            code_.branch(ir::Cmp::eq, ir::kU64, seen, old, is_new);
        } else {
            code_.jump(is_new);
        }
        code_.bind(is_late);
        append_loss(code_, kLate);
        code_.leave(0);
        code_.bind(is_new);
        for (std::size_t at = kWord; at < type_.bytes; at += kWord)
            code_.store({entry, static_cast<std::int64_t>(at)}, 0, ir::kU64);
        code_.store({entry, 0}, epoch, ir::kU64);
        code_.bind(is_current);
    }

    void add(ir::Temp entry, ir::Temp value) {
        const ir::Place first{entry, kWord}, second{entry, 2 * kWord};
        switch (type_.element->kind) {
            case Kind::sum:
                return code_.atomic(AtomicOp::add, first, value, ir::kU64);
            case Kind::avg:
                code_.atomic(AtomicOp::add, second, value, ir::kU64);
                return code_.atomic(AtomicOp::add, first, 1, ir::kU64);
            case Kind::min:
            case Kind::max:
                raise(first, value, type_.element->is(Kind::min));
                return code_.store(second, 1, ir::kU64);
            default:
                return code_.store(first, value, ir::kU64);
        }
    }

    // An extreme, as Aggregation keeps it: a number that only grows.
    void raise(const ir::Place& place, ir::Temp value, bool is_least) {
        const std::uint64_t flipped = extreme_mask(type_.is_signed, is_least);
        const ir::Temp grown = code_.compute(ir::Op::bit_xor, ir::kU64, value, flipped);
        const ir::Label done = code_.new_label();
        const ir::Temp seen = code_.new_temp(ir::kU64);
        code_.assign(seen, code_.load(place, ir::kU64));
        for (int i = 0; i < (has_atomics_ ? kMostTries : 1); ++i) {
            code_.branch(ir::Cmp::le, ir::kU64, grown, seen, done);
            if (!has_atomics_) {
                code_.store(place, grown, ir::kU64);
                continue;
            }
            const ir::Temp found = code_.compare_exchange(place, seen, grown, ir::kU64);
            code_.branch(ir::Cmp::eq, ir::kU64, found, seen, done);
            code_.assign(seen, found);
        }
        if (has_atomics_) append_loss(code_, kLate);
        code_.bind(done);
    }

    const MapDeclaration& map_;
    const Type& type_;
    bool has_atomics_;
    ir::Code code_;
};

}  // namespace

std::string ScriptCode::series_function_of(const TypedMap& map) {
    std::string name = gpufs::cat("series.", map.name);
    if (program().find_subprogram(name)) return name;
    const MapDeclaration declared = this->map(map);
    refused_of_map(map);
    if (!program().find_map(kLate))
        declare_loss(program(), kLate, "values of time series, while an interval began");
    Subprogram function;
    function.name = name;
    function.at = map.at;
    for (const bool has_atomics : {true, false}) {
        const std::size_t guard = feature_guard(program(), "atomics", has_atomics, map.at);
        for (CodeItem& item :
             SeriesWriter(declared, *map.value, has_atomics).write(has_atomics ? ".a" : ".b")) {
            item.guard = guard;
            function.code.push_back(std::move(item));
        }
    }
    program().subprograms.push_back(std::move(function));
    return name;
}

}  // namespace gpufs::bt
