#include "lang/program/types.h"

#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/find_by_name.h"

namespace gpufs {
namespace {

constexpr std::size_t kWordBytes = 8;

// Text and bytes have no alignment; numbers are aligned to their size.
std::size_t alignment_of(const ValueType& type) {
    const bool is_bytes =
        type.kind == ValueType::Kind::text || type.kind == ValueType::Kind::raw_bytes;
    if (type.kind == ValueType::Kind::dimensions) return sizeof(std::uint32_t);
    return is_bytes ? 1 : std::clamp<std::size_t>(type.bytes, 1, kWordBytes);
}

}  // namespace

const Member* Layout::find(std::string_view name) const {
    return find_by_name(members, name);
}

const Layout::Part* Layout::find_part(std::string_view name) const {
    return find_by_name(parts, name);
}

// Where the next member may begin, and what the widest so far is aligned to.
Layout::End Layout::end() const {
    End end;
    for (const Member& member : members) {
        end.bytes = std::max(end.bytes, member.offset + member.type.bytes);
        end.alignment = std::max(end.alignment, alignment_of(member.type));
    }
    for (const Part& part : parts) end.bytes = std::max(end.bytes, part.offset + part.bytes);
    return end;
}

ValueType integer_value(std::size_t bytes) {
    ValueType type;
    type.bytes = bytes;
    return type;
}

ValueType raw_bytes_value(std::size_t bytes) {
    ValueType type;
    type.kind = ValueType::Kind::raw_bytes;
    type.bytes = bytes;
    return type;
}

Layout Layout::of(std::string name, ValueType type) {
    Layout layout;
    layout.add(std::move(name), std::move(type));
    return layout;
}

void Layout::add(std::string name, ValueType type) {
    const End before = end();
    const std::size_t own = alignment_of(type);
    const std::size_t offset = align_up(before.bytes, own);
    bytes = align_up(offset + type.bytes, std::max(before.alignment, own));
    members.push_back({std::move(name), std::move(type), offset});
}

void Layout::embed(const std::string& name, const Layout& structure, bool is_open) {
    const End before = end();
    const std::size_t own = structure.end().alignment;
    const std::size_t offset = align_up(before.bytes, own);
    bytes = align_up(offset + structure.bytes, std::max(before.alignment, own));
    parts.push_back({name, offset, structure.bytes});
    for (const Member& member : structure.members) {
        const std::string path = cat(name, '.', member.name);
        members.push_back({is_open ? member.name : path, member.type, offset + member.offset});
        if (is_open) parts.push_back({path, offset + member.offset, member.type.bytes});
    }
    for (const Part& part : structure.parts) {
        const std::string path = cat(name, '.', part.name);
        parts.push_back({path, offset + part.offset, part.bytes});
        if (is_open) parts.push_back({part.name, offset + part.offset, part.bytes});
    }
}

std::size_t Aggregation::buckets() const {
    constexpr std::size_t kBits = 64;
    switch (kind) {
        case Kind::log2:
        case Kind::log_linear:
            // Values below 2^bits have a bucket each; every power of two above has 2^bits.
            return (kBits - bucket_bits() + 1) * (std::size_t{1} << bucket_bits());
        case Kind::linear:
            return static_cast<std::size_t>((high - low + step - 1) / step) + 2;
        default:
            return 1;
    }
}

std::size_t Aggregation::bytes() const {
    switch (kind) {
        case Kind::none:
            return 0;
        case Kind::count:
        case Kind::sum:
            return kWordBytes;
        case Kind::min:
        case Kind::max:
        case Kind::avg:
            return 2 * kWordBytes;
        case Kind::stats:
        case Kind::log2:
        case Kind::log_linear:
        case Kind::linear:
            return 4 * kWordBytes;
    }
    return 0;
}

}  // namespace gpufs
