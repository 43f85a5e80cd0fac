#include "lang/ir/stack_map.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/cat.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/feature_guard.h"
#include "lang/ir/hash.h"
#include "lang/ir/ir.h"
#include "lang/ir/scratch.h"

namespace gpufs {
namespace {

constexpr std::size_t kFrameBytes = 8;
// Scratch memory of a CPU, for each stack: whether it is in use; then what becomes the map's value.
constexpr std::int64_t kHashAt = kFrameBytes, kFramesAt = 2 * kFrameBytes;
constexpr std::uint64_t kIdBits = 0x7fffffff;
// How many ids are tried. Of a million stacks one in 2,000 does not have the first one.
constexpr int kTries = 4;
// Whole frames, below 64 KB.
constexpr std::uint64_t kBytesMask = 0xfff8;
constexpr std::uint64_t kFlags = BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK;

std::string scratch_of(const MapDeclaration& map) {
    return cat(map.name, ".scratch");
}

// The code of a map's function on one kind of kernel.
class StackWriter {
public:
    // `user_function`: UserStackWay's; empty: the kernel takes them.
    StackWriter(const MapDeclaration& map, std::string user_function)
        : map_(map),
          user_function_(std::move(user_function)),
          context_(code_.argument(1)),
          flags_(code_.argument(2)),
          back_(map.has_callers ? ir::Operand(code_.argument(3)) : ir::Operand(0)) {
        code_.set_source(map.at);
    }

    std::vector<CodeItem> write_fallback(std::string_view labels) {
        code_.leave(code_.call(BPF_FUNC_get_stackid, {context_, map_address(map_.name), flags_}));
        return code_.assemble(labels);
    }

