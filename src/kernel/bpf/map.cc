#include "kernel/bpf/map.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/align.h"
#include "base/bytes.h"
#include "base/error.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/syscall.h"
#include "kernel/host/cpus.h"

namespace gpufs {
namespace {

// Array keys are never deleted, so a walk cannot restart.
bool is_array_type(std::uint32_t type) {
    return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
           type == BPF_MAP_TYPE_PERF_EVENT_ARRAY || type == BPF_MAP_TYPE_PROG_ARRAY;
}

int try_create(bpf_attr& attr, std::string_view name) {
    set_object_name(attr.map_name, name);
    const int fd = sys_bpf_charged(BPF_MAP_CREATE, attr);
    // Linux before 4.15 does not know names and rejects the non-zero bytes.
    if (fd != -1 || name.empty() || (errno != E2BIG && errno != EINVAL)) return fd;
    const int code = errno;
    std::ranges::fill(attr.map_name, '\0');
    const int unnamed = sys_bpf_charged(BPF_MAP_CREATE, attr);
    if (unnamed == -1) errno = code;
    return unnamed;
}

std::string size_hint(const BpfMapSpec& spec, int code) {
    if (code == ENOMEM || code == E2BIG) return "fewer max entries, or smaller keys and values";
    if (code == EINVAL && spec.type == BPF_MAP_TYPE_RINGBUF)
        return "Linux 5.8 or later; its size is a power of 2 and a page at least";
    return {};
}

}  // namespace

BpfMap::BpfMap(Fd fd, BpfMapSpec spec) : fd_(std::move(fd)), spec_(std::move(spec)) {
    if (is_per_cpu()) copies_ = possible_cpus().size();
}

BpfMap BpfMap::create(const BpfMapSpec& spec) {
    bpf_attr attr = zeroed_attr();
    attr.map_type = spec.type;
    attr.key_size = spec.key_bytes;
    attr.value_size = spec.value_bytes;
    attr.max_entries = spec.max_entries;
    attr.map_flags = spec.flags;
    if (spec.inner_fd != -1) attr.inner_map_fd = static_cast<__u32>(spec.inner_fd);
    Fd fd{try_create(attr, spec.name)};
    if (!fd) {
        const int code = errno;
        throw_bpf_error(code, cat("make map '", spec.name, "'"), size_hint(spec, code));
    }
    return {std::move(fd), spec};
}

BpfMap BpfMap::open(std::uint32_t id) {
    bpf_attr attr = zeroed_attr();
    attr.map_id = id;
    Fd fd{sys_bpf(BPF_MAP_GET_FD_BY_ID, attr)};
    if (!fd) {
        const int code = errno;
        throw_bpf_error(code, cat("open map ", id));
    }
    BpfMapSpec spec = map_info(fd.get()).spec;
    return {std::move(fd), std::move(spec)};
}

bool BpfMap::is_per_cpu() const noexcept {
    return spec_.is_per_cpu();
}

std::size_t BpfMap::copy_bytes() const noexcept {
    return is_per_cpu() ? align_up(spec_.value_bytes, 8) : spec_.value_bytes;
}

std::string BpfMap::described() const {
    return cat("map '", spec_.name, "'");
}

bpf_attr BpfMap::entry_attr(std::span<const std::byte> key,
                            std::span<const std::byte> value) const {
    if (key.size() != spec_.key_bytes || value.size() != whole_value_bytes())
        throw Error(cat(described(), " has keys of ", spec_.key_bytes, " and values of ",
                        whole_value_bytes(), " bytes"));
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(fd());
    attr.key = address_of(key.data());
    attr.value = address_of(value.data());
    return attr;
}

bool BpfMap::lookup(std::span<const std::byte> key, std::span<std::byte> value) const {
    bpf_attr attr = entry_attr(key, value);
    if (sys_bpf(BPF_MAP_LOOKUP_ELEM, attr) == 0) return true;
    const int code = errno;
    if (code == ENOENT) return false;
    throw_bpf_error(code, cat("look up a key in ", described()));
}

bool BpfMap::update(std::span<const std::byte> key, std::span<const std::byte> value,
                    std::uint64_t flags) const {
    bpf_attr attr = entry_attr(key, value);
    attr.flags = flags;
    if (sys_bpf(BPF_MAP_UPDATE_ELEM, attr) == 0) return true;
    const int code = errno;
    if (code == EEXIST || (code == ENOENT && (flags & BPF_EXIST))) return false;
    if (code == EPERM)  // frozen, or opened read-only: the check is on the descriptor
        throw Error(cat("cannot set a value in ", described(), ": it is read-only"));
    throw_bpf_error(code, cat("set a value in ", described()),
                    code == E2BIG ? cat("it holds ", spec_.max_entries, " entries") : "");
}

bool BpfMap::erase(std::span<const std::byte> key) const {
    if (key.size() != spec_.key_bytes)
        throw Error(cat(described(), " has keys of ", spec_.key_bytes, " bytes"));
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(fd());
    attr.key = address_of(key.data());
    if (sys_bpf(BPF_MAP_DELETE_ELEM, attr) == 0) return true;
    const int code = errno;
    if (code == ENOENT) return false;
    throw_bpf_error(code, cat("delete a key of ", described()));
}

bool BpfMap::next_key(const std::byte* key, std::span<std::byte> next) const {
    if (next.size() != spec_.key_bytes)
        throw Error(cat(described(), " has keys of ", spec_.key_bytes, " bytes"));
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(fd());
    attr.key = address_of(key);
    attr.next_key = address_of(next.data());
    if (sys_bpf(BPF_MAP_GET_NEXT_KEY, attr) == 0) return true;
    const int code = errno;
    if (code == ENOENT) return false;
    throw_bpf_error(code, cat("walk the keys of ", described()));
}

// A batch call reads whole buckets of a hash, each under its lock, and its cursor is a bucket
// number. So entries added or deleted meanwhile can neither restart the walk nor show a key twice.
std::optional<bool> BpfMap::batches(bpf_cmd command, const Visit& visit, Walk walk) const {
    if (walk == Walk::one_by_one) return std::nullopt;
    const std::size_t key_bytes = spec_.key_bytes, value_bytes = whole_value_bytes();
    std::size_t room = std::clamp<std::size_t>((64 << 10) / (key_bytes + value_bytes), 16, 4096);
    // The cursor is a u32 for a hash and a key for an array.
    std::vector<std::byte> cursor(std::max<std::size_t>(key_bytes, 4)), next(cursor.size());
    std::vector<std::byte> keys, values;
    bool is_first = true;
    for (;;) {
        keys.resize(room * key_bytes);
        values.resize(room * value_bytes);
        bpf_attr attr = zeroed_attr();
        attr.batch.map_fd = static_cast<__u32>(fd());
        attr.batch.in_batch = is_first ? 0 : address_of(cursor.data());
        attr.batch.out_batch = address_of(next.data());
        attr.batch.keys = address_of(keys.data());
        attr.batch.values = address_of(values.data());
        attr.batch.count = static_cast<__u32>(room);
        const int code = sys_bpf(command, attr) == 0 ? 0 : errno;
        if (code == ENOSPC) {  // one bucket has more entries than fit
            room *= 2;
            continue;
        }
        if (code == EINTR) continue;
        if (is_first && (code == EINVAL || code == kENotSupp || code == EOPNOTSUPP)) {
            if (walk != Walk::batch) return std::nullopt;
            throw UnsupportedError(cat("cannot read ", described(), " in batches"),
                                   "Linux 5.6 or later; taking entries out needs a hash map");
        }
        if (code != 0 && code != ENOENT)
            throw_bpf_error(code, cat("read the entries of ", described()));
        for (std::size_t i = 0; i < attr.batch.count; ++i)
            visit(std::span(keys).subspan(i * key_bytes, key_bytes),
                  std::span(values).subspan(i * value_bytes, value_bytes));
        if (code == ENOENT) return true;
        is_first = false;
        cursor.swap(next);
    }
}

// After a key that was deleted meanwhile, the kernel restarts at the first key, so the walk
// remembers the keys it has seen. If an entry is deleted and its memory reused for another key just
// while the kernel steps over it, the walk continues in that key's bucket and misses the entries
// between. Therefore the walk is repeated until it finds nothing new.
bool BpfMap::for_each_key(const std::function<void(std::span<const std::byte>)>& visit) const {
    std::vector<std::byte> key(spec_.key_bytes), next(spec_.key_bytes);
    const bool is_array = is_array_type(spec_.type);
    std::unordered_set<std::string> seen;
    constexpr int kWalks = 4;
    for (int walk = 0; walk < kWalks; ++walk) {
        const std::size_t seen_before = seen.size();
        std::size_t steps_left = std::size_t{4} * spec_.max_entries + 1024;
        const std::byte* at = nullptr;
        while (next_key(at, next)) {
            if (steps_left-- == 0) return false;
            key.swap(next);
            at = key.data();
            if (is_array || seen.emplace(chars_of(key)).second) visit(key);
        }
        if (is_array || seen.size() == seen_before) return true;
    }
    return false;
}

bool BpfMap::for_each(const Visit& visit, Walk walk) const {
    if (const auto complete = batches(BPF_MAP_LOOKUP_BATCH, visit, walk)) return *complete;
    std::vector<std::byte> value(whole_value_bytes());
    return for_each_key([&](std::span<const std::byte> key) {
        if (lookup(key, value)) visit(key, value);
    });
}

bool BpfMap::take_each(const Visit& visit, Walk walk) const {
    if (const auto complete = batches(BPF_MAP_LOOKUP_AND_DELETE_BATCH, visit, walk))
        return *complete;
    // Deleting during the walk would restart it at every step: collect the keys first.
    std::vector<std::byte> keys;
    const bool complete = for_each_key(
        [&](std::span<const std::byte> key) { keys.insert(keys.end(), key.begin(), key.end()); });
    std::vector<std::byte> value(whole_value_bytes());
    for (std::size_t at = 0; at < keys.size(); at += spec_.key_bytes) {
        const auto key = std::span(keys).subspan(at, spec_.key_bytes);
        if (lookup(key, value) && erase(key)) visit(key, value);
    }
    return complete;
}

Mapping BpfMap::map_values(bool writable) const {
    const std::size_t bytes =
        align_up(align_up(spec_.value_bytes, 8) * spec_.max_entries, page_bytes());
    return Mapping(fd(), bytes, PROT_READ | (writable ? PROT_WRITE : 0), 0, described().c_str());
}

void BpfMap::freeze() const {
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(fd());
    if (sys_bpf(BPF_MAP_FREEZE, attr) == 0) return;
    const int code = errno;
    throw_bpf_error(code, cat("freeze ", described()), code == EINVAL ? "Linux 5.2 or later" : "");
}

}  // namespace gpufs
