#include "lang/ir/stack_map.h"

#include <cerrno>
#include <utility>

#include "base/cat.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/feature_guard.h"
#include "lang/ir/ir.h"

namespace gpufs {
namespace {

constexpr std::int64_t kFrameBytes = 8;
// Scratch memory of a CPU, for each stack: whether it is in use; then what becomes the map's value.
constexpr std::int64_t kHashAt = kFrameBytes, kFramesAt = 2 * kFrameBytes;
// At a time on a CPU: one of a task, one each of a soft interrupt, an interrupt and an NMI that
// come on top of each other, and some of tasks that were preempted.
constexpr std::int64_t kStacksAtOnce = 8;
// Odd, its bits are evenly spread.
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
constexpr int kHalf = 32;
constexpr std::uint64_t kIdBits = 0x7fffffff;
// How many ids are tried. Of a million stacks one in 2,000 does not have the first one.
constexpr int kTries = 4;
constexpr std::uint64_t kFlags = BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK;

ValueType bytes_of(std::size_t bytes) {
    ValueType type;
    type.kind = ValueType::Kind::raw_bytes;
    type.bytes = bytes;
    return type;
}

std::string scratch_of(const MapDeclaration& map) {
    return cat(map.name, ".scratch");
}

// The code of a map's function on one kind of kernel.
class StackWriter {
public:
    explicit StackWriter(const MapDeclaration& map)
        : map_(map), context_(code_.argument(1)), flags_(code_.argument(2)) {
        code_.set_source(map.at);
    }

    std::vector<CodeItem> write_fallback(std::string_view labels) {
        code_.leave(code_.call(BPF_FUNC_get_stackid, {context_, map_address(map_.name), flags_}));
        return code_.assemble(labels);
    }

    std::vector<CodeItem> write(std::string_view labels, bool has_atomics) {
        const ir::Label refuse = code_.new_label(), release = code_.new_label();
        result_ = code_.new_temp(ir::kS64);
        const ir::Temp scratch = claim_scratch(has_atomics, refuse);
        const ir::Temp bytes = take_stack(scratch, release);
        const ir::Temp hash = hash_frames(scratch, bytes);
        code_.store({scratch, kHashAt}, hash, ir::kU64);
        keep(scratch, hash, release);
        code_.bind(release);
        code_.store({scratch, 0}, 0, ir::kU64);
        code_.leave(result_.value());
        code_.bind(refuse);
        append_loss(code_, refused_of(map_));
        code_.leave(-EBUSY);
        return code_.assemble(labels);
    }

private:
    ir::Temp map_address(std::string name) {
        return code_.symbol(Relocation::to(Relocation::Kind::map, std::move(name)));
    }

    ir::Temp look_up(const std::string& map, ir::Slot key) {
        return code_.call(BPF_FUNC_map_lookup_elem, {map_address(map), code_.address(key)});
    }

    // The first one of this CPU that no other program has in use.
    ir::Temp claim_scratch(bool has_atomics, ir::Label refuse) {
        const ir::Slot index = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        const ir::Temp number = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label(), have = code_.new_label();
        code_.assign(number, 0);
        code_.bind(again);
        code_.store(index, number, ir::kU32);
        const ir::Temp scratch = look_up(scratch_of(map_), index);
        code_.branch(ir::Cmp::eq, ir::kU64, scratch, 0, refuse);
        // Without atomics there is no preemption of programs: a program that comes between load and
        // store has ended before the store.
        const ir::Temp is_used = has_atomics
                                     ? code_.fetch(AtomicOp::xchg, {scratch, 0}, 1, ir::kU64)
                                     : code_.load({scratch, 0}, ir::kU64);
        code_.branch(ir::Cmp::eq, ir::kU64, is_used, 0, have);
        code_.assign(number, code_.compute(ir::Op::add, ir::kU64, number, 1));
        code_.branch(ir::Cmp::lt, ir::kU64, number, kStacksAtOnce, again);
        code_.jump(refuse);
        code_.bind(have);
        if (!has_atomics) code_.store({scratch, 0}, 1, ir::kU64);
        return scratch;
    }

    // How many bytes of frames there are now in the scratch memory; zeros are behind them.
    ir::Temp take_stack(ir::Temp scratch, ir::Label release) {
        const ir::Temp frames = code_.compute(ir::Op::add, ir::kU64, scratch, kFramesAt);
        const ir::Temp bytes = code_.new_temp(ir::kS64);
        code_.assign(bytes, code_.call(BPF_FUNC_get_stack,
                                       {context_, frames, map_.value.bytes,
                                        code_.compute(ir::Op::bit_and, ir::kU64, flags_, kFlags)}));
        const ir::Label is_there = code_.new_label();
        code_.branch(ir::Cmp::gt, ir::kS64, bytes, 0, is_there);
        code_.assign(result_.value(), -EFAULT);
        code_.jump(release);
        code_.bind(is_there);
        return bytes;
    }