    std::vector<CodeItem> write(std::string_view labels, bool has_atomics) {
        const ir::Label refuse = code_.new_label(), release = code_.new_label();
        result_ = code_.new_temp(ir::kS64);
        const ir::Temp scratch = append_claim(code_, scratch_of(map_), has_atomics, refuse);
        const ir::Temp bytes = take_stack(scratch, release);
        const ir::Temp hash = hash_frames(scratch, bytes);
        code_.store({scratch, kHashAt}, hash, ir::kU64);
        keep(scratch, hash, release);
        code_.bind(release);
        append_release(code_, scratch);
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

    ir::Temp look_up(ir::Slot key) {
        return code_.call(BPF_FUNC_map_lookup_elem, {map_address(map_.name), code_.address(key)});
    }

    // How many bytes of frames there are now in the scratch memory; zeros are behind them.
    ir::Temp take_stack(ir::Temp scratch, ir::Label release) {
        const ir::Temp bytes = code_.new_temp(ir::kS64);
        const ir::Temp flags = code_.compute(ir::Op::bit_and, ir::kU64, flags_, kFlags);
        const ir::Label by_kernel = code_.new_label(), is_there = code_.new_label();
        if (!user_function_.empty()) {
            const ir::Label is_refused = code_.new_label();
            const ir::Temp is_user =
                code_.compute(ir::Op::bit_and, ir::kU64, flags_, std::uint64_t{BPF_F_USER_STACK});
            code_.branch(ir::Cmp::eq, ir::kU64, is_user, 0, is_refused);
            // The kernel has to know that this is no more than there is room for.
            code_.assign(bytes,
                         code_.compute(ir::Op::bit_and, ir::kU64,
                                       code_.call(user_function_, {scratch, back_}), kBytesMask));
            code_.branch(ir::Cmp::gt, ir::kU64, bytes, map_.value.bytes, is_refused);
            code_.branch(ir::Cmp::ne, ir::kU64, bytes, 0, is_there);
            code_.bind(is_refused);
        }
        code_.assign(bytes, read_frames(scratch, 0, flags));
        code_.branch(ir::Cmp::gt, ir::kS64, bytes, 0, by_kernel);
        code_.assign(result_.value(), -EFAULT);
        code_.jump(release);
        code_.bind(by_kernel);
        put_caller(scratch, flags, bytes);
        code_.bind(is_there);
        return bytes;
    }

    // Reads frames to behind the first `count` of the scratch memory. Returns their bytes; what is
    // behind them is zero.
    ir::Temp read_frames(ir::Temp scratch, std::size_t count, ir::Temp flags) {
        const std::size_t at = count * kFrameBytes;
        const ir::Temp to = code_.compute(ir::Op::add, ir::kU64, scratch, kFramesAt + at);
        return code_.call(BPF_FUNC_get_stack, {context_, to, map_.value.bytes - at, flags});
    }

    // Puts the caller of a function that begins behind that function, where the kernel left it out:
    // the frames that it finds by frame pointers begin with that one's caller.
    void put_caller(ir::Temp scratch, ir::Temp flags, ir::Temp bytes) {
        constexpr std::size_t kKnown = 2;
        if (!map_.has_callers || map_.value.bytes <= kKnown * kFrameBytes) return;
        const ir::Place second{scratch, kFramesAt + kFrameBytes};
        const ir::Label done = code_.new_label();
        code_.branch(ir::Cmp::eq, ir::kU64, back_, 0, done);
        code_.branch(ir::Cmp::eq, ir::kU64, code_.load(second, ir::kU64), back_, done);
        const ir::Temp others = code_.convert(
            read_frames(scratch, kKnown, code_.compute(ir::Op::add, ir::kU64, flags, 1)), ir::kS64);
        code_.store(second, back_, ir::kU64);
        code_.assign(bytes, kKnown * kFrameBytes);
        code_.branch(ir::Cmp::le, ir::kS64, others, 0, done);
        code_.assign(bytes, code_.compute(ir::Op::add, ir::kS64, others, kKnown * kFrameBytes));
        code_.bind(done);
    }

    ir::Temp hash_frames(ir::Temp scratch, ir::Temp bytes) {
        const ir::Temp hash = code_.new_temp(ir::kU64), at = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label();
        code_.assign(hash, bytes);
        code_.assign(at, 0);
        code_.bind(again);
        const ir::Temp place = code_.compute(ir::Op::add, ir::kU64, scratch, at);
        const ir::Temp frame = code_.load({place, kFramesAt}, ir::kU64);
        append_mix(code_, hash, frame);
        code_.assign(at, code_.compute(ir::Op::add, ir::kU64, at, kFrameBytes));
        // The verifier follows `at`, which it knows, up to the largest number of bytes.
        code_.branch(ir::Cmp::gt, ir::kU64, bytes, at, again);
        return hash;
    }

    // Finds the stack in the map or puts it there.
    void keep(ir::Temp scratch, ir::Temp hash, ir::Label release) {
        const ir::Slot key = code_.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
        const ir::Temp tries = code_.new_temp(ir::kU64), entry = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label(), compare = code_.new_label(),
                        next = code_.new_label(), refused = code_.new_label();
        const ir::Temp id = result_.value();
        code_.assign(id, code_.compute(ir::Op::bit_and, ir::kU64, hash, kIdBits));
        code_.assign(tries, 0);
        code_.bind(again);
        code_.store(key, id, ir::kU32);
        code_.assign(entry, look_up(key));
        code_.branch(ir::Cmp::ne, ir::kU64, entry, 0, compare);
        const ir::Temp value = code_.compute(ir::Op::add, ir::kU64, scratch, kHashAt);
        const ir::Temp status = code_.convert(
            code_.call(BPF_FUNC_map_update_elem, {map_address(map_.name), code_.address(key), value,
                                                  static_cast<int>(BPF_NOEXIST)}),
            ir::kS64);
        code_.branch(ir::Cmp::eq, ir::kS64, status, 0, release);
        code_.branch(ir::Cmp::ne, ir::kS64, status, -EEXIST, refused);
        code_.assign(entry, look_up(key));  // another program was faster
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
    const std::string user_function_;
    ir::Temp context_, flags_;
    ir::Operand back_;
    std::optional<ir::Temp> result_;
};

Subprogram make_function(Program& program, const MapDeclaration& map,
                         const std::string& user_function) {
    Subprogram function;
    function.name = stack_function(map);
    function.at = map.at;
    function.leaves_record_alone = true;
    const std::size_t loops = feature_guard(program, "bounded_loops", true, map.at);
    for (const bool has_atomics : {true, false})
        append_guarded(
            function.code,
            StackWriter(map, user_function).write(has_atomics ? ".a" : ".b", has_atomics),
            feature_guard(program, "atomics", has_atomics, map.at, loops));
    // Where one of these is there, nothing leads here.
    append_guarded(function.code, StackWriter(map, {}).write_fallback(".c"), 0);
    return function;
}

}  // namespace

std::string stack_function(const MapDeclaration& map) {
    return cat("get_stackid.", map.name);
}

void define_stack_function(Program& program, const MapDeclaration& map) {
    program.subprograms.push_back(make_function(program, map, {}));
    program.maps.push_back(scratch_map(scratch_of(map), kFramesAt + map.value.bytes, map.at));
    // Where the map is that of several programs, so is what finds no room in it.
    declare_loss(program, refused_of(map), cat("stacks that found no room in '", map.name, "'"),
                 map.at);
}

std::string depth_function(Program& program, const MapDeclaration& map) {
    std::string name = cat("stack_depth.", map.name);
    if (program.find_subprogram(name)) return name;
    ir::Code code;
    const ir::Temp id = code.argument(1), at = code.new_temp(ir::kU64);
    const ir::Label again = code.new_label(), done = code.new_label();
    const ir::Slot key = code.new_slot(sizeof(std::uint32_t), sizeof(std::uint32_t));
    const ir::Slot depth = code.new_slot(kFrameBytes);
    code.store(depth, 0, ir::kU64);
    code.store(key, id, ir::kU32);
    const ir::Temp entry = code.call(
        BPF_FUNC_map_lookup_elem,
        {code.symbol(Relocation::to(Relocation::Kind::map, map.name)), code.address(key)});
    code.branch(ir::Cmp::eq, ir::kU64, entry, 0, done);
    code.assign(at, 0);
    code.bind(again);
    const ir::Temp frame = code.compute(ir::Op::add, ir::kU64, entry, at);
    code.branch(ir::Cmp::eq, ir::kU64, code.load({frame, kFrameBytes}, ir::kU64), 0, done);
    // Of a sum the verifier would follow each value there may be.
    code.atomic(AtomicOp::add, depth, 1, ir::kU64);
    code.assign(at, code.compute(ir::Op::add, ir::kU64, at, kFrameBytes));
    code.branch(ir::Cmp::lt, ir::kU64, at, map.value.bytes, again);
    code.bind(done);
    code.leave(code.load(depth, ir::kU64));
    Subprogram function;
    function.name = name;
    function.code = code.assemble();
    function.at = map.at;
    program.subprograms.push_back(std::move(function));
    return name;
}

void take_user_stacks(Program& program, const UserStackWay& way) {
    const std::vector<MapDeclaration> maps = program.maps;
    for (const MapDeclaration& map : maps) {
        if (!map.keeps_stacks) continue;
        const std::string name = stack_function(map);
        if (!program.find_subprogram(name)) continue;
        const auto bytes = static_cast<std::int64_t>(kFramesAt + map.value.bytes);
        const std::string function = way.define(program, map, kFramesAt, bytes);
        *std::ranges::find(program.subprograms, name, &Subprogram::name) =
            make_function(program, map, function);
        *std::ranges::find(program.maps, scratch_of(map), &MapDeclaration::name) = scratch_map(
            scratch_of(map), static_cast<std::size_t>(bytes) + way.memory_bytes, map.at);
    }
}

void declare_stacks(Program& program, std::string name, std::uint64_t stacks, std::size_t frames) {
    MapDeclaration map;
    map.name = std::move(name);
    map.type = BPF_MAP_TYPE_STACK_TRACE;
    map.keeps_stacks = true;
    map.key = Layout::of("key", integer_value(sizeof(std::uint32_t)));
    map.value = Layout::of("value", raw_bytes_value(frames * kFrameBytes));
    map.max_entries = stacks;
    program.maps.push_back(map);
    define_stack_function(program, map);
}

}  // namespace gpufs
