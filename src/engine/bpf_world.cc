#include "gpufs/engine/bpf_world.h"

#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "gpufs/base/cat.h"
#include "gpufs/engine/bpf_interpreter.h"

namespace gpufs {
namespace {

// Not canonical on any machine with 48- or 57-bit addresses: no pointer has these top bits.
constexpr std::uint64_t kRegionBase = 0x4bf0'0000'0000'0000;
constexpr std::uint64_t kHandleBase = 0x4bf1'0000'0000'0000;
// A region begins in the middle of its 4 GiB, so that small steps in both directions miss it.
constexpr std::uint64_t kBegin = 0x8000'0000;

constexpr std::size_t kCommBytes = 16;

bool is_aligned_kind(BpfMemory::Kind kind) {
    return kind == BpfMemory::Kind::stack || kind == BpfMemory::Kind::context;
}

}  // namespace

std::uint64_t BpfMemory::add(Kind kind, std::span<std::byte> bytes) {
    auto free = std::ranges::find(regions_, false, &Region::is_used);
    if (free == regions_.end()) free = regions_.emplace(regions_.end());
    free->kind = kind;
    free->bytes = bytes.data();
    free->size = bytes.size();
    free->written.reset();
    free->is_used = true;
    const auto index = static_cast<std::uint64_t>(free - regions_.begin());
    return (kRegionBase + (index << 32)) | kBegin;
}

std::uint64_t BpfMemory::add_read_only(Kind kind, std::span<const std::byte> bytes) {
    if (kind == Kind::data || kind == Kind::stack)
        throw std::logic_error("programs write to regions of this kind");
    return add(kind, std::span(const_cast<std::byte*>(bytes.data()), bytes.size()));
}

void BpfMemory::rebind(std::uint64_t address, std::span<const std::byte> bytes) {
    Region& region = regions_.at((address - kRegionBase) >> 32);
    region.bytes = const_cast<std::byte*>(bytes.data());
    region.size = bytes.size();
    region.written.reset();
}

void BpfMemory::remove(std::uint64_t address) {
    regions_.at((address - kRegionBase) >> 32) = {};
}

BpfMemory::Place BpfMemory::find(std::uint64_t address) const {
    const std::uint64_t index = (address - kRegionBase) >> 32;
    const std::uint64_t offset = (address & 0xffffffff) - kBegin;
    if (address < kRegionBase || index >= regions_.size()) return {nullptr, 0};
    const Region& region = regions_[index];
    if (!region.is_used || offset > region.size) return {nullptr, 0};
    return {&region, offset};
}

const std::byte* BpfMemory::find_readable(std::uint64_t address, std::size_t bytes) const {
    const auto [region, offset] = find(address);
    if (!region || bytes > region->size - offset) return nullptr;
    if (region->kind == Kind::kernel || region->kind == Kind::user) return nullptr;
    if (region->kind == Kind::stack)
        for (std::size_t i = 0; i < bytes; ++i)
            if (!region->written[offset + i]) return nullptr;
    return region->bytes + offset;
}

std::byte* BpfMemory::find_writable(std::uint64_t address, std::size_t bytes) {
    const auto [found, offset] = find(address);
    if (!found || bytes > found->size - offset) return nullptr;
    if (found->kind != Kind::data && found->kind != Kind::stack) return nullptr;
    Region& region = regions_[(address - kRegionBase) >> 32];
    if (region.kind == Kind::stack)
        for (std::size_t i = 0; i < bytes; ++i) region.written.set(offset + i);
    return region.bytes + offset;
}

const std::byte* BpfMemory::find_for_load(std::uint64_t address, std::size_t bytes) const {
    const auto [region, offset] = find(address);
    if (region && is_aligned_kind(region->kind) && offset % bytes != 0) return nullptr;
    return find_readable(address, bytes);
}

std::byte* BpfMemory::find_for_store(std::uint64_t address, std::size_t bytes) {
    const auto [region, offset] = find(address);
    if (region && is_aligned_kind(region->kind) && offset % bytes != 0) return nullptr;
    return find_writable(address, bytes);
}

std::span<const std::byte> BpfMemory::find_kernel(std::uint64_t address) const {
    const auto [region, offset] = find(address);
    if (!region || region->kind == Kind::user) return {};
    return {region->bytes + offset, region->size - offset};
}

std::span<const std::byte> BpfMemory::find_user(std::uint64_t address) const {
    const auto [region, offset] = find(address);
    if (!region || region->kind != Kind::user) return {};
    return {region->bytes + offset, region->size - offset};
}

std::uint64_t BpfWorld::handle_of(int map_fd) {
    return kHandleBase + static_cast<std::uint32_t>(map_fd);
}

const BpfWorld::Map* BpfWorld::find_map(std::uint64_t handle) const {
    if (handle < kHandleBase || handle - kHandleBase > 0x7fffffff) return nullptr;
    const auto it = maps.find(static_cast<int>(handle - kHandleBase));
    return it == maps.end() ? nullptr : &it->second;
}

namespace {

const BpfWorld::Map& require_map(BpfInterpreter& program, std::uint64_t handle) {
    const BpfWorld::Map* map = program.world().find_map(handle);
    if (!map) program.fail("the helper's first argument is not a map");
    return *map;
}

std::uint64_t from_status(int status) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

std::uint64_t map_lookup(BpfInterpreter& program, const BpfArguments& a) {
    const BpfWorld::Map& map = require_map(program, a[0]);
    return map.lookup(program.readable(a[1], map.key_bytes));
}

std::uint64_t map_update(BpfInterpreter& program, const BpfArguments& a) {
    const BpfWorld::Map& map = require_map(program, a[0]);
    const auto key = program.readable(a[1], map.key_bytes);
    return from_status(map.update(key, program.readable(a[2], map.value_bytes), a[3]));
}

std::uint64_t map_delete(BpfInterpreter& program, const BpfArguments& a) {
    const BpfWorld::Map& map = require_map(program, a[0]);
    return from_status(map.erase(program.readable(a[1], map.key_bytes)));
}

using Find = std::span<const std::byte> (BpfMemory::*)(std::uint64_t) const;

std::span<std::byte> destination(BpfInterpreter& program, const BpfArguments& a) {
    if (static_cast<std::uint32_t>(a[1]) != a[1]) program.fail("the size to read is out of range");
    return program.writable(a[0], a[1]);
}

// bpf_probe_read_kernel(to, bytes, from): all bytes or, with -EFAULT, zeros.
BpfHelper probe_read(Find find) {
    return [find](BpfInterpreter& program, const BpfArguments& a) {
        const auto to = destination(program, a);
        const auto from = (program.world().memory.*find)(a[2]);
        if (from.size() < to.size()) {
            std::ranges::fill(to, std::byte{});
            return from_status(-EFAULT);
        }
        std::memmove(to.data(), from.data(), to.size());
        return from_status(0);
    };
}

// bpf_probe_read_kernel_str(to, bytes, from): up to and with the NUL that ends the text, or one put
// over the last byte where it is cut. Returns the bytes written.
BpfHelper probe_read_str(Find find) {
    return [find](BpfInterpreter& program, const BpfArguments& a) {
        const auto to = destination(program, a);
        if (to.empty()) return from_status(0);
        auto from = (program.world().memory.*find)(a[2]);
        const auto end =
            std::ranges::find(from.first(std::min(from.size(), to.size())), std::byte{});
        const auto length = static_cast<std::size_t>(end - from.begin());
        if (length >= from.size() && from.size() < to.size()) {
            std::ranges::fill(to, std::byte{});
            return from_status(-EFAULT);
        }
        const std::size_t kept = std::min(length, to.size() - 1);
        std::memmove(to.data(), from.data(), kept);
        to[kept] = std::byte{};
        return std::uint64_t{kept + 1};
    };
}

std::uint64_t current_comm(BpfInterpreter& program, const BpfArguments& a) {
    const auto to = program.writable(a[0], a[1]);
    if (to.empty()) program.fail("the size of the buffer is 0");
    const std::string& comm = program.world().now.comm;
    const std::size_t kept = std::min({comm.size(), to.size() - 1, kCommBytes - 1});
    std::ranges::fill(to, std::byte{});
    std::memcpy(to.data(), comm.data(), kept);
    return 0;
}

// bpf_loop(iterations, function, its second argument, 0): stops when the function returns 1.
std::uint64_t loop(BpfInterpreter& program, const BpfArguments& a) {
    constexpr std::uint32_t kMaxLoops = 8u << 20;
    const auto count = static_cast<std::uint32_t>(a[0]);
    if (a[3] != 0) return from_status(-EINVAL);
    if (count > kMaxLoops) return from_status(-E2BIG);
    for (std::uint32_t i = 0; i < count; ++i)
        if (program.call(a[1], {i, a[2], 0, 0, 0}) != 0) return i + 1;
    return count;
}

}  // namespace

void add_common_helpers(BpfWorld& world) {
    auto& helpers = world.helpers;
    helpers[BPF_FUNC_map_lookup_elem] = map_lookup;
    helpers[BPF_FUNC_map_update_elem] = map_update;
    helpers[BPF_FUNC_map_delete_elem] = map_delete;
    helpers[BPF_FUNC_probe_read] = probe_read(&BpfMemory::find_kernel);
    helpers[BPF_FUNC_probe_read_kernel] = probe_read(&BpfMemory::find_kernel);
    helpers[BPF_FUNC_probe_read_user] = probe_read(&BpfMemory::find_user);
    helpers[BPF_FUNC_probe_read_str] = probe_read_str(&BpfMemory::find_kernel);
    helpers[BPF_FUNC_probe_read_kernel_str] = probe_read_str(&BpfMemory::find_kernel);
    helpers[BPF_FUNC_probe_read_user_str] = probe_read_str(&BpfMemory::find_user);
    helpers[BPF_FUNC_get_current_comm] = current_comm;
    helpers[BPF_FUNC_loop] = loop;
    helpers[BPF_FUNC_ktime_get_ns] = [](BpfInterpreter& program, const BpfArguments&) {
        return program.world().now.time_ns;
    };
    helpers[BPF_FUNC_get_smp_processor_id] = [](BpfInterpreter& program, const BpfArguments&) {
        return std::uint64_t{program.world().now.cpu};
    };
    helpers[BPF_FUNC_get_current_pid_tgid] = [](BpfInterpreter& program, const BpfArguments&) {
        const auto& now = program.world().now;
        return std::uint64_t{now.pid} << 32 | now.tid;
    };
}

}  // namespace gpufs