    ir::Temp hash_frames(ir::Temp scratch, ir::Temp bytes) {
        const ir::Temp hash = code_.new_temp(ir::kU64), at = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label();
        code_.assign(hash, bytes);
        code_.assign(at, 0);
        code_.bind(again);
        const ir::Temp place = code_.compute(ir::Op::add, ir::kU64, scratch, at);
        const ir::Temp frame = code_.load({place, kFramesAt}, ir::kU64);
        const ir::Temp mixed =
            code_.compute(ir::Op::mul, ir::kU64,
                          code_.compute(ir::Op::bit_xor, ir::kU64, hash, frame), kMultiplier);
        code_.assign(hash, code_.compute(ir::Op::bit_xor, ir::kU64, mixed,
                                         code_.compute(ir::Op::shr, ir::kU64, mixed, kHalf)));
        code_.assign(at, code_.compute(ir::Op::add, ir::kU64, at, kFrameBytes));
        // The verifier follows `at`, which it knows, up to the largest number of bytes.
        code_.branch(ir::Cmp::gt, ir::kU64, bytes, at, again);
        return hash;
    }

    // Finds the stack in the map or puts it there.
    void keep(ir::Temp scratch, ir::Temp hash, ir::Label release) {
        const ir::Temp value = code_.compute(ir::Op::add, ir::kU64, scratch, kHashAt);
        const ir::Slot key = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        const ir::Temp tries = code_.new_temp(ir::kU64), entry = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label(), compare = code_.new_label(),
                        next = code_.new_label(), refused = code_.new_label();
        const ir::Temp id = result_.value();
        code_.assign(id, code_.compute(ir::Op::bit_and, ir::kU64, hash, kIdBits));
        code_.assign(tries, 0);
        code_.bind(again);
        code_.store(key, id, ir::kU32);
        code_.assign(entry, look_up(map_.name, key));
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, compare);
        const ir::Temp status = code_.convert(
            code_.call(BPF_FUNC_map_update_elem, {map_address(map_.name), code_.address(key), value,
                                                  static_cast<int>(BPF_NOEXIST)}),
            ir::kS64);
        code_.branch(ir::Cmp::eq, ir::kS64, status, 0, release);
        code_.branch(ir::Cmp::ne, ir::kS64, status, -EEXIST, refused);
        code_.assign(entry, look_up(map_.name, key));  // another program was faster
        code_.branch(ir::Cmp::eq, ir::kU64, entry, 0, next);
        code_.bind(compare);
        code_.branch(ir::Cmp::eq, ir::kU64, code_.load({entry, 0}, ir::kU64), hash, release);
        code_.bind(next);
        code_.assign(id, code_.compute(ir::Op::add, ir::kU64, id, 1));
        code_.assign(id, code_.compute(ir::Op::bit_and, ir::kU64, id, kIdBits));
        code_.assign(tries, code_.compute(ir::Op::add, ir::kU64, tries, 1));
        code_.branch(ir::Cmp::lt, ir::kU64, tries, kTries, again);
        code_.bind(refused);
        append_loss(code_, refused_of(map_));
        code_.assign(id, -E2BIG);
    }

    ir::Code code_;
    const MapDeclaration& map_;
    ir::Temp context_, flags_;
    std::optional<ir::Temp> result_;
};

void append(std::vector<CodeItem>& to, std::vector<CodeItem> code, std::size_t guard) {
    for (CodeItem& item : code) {
        item.guard = guard;
        to.push_back(std::move(item));
    }
}

}  // namespace

std::string stack_function(const MapDeclaration& map) {
    return cat("get_stackid.", map.name);
}

void define_stack_function(Program& program, const MapDeclaration& map) {
    Subprogram function;
    function.name = stack_function(map);
    function.at = map.at;
    function.leaves_record_alone = true;
    const std::size_t loops = feature_guard(program, "bounded_loops", true, map.at);
    for (const bool has_atomics : {true, false})
        append(function.code, StackWriter(map).write(has_atomics ? ".a" : ".b", has_atomics),
               feature_guard(program, "atomics", has_atomics, map.at, loops));
    // Where one of these is there, nothing leads here.
    append(function.code, StackWriter(map).write_fallback(".c"), 0);
    program.subprograms.push_back(std::move(function));

    MapDeclaration scratch;
    scratch.name = scratch_of(map);
    scratch.type = BPF_MAP_TYPE_PERCPU_ARRAY;
    scratch.key.add("key", [] {
        ValueType index;
        index.bytes = sizeof(std::uint32_t);
        return index;
    }());
    scratch.value.add("value", bytes_of(kFramesAt + map.value.bytes));
    scratch.max_entries = kStacksAtOnce;
    scratch.at = map.at;
    program.maps.push_back(std::move(scratch));
    declare_loss(program, refused_of(map), cat("stacks that found no room in '", map.name, "'"));
}

}  // namespace gpufs
