#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "vm/helper_support.h"
#include "vm/interpreter.h"
#include "vm/vm_state.h"

// Helpers for maps, rings and stacks.
namespace gpufs {
namespace {

using Gap = VmState::Gap;

InterpretedMap& require(Interpreter& program, std::uint64_t handle, bool is_right,
                        const char* what) {
    InterpretedMap* map = program.world().find_map(handle);
    if (!map || !is_right) program.fail(cat("the helper's argument is not ", what));
    return *map;
}

InterpretedMap& require_entries(Interpreter& program, std::uint64_t handle) {
    const InterpretedMap* map = program.world().find_map(handle);
    return require(program, handle, map && map->has_entries(), "a map of entries");
}

InterpretedMap& require_ring(Interpreter& program, std::uint64_t handle, std::uint32_t type) {
    const InterpretedMap* map = program.world().find_map(handle);
    return require(program, handle, map && map->spec().type == type, "a ring of that kind");
}

InterpretedMap& require_stacks(Interpreter& program, std::uint64_t handle) {
    const InterpretedMap* map = program.world().find_map(handle);
    return require(program, handle, map && map->is_stack_trace(), "a map of stacks");
}

std::span<const std::byte> key_at(Interpreter& program, const InterpretedMap& map,
                                  std::uint64_t address) {
    return program.readable(address, map.spec().key_bytes);
}

std::uint64_t lookup(Interpreter& program, const BpfArguments& a) {
    InterpretedMap& map = require_entries(program, a[0]);
    return map.lookup_address(key_at(program, map, a[1]), program.world().now.cpu);
}

std::uint64_t lookup_per_cpu(Interpreter& program, const BpfArguments& a) {
    InterpretedMap& map = require_entries(program, a[0]);
    if (a[2] >= program.world().cpus) return 0;
    return map.lookup_address(key_at(program, map, a[1]), a[2]);
}

std::uint64_t update(Interpreter& program, const BpfArguments& a) {
    InterpretedMap& map = require_entries(program, a[0]);
    const auto key = key_at(program, map, a[1]);
    const auto value = program.readable(a[2], map.spec().value_bytes);
    return from_status(map.update_copy(key, value, a[3], program.world().now.cpu));
}

std::uint64_t erase(Interpreter& program, const BpfArguments& a) {
    InterpretedMap& map = require_entries(program, a[0]);
    return from_status(map.erase(key_at(program, map, a[1])));
}

// Makes a key readable to the program during its lifetime.
class ShownKey {
public:
    ShownKey(VmMemory& memory, std::span<const std::byte> key)
        : memory_(memory), address_(memory.add_read_only(VmMemory::Kind::constant, key)) {}
    ~ShownKey() { memory_.remove(address_); }
    ShownKey(const ShownKey&) = delete;
    ShownKey& operator=(const ShownKey&) = delete;
    std::uint64_t address() const { return address_; }

private:
    VmMemory& memory_;
    std::uint64_t address_;
};

// bpf_for_each_map_elem(map, function(map, key, value, own), own, 0). Stops when the function
// returns 1. Returns the number of calls.
std::uint64_t for_each(Interpreter& program, const BpfArguments& a) {
    InterpretedMap& map = require_entries(program, a[0]);
    if (a[3] != 0) return from_status(-EINVAL);
    VmState& world = program.world();
    std::vector<std::byte> key(map.spec().key_bytes);
    const ShownKey shown(world.memory, key);
    // What the function adds or replaces is not gone through, as in the kernel, where it goes in
    // front of the others.
    std::vector<std::byte> keys;
    for (auto slot = map.next_entry(0); slot; slot = map.next_entry(*slot + 1)) {
        map.copy_key(*slot, key);
        keys.insert(keys.end(), key.begin(), key.end());
    }
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < keys.size(); at += key.size()) {
        std::copy_n(keys.begin() + static_cast<std::ptrdiff_t>(at), key.size(), key.begin());
        const auto slot = map.find(key);
        if (!slot) continue;
        ++count;
        const std::uint64_t value = map.address_of(*slot, world.now.cpu);
        if (program.call(a[1], {a[0], shown.address(), value, a[2], 0}) != 0) break;
    }
    return count;
}

void send(Interpreter& program, std::span<const std::byte> record) {
    if (program.world().on_record) program.world().on_record(record);
}

constexpr std::uint64_t kWakeups = BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP;

// bpf_ringbuf_output(ring, record, bytes, flags)
std::uint64_t ring_output(Interpreter& program, const BpfArguments& a) {
    const InterpretedMap& ring = require_ring(program, a[0], BPF_MAP_TYPE_RINGBUF);
    const auto record = program.readable(a[1], a[2]);
    if ((a[3] & ~kWakeups) != 0) return from_status(-EINVAL);
    if (record.size() + BPF_RINGBUF_HDR_SZ > ring.spec().max_entries) return from_status(-EAGAIN);
    send(program, record);
    return 0;
}

// bpf_ringbuf_reserve(ring, bytes, 0). Returns the address at which to write the record.
std::uint64_t ring_reserve(Interpreter& program, const BpfArguments& a) {
    const InterpretedMap& ring = require_ring(program, a[0], BPF_MAP_TYPE_RINGBUF);
    VmState& world = program.world();
    std::uint64_t used = BPF_RINGBUF_HDR_SZ;
    for (const auto& [at, record] : world.reserved) used += record.size() + BPF_RINGBUF_HDR_SZ;
    const std::uint64_t all = ring.spec().max_entries;
    if (a[2] != 0 || used > all || a[1] > all - used) return 0;
    std::vector<std::byte> bytes(a[1]);
    const std::uint64_t address = world.memory.add(VmMemory::Kind::data, bytes);
    world.reserved.emplace(address, std::move(bytes));
    return address;
}

BpfHelper ring_finish(bool is_sent) {
    return [is_sent](Interpreter& program, const BpfArguments& a) {
        VmState& world = program.world();
        const auto record = world.reserved.extract(a[0]);
        if (record.empty()) program.fail("the helper's argument is no reserved record");
        world.memory.remove(a[0]);
        if (is_sent) send(program, record.mapped());
        return std::uint64_t{0};
    };
}

// bpf_ringbuf_query(ring, what). Only the size is known: nothing ever waits in the ring.
std::uint64_t ring_query(Interpreter& program, const BpfArguments& a) {
    const InterpretedMap& ring = require_ring(program, a[0], BPF_MAP_TYPE_RINGBUF);
    return a[1] == BPF_RB_RING_SIZE ? ring.spec().max_entries : 0;
}

// bpf_perf_event_output(context, rings, flags, record, bytes)
std::uint64_t perf_output(Interpreter& program, const BpfArguments& a) {
    require_ring(program, a[1], BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    const auto record = program.readable(a[3], a[4]);
    if ((a[2] & ~std::uint64_t{BPF_F_INDEX_MASK}) != 0) return from_status(-EINVAL);
    if (a[2] != BPF_F_CURRENT_CPU && a[2] != program.world().now.cpu)
        return from_status(-EOPNOTSUPP);
    send(program, record);
    return 0;
}

// The frames that a helper is asked for. If unknown, empty and counted as a gap.
std::span<const std::uint64_t> stack_of(Interpreter& program, std::uint64_t flags) {
    const bool is_user = (flags & BPF_F_USER_STACK) != 0;
    const auto& now = program.world().now;
    const auto frames = is_user ? now.user_stack : now.kernel_stack;
    if (frames.empty() && !now.is_stack_known)
        program.world().miss(is_user ? Gap::user_stack : Gap::kernel_stack);
    return frames.subspan(std::min<std::size_t>(flags & BPF_F_SKIP_FIELD_MASK, frames.size()));
}

// bpf_get_stackid(context, stacks, flags)
std::uint64_t stack_id(Interpreter& program, const BpfArguments& a) {
    constexpr std::uint64_t kFlags =
        BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK | BPF_F_FAST_STACK_CMP | BPF_F_REUSE_STACKID;
    InterpretedMap& stacks = require_stacks(program, a[1]);
    if ((a[2] & ~kFlags) != 0) return from_status(-EINVAL);
    const auto frames = stack_of(program, a[2]);
    return from_status(frames.empty() ? -EFAULT : stacks.keep_stack(frames));
}

// bpf_get_stack(context, to, bytes, flags): returns the bytes of frames that it wrote.
std::uint64_t stack_bytes(Interpreter& program, const BpfArguments& a) {
    const auto to = program.writable(a[1], a[2]);
    std::ranges::fill(to, std::byte{});
    if ((a[3] & ~std::uint64_t{BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK}) != 0 || a[2] % 8 != 0)
        return from_status(-EINVAL);
    const auto frames = std::as_bytes(stack_of(program, a[3]));
    if (frames.empty()) return from_status(-EFAULT);
    const auto kept = frames.first(std::min(frames.size(), to.size()));
    std::ranges::copy(kept, to.begin());
    return kept.size();
}

}  // namespace

void add_map_helpers(VmState& world) {
    auto& helpers = world.helpers;
    helpers[BPF_FUNC_map_lookup_elem] = lookup;
    helpers[BPF_FUNC_map_lookup_percpu_elem] = lookup_per_cpu;
    helpers[BPF_FUNC_map_update_elem] = update;
    helpers[BPF_FUNC_map_delete_elem] = erase;
    helpers[BPF_FUNC_for_each_map_elem] = for_each;
    helpers[BPF_FUNC_ringbuf_output] = ring_output;
    helpers[BPF_FUNC_ringbuf_reserve] = ring_reserve;
    helpers[BPF_FUNC_ringbuf_submit] = ring_finish(true);
    helpers[BPF_FUNC_ringbuf_discard] = ring_finish(false);
    helpers[BPF_FUNC_ringbuf_query] = ring_query;
    helpers[BPF_FUNC_perf_event_output] = perf_output;
    helpers[BPF_FUNC_get_stackid] = stack_id;
    helpers[BPF_FUNC_get_stack] = stack_bytes;
}

}  // namespace gpufs
