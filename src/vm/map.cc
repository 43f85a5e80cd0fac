#include "vm/map.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/align.h"
#include "base/bytes.h"
#include "base/error.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kMostFlag = BPF_EXIST;

// The kernel's errno for an update with these flags; 0 if it is allowed.
int refusal(bool is_there, std::uint64_t flags) {
    if (flags > kMostFlag) return -EINVAL;
    if (is_there && flags == BPF_NOEXIST) return -EEXIST;
    if (!is_there && flags == BPF_EXIST) return -ENOENT;
    return 0;
}

}  // namespace

InterpretedMap::InterpretedMap(const BpfMapSpec& spec, std::size_t cpus, VmMemory& memory)
    : spec_(spec),
      memory_(memory),
      is_per_cpu_(spec.is_per_cpu()),
      copies_(is_per_cpu_ ? cpus : 1),
      copy_bytes_(is_per_cpu_ ? align_up(spec.value_bytes, 8) : spec.value_bytes),
      index_(spec.type == BPF_MAP_TYPE_STACK_TRACE ? spec.value_bytes : spec.key_bytes) {
    switch (spec.type) {
        case BPF_MAP_TYPE_HASH:
        case BPF_MAP_TYPE_PERCPU_HASH:
        case BPF_MAP_TYPE_LRU_HASH:
        case BPF_MAP_TYPE_LRU_PERCPU_HASH:
            kind_ = Kind::hash;
            makes_room_ =
                spec.type == BPF_MAP_TYPE_LRU_HASH || spec.type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
            break;
        case BPF_MAP_TYPE_ARRAY:
        case BPF_MAP_TYPE_PERCPU_ARRAY:
            kind_ = Kind::array;
            break;
        case BPF_MAP_TYPE_STACK_TRACE:
            kind_ = Kind::stacks;
            spec_.max_entries = std::bit_ceil(spec.max_entries);
            return;
        case BPF_MAP_TYPE_RINGBUF:
        case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
            kind_ = Kind::ring;
            return;
        default:
            throw Error(
                cat("map '", spec.name, "' is of a type that cannot be interpreted: ", spec.type));
    }
    // One spare slot, for the new value of a key while a program may still use the old one.
    slots_ = memory_.add_slots(spec.value_bytes, copies_, std::size_t{spec.max_entries} + 1);
}

std::optional<std::uint32_t> InterpretedMap::find(std::span<const std::byte> key) const {
    if (kind_ == Kind::hash) return index_.find(key);
    std::uint32_t index = 0;
    std::memcpy(&index, key.data(), sizeof index);
    if (index >= spec_.max_entries) return std::nullopt;
    return index;
}

std::uint64_t InterpretedMap::lookup_address(std::span<const std::byte> key, std::size_t cpu) {
    const auto slot = find(key);
    if (!slot) return 0;
    use(*slot);
    return address_of(*slot, cpu);
}

std::uint64_t InterpretedMap::address_of(std::uint32_t slot, std::size_t cpu) const {
    if (kind_ == Kind::array) value(slot);  // allocates it
    return memory_.slot_address(slots_, slot, is_per_cpu() ? cpu : 0);
}

int InterpretedMap::update_copy(std::span<const std::byte> key, std::span<const std::byte> value,
                                std::uint64_t flags, std::size_t cpu) {
    return kind_ == Kind::array ? update_array(key, value, flags, cpu)
                                : update_hash(key, value, flags, cpu);
}

int InterpretedMap::update_array(std::span<const std::byte> key, std::span<const std::byte> value,
                                 std::uint64_t flags, std::size_t cpu) {
    if (flags > kMostFlag) return -EINVAL;
    const auto slot = find(key);
    if (!slot) return -E2BIG;
    if (flags == BPF_NOEXIST) return -EEXIST;
    set_copy(*slot, cpu, value);
    return 0;
}

int InterpretedMap::update_hash(std::span<const std::byte> key, std::span<const std::byte> value,
                                std::uint64_t flags, std::size_t cpu) {
    auto slot = index_.find(key);
    if (const int error = refusal(slot.has_value(), flags); error != 0) return error;
    if (slot && is_per_cpu()) {
        use(*slot);
        set_copy(*slot, cpu, value);
        return 0;
    }
    if (slot) {
        // As in the kernel, programs that looked the value up before still see the old one.
        unlink(*slot);
        slot = index_.move(*slot);
    } else {
        if (index_.size() == spec_.max_entries) {
            if (!makes_room_) return -E2BIG;
            remove(oldest_);
        }
        slot = index_.insert(key);
    }
    link_newest(*slot);
    std::ranges::fill(this->value(*slot), std::byte{});
    set_copy(*slot, cpu, value);
    return 0;
}

