#include "vm/memory.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/align.h"
#include "base/error.h"

namespace gpufs {
namespace {

// Not canonical on any machine with 48- or 57-bit addresses: no pointer has these top bits.
constexpr std::uint64_t kRegionBase = 0x4bf0'0000'0000'0000;
constexpr std::uint64_t kSlotsBase = 0x4bf3'0000'0000'0000;
constexpr unsigned kBaseBits = 48;
// A region begins in the middle of its 4 GiB, so that small overruns in both directions miss other
// regions.
constexpr std::uint64_t kBegin = 0x8000'0000;
// Bits for the addresses of one map's values.
constexpr unsigned kSlotsBits = 38;
constexpr std::size_t kMostSlots = std::size_t{1} << (kBaseBits - kSlotsBits);

constexpr std::size_t kChunkBytes = 64 << 10;

bool is_aligned_kind(VmMemory::Kind kind) {
    return kind == VmMemory::Kind::stack || kind == VmMemory::Kind::context;
}

bool is_in_slots(std::uint64_t address) {
    return address >> kBaseBits == kSlotsBase >> kBaseBits;
}

// The number of bits needed for values from 0 to n.
unsigned bits_for(std::size_t n) {
    return static_cast<unsigned>(std::bit_width(n));
}

}  // namespace

std::uint64_t VmMemory::add(Kind kind, std::span<std::byte> bytes) {
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

std::uint64_t VmMemory::add_read_only(Kind kind, std::span<const std::byte> bytes) {
    if (kind == Kind::data || kind == Kind::stack)
        throw std::logic_error("programs write to regions of this kind");
    return add(kind, std::span(const_cast<std::byte*>(bytes.data()), bytes.size()));
}

void VmMemory::rebind(std::uint64_t address, std::span<const std::byte> bytes) {
    Region& region = region_at(address);
    region.bytes = const_cast<std::byte*>(bytes.data());
    region.size = bytes.size();
    region.written.reset();
}

void VmMemory::remove(std::uint64_t address) {
    region_at(address) = {};
}

std::size_t VmMemory::add_slots(std::size_t bytes, std::size_t copies, std::size_t slots) {
    Slots made;
    made.bytes = bytes;
    made.copies = copies;
    made.copy_bytes = align_up(bytes, 8);
    // Bits for offsets up to and including `bytes`: this leaves a gap between any two values.
    made.value_bits = std::max(bits_for(bytes), 3u);
    made.copy_bits = bits_for(copies - 1);
    if (made.value_bits + made.copy_bits + bits_for(slots) > kSlotsBits ||
        slots_.size() == kMostSlots)
        throw Error(cat("no room for a map of ", slots, " entries of ", bytes, " bytes"),
                    "make it smaller");
    const std::size_t fit = kChunkBytes / std::max<std::size_t>(made.copy_bytes * copies, 1);
    made.chunk_bits = bits_for(std::clamp<std::size_t>(fit, 1, slots) - 1);
    slots_.push_back(std::move(made));
    return slots_.size() - 1;
}

std::span<std::byte> VmMemory::slot(std::size_t slots, std::size_t index) {
    Slots& of = slots_[slots];
    const std::size_t bytes = of.copy_bytes * of.copies, chunk = index >> of.chunk_bits;
    while (chunk >= of.chunks.size())
        of.chunks.push_back(std::make_unique<std::byte[]>(bytes << of.chunk_bits));
    const std::size_t within = index & ((std::size_t{1} << of.chunk_bits) - 1);
    return {of.chunks[chunk].get() + within * bytes, bytes};
}

std::uint64_t VmMemory::slot_address(std::size_t slots, std::size_t index, std::size_t copy) const {
    const Slots& of = slots_[slots];
    return kSlotsBase + (std::uint64_t{slots} << kSlotsBits) +
           ((std::uint64_t{index} << of.copy_bits | copy) << of.value_bits);
}

// The bytes from the address to the end of its value.
std::span<std::byte> VmMemory::find_in_slots(std::uint64_t address) const {
    const std::uint64_t in_all = address - kSlotsBase;
    const std::size_t number = in_all >> kSlotsBits;
    if (number >= slots_.size()) return {};
    const Slots& of = slots_[number];
    const std::uint64_t in_map = in_all & ((std::uint64_t{1} << kSlotsBits) - 1);
    const std::size_t offset = in_map & ((std::uint64_t{1} << of.value_bits) - 1);
    const std::uint64_t value = in_map >> of.value_bits;
    const std::size_t copy = value & ((std::uint64_t{1} << of.copy_bits) - 1);
    const std::size_t index = value >> of.copy_bits, chunk = index >> of.chunk_bits;
    if (offset > of.bytes || copy >= of.copies || chunk >= of.chunks.size()) return {};
    const std::size_t within = index & ((std::size_t{1} << of.chunk_bits) - 1);
    std::byte* at = of.chunks[chunk].get() + (within * of.copies + copy) * of.copy_bytes;
    return {at + offset, of.bytes - offset};
}

VmMemory::Place VmMemory::find(std::uint64_t address) const {
    const std::uint64_t index = (address - kRegionBase) >> 32;
    const std::uint64_t offset = (address & 0xffffffff) - kBegin;
    if (address < kRegionBase || index >= regions_.size()) return {nullptr, 0};
    const Region& region = regions_[index];
    if (!region.is_used || offset > region.size) return {nullptr, 0};
    return {&region, offset};
}

// The place, if all the bytes are in one region that the program itself may access.
VmMemory::Place VmMemory::find_own(std::uint64_t address, std::size_t bytes) const {
    const Place place = find(address);
    if (!place.region || bytes > place.region->size - place.offset) return {nullptr, 0};
    const Kind kind = place.region->kind;
    return kind == Kind::kernel || kind == Kind::user ? Place{nullptr, 0} : place;
}

const std::byte* VmMemory::find_readable(std::uint64_t address, std::size_t bytes) {
    if (is_in_slots(address)) {
        const auto value = find_in_slots(address);
        return bytes <= value.size() ? value.data() : nullptr;
    }
    const auto [found, offset] = find_own(address, bytes);
    if (!found) return nullptr;
    if (found->kind == Kind::stack) region_at(address).write_zeros(offset, bytes);
    return found->bytes + offset;
}

// Zeroes those bytes that were never written.
void VmMemory::Region::write_zeros(std::size_t offset, std::size_t count) {
    for (std::size_t at = offset; at < offset + count; ++at) {
        if (written[at]) continue;
        bytes[at] = std::byte{};
        written.set(at);
    }
}

std::byte* VmMemory::find_writable(std::uint64_t address, std::size_t bytes) {
    if (is_in_slots(address)) {
        const auto value = find_in_slots(address);
        return bytes <= value.size() ? value.data() : nullptr;
    }
    const auto [found, offset] = find_own(address, bytes);
    if (!found || (found->kind != Kind::data && found->kind != Kind::stack)) return nullptr;
    Region& region = region_at(address);
    if (region.kind == Kind::stack)
        for (std::size_t i = 0; i < bytes; ++i) region.written.set(offset + i);
    return region.bytes + offset;
}

const std::byte* VmMemory::find_for_load(std::uint64_t address, std::size_t bytes) const {
    if (is_in_slots(address)) {
        const auto value = find_in_slots(address);
        return bytes <= value.size() ? value.data() : nullptr;
    }
    const auto [region, offset] = find_own(address, bytes);
    if (!region || (is_aligned_kind(region->kind) && offset % bytes != 0)) return nullptr;
    if (region->kind == Kind::stack)
        for (std::size_t i = 0; i < bytes; ++i)
            if (!region->written[offset + i]) return nullptr;
    return region->bytes + offset;
}

std::byte* VmMemory::find_for_store(std::uint64_t address, std::size_t bytes) {
    const auto [region, offset] = find(address);
    if (region && is_aligned_kind(region->kind) && offset % bytes != 0) return nullptr;
    return find_writable(address, bytes);
}

std::span<const std::byte> VmMemory::find_kernel(std::uint64_t address) const {
    if (is_in_slots(address)) return find_in_slots(address);
    const auto [region, offset] = find(address);
    if (!region || region->kind == Kind::user) return {};
    return {region->bytes + offset, region->size - offset};
}

std::span<const std::byte> VmMemory::find_user(std::uint64_t address) const {
    const auto [region, offset] = find(address);
    if (!region || region->kind != Kind::user) return {};
    return {region->bytes + offset, region->size - offset};
}

}  // namespace gpufs
