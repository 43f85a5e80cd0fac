#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/fd.h"
#include "base/map_spec.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// Owns one BPF map. A value of a per-CPU map is read and written whole: one copy for each possible
// CPU, each rounded up to 8 bytes. All functions throw SysError or UnsupportedError.
class BpfMap {
public:
    // Makes a map. If the kernel refuses because of RLIMIT_MEMLOCK (before Linux 5.11), raises that
    // limit and tries again.
    static BpfMap create(const BpfMapSpec& spec);
    // Opens a map of any process by its id. Needs CAP_SYS_ADMIN.
    static BpfMap open(std::uint32_t id);

    int fd() const noexcept { return fd_.get(); }
    const BpfMapSpec& spec() const noexcept { return spec_; }
    bool is_per_cpu() const noexcept;
    // Bytes of one CPU's copy, rounded up; the plain value size if there is only one copy.
    std::size_t copy_bytes() const noexcept;
    // Bytes of a whole value, as lookup() fills it and update() takes it.
    std::size_t whole_value_bytes() const noexcept { return copy_bytes() * copies_; }

    // Returns false when there is no such key.
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const;
    // Returns false when `flags` forbid the update: BPF_NOEXIST and the key exists, or BPF_EXIST
    // and it does not. A full map throws a SysError with code E2BIG.
    bool update(std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t flags = BPF_ANY) const;
    // Returns false when there is no such key.
    bool erase(std::span<const std::byte> key) const;
    // Gets the key after `key`, or the first key if `key` is null. Returns false at the end. The
    // kernel defines the order. After a deleted key it returns the first one again, so use
    // for_each() to walk.
    bool next_key(const std::byte* key, std::span<std::byte> next) const;

    // How to walk: many entries per call (Linux 5.6), or key by key. `best` is batch if this kernel
    // supports it for this map.
    enum class Walk { best, batch, one_by_one };
    using Visit =
        std::function<void(std::span<const std::byte> key, std::span<const std::byte> value)>;
    // Visits every entry that exists throughout the walk exactly once, and each entry added or
    // deleted meanwhile at most once. Returns false when this is not certain: key by key, while
    // entries are being deleted.
    bool for_each(const Visit& visit, Walk walk = Walk::best) const;
    // The same with the keys only.
    bool for_each_key(const std::function<void(std::span<const std::byte>)>& visit) const;
    // The same for hash maps, and deletes the entries. In batches, an update is lost only if a
    // program looked the entry up before and still writes to it; key by key, updates between
    // reading and deleting are lost, too.
    bool take_each(const Visit& visit, Walk walk = Walk::best) const;

    // Maps the values of an array made with BPF_F_MMAPABLE (Linux 5.5): consecutive, copy_bytes()
    // each, rounded up to 8. The mapping may outlive this object.
    Mapping map_values(bool writable = true) const;
    // Makes the map read-only for user space (Linux 5.2). Fails while values are mapped writable.
    void freeze() const;

private:
    BpfMap(Fd fd, BpfMapSpec spec);
    std::string described() const;
    // The attributes for one entry. Throws Error if the key or the value has the wrong size.
    bpf_attr entry_attr(std::span<const std::byte> key, std::span<const std::byte> value) const;
    // Implements for_each() and take_each() with batch calls; absent when batches cannot be used.
    std::optional<bool> batches(bpf_cmd command, const Visit& visit, Walk walk) const;

    Fd fd_;
    BpfMapSpec spec_;
    std::size_t copies_ = 1;
};

}  // namespace gpufs