void InterpretedMap::set_copy(std::uint32_t slot, std::size_t cpu,
                              std::span<const std::byte> value) const {
    const std::size_t at = is_per_cpu() ? cpu * copy_bytes_ : 0;
    std::memcpy(this->value(slot).data() + at, value.data(), value.size());
}

int InterpretedMap::erase(std::span<const std::byte> key) {
    if (kind_ != Kind::hash) return -EINVAL;
    const auto slot = index_.find(key);
    if (!slot) return -ENOENT;
    remove(*slot);
    return 0;
}

void InterpretedMap::remove(std::uint32_t slot) {
    unlink(slot);
    index_.erase(slot);
}

std::optional<std::uint32_t> InterpretedMap::next_entry(std::uint32_t slot) const {
    if (kind_ == Kind::array) return slot < spec_.max_entries ? std::optional(slot) : std::nullopt;
    for (; kind_ == Kind::hash && slot < index_.end(); ++slot)
        if (index_.holds(slot)) return slot;
    return std::nullopt;
}

void InterpretedMap::copy_key(std::uint32_t slot, std::span<std::byte> into) const {
    if (kind_ == Kind::array)
        std::memcpy(into.data(), &slot, sizeof slot);
    else
        std::ranges::copy(index_.key(slot), into.begin());
}

int InterpretedMap::keep_stack(std::span<const std::uint64_t> frames) {
    std::vector<std::byte> whole(spec_.value_bytes);
    const auto bytes = std::as_bytes(frames);
    std::ranges::copy(bytes.first(std::min(bytes.size(), whole.size())), whole.begin());
    if (const auto known = index_.find(whole)) return static_cast<int>(*known);
    if (index_.size() == spec_.max_entries) return -EEXIST;
    return static_cast<int>(index_.insert(whole));
}

bool InterpretedMap::lookup(std::span<const std::byte> key, std::span<std::byte> value) const {
    if (kind_ == Kind::ring) return false;
    if (kind_ == Kind::stacks) {
        std::uint32_t id = 0;
        std::memcpy(&id, key.data(), sizeof id);
        if (id >= index_.end() || !index_.holds(id)) return false;
        std::ranges::copy(index_.key(id), value.begin());
        return true;
    }
    const auto slot = find(key);
    if (slot) std::memcpy(value.data(), this->value(*slot).data(), value.size());
    return slot.has_value();
}

void InterpretedMap::update(std::span<const std::byte> key, std::span<const std::byte> value) {
    auto slot = find(key);
    if (!slot && kind_ == Kind::hash) {
        slot = index_.insert(key);
        link_newest(*slot);
    }
    if (!slot) throw Error(cat("map '", spec_.name, "' has no such entry"));
    std::memcpy(this->value(*slot).data(), value.data(), value.size());
}

void InterpretedMap::for_each(const Visit& visit) const {
    std::vector<std::byte> key(spec_.key_bytes);
    for (auto slot = next_entry(0); slot; slot = next_entry(*slot + 1)) {
        copy_key(*slot, key);
        visit(key, value(*slot).first(whole_value_bytes()));
    }
}

void InterpretedMap::take_each(const Visit& visit) {
    for_each(visit);
    for (auto slot = next_entry(0); slot && kind_ == Kind::hash; slot = next_entry(*slot + 1))
        remove(*slot);
}

std::vector<std::int32_t> InterpretedMap::stack_ids() const {
    std::vector<std::int32_t> ids;
    for (std::uint32_t slot = 0; slot < index_.end(); ++slot) {
        if (!index_.holds(slot)) continue;
        auto id = static_cast<std::int32_t>(slot);
        if (kind_ == Kind::hash) std::memcpy(&id, index_.key(slot).data(), sizeof id);
        ids.push_back(id);
    }
    return ids;
}

void InterpretedMap::remove_stack(std::int32_t id) {
    if (kind_ == Kind::hash)
        erase(bytes_of(id));
    else
        index_.erase(static_cast<std::uint32_t>(id));
}

void InterpretedMap::link_newest(std::uint32_t slot) {
    if (!makes_room_) return;
    if (slot >= links_.size()) links_.resize(slot + 1);
    links_[slot] = {newest_, kNone};
    (newest_ == kNone ? oldest_ : links_[newest_].newer) = slot;
    newest_ = slot;
}

void InterpretedMap::unlink(std::uint32_t slot) {
    if (!makes_room_) return;
    const Link link = links_[slot];
    (link.older == kNone ? oldest_ : links_[link.older].newer) = link.newer;
    (link.newer == kNone ? newest_ : links_[link.newer].older) = link.older;
}

void InterpretedMap::use(std::uint32_t slot) {
    if (!makes_room_ || slot == newest_) return;
    unlink(slot);
    link_newest(slot);
}

}  // namespace gpufs
