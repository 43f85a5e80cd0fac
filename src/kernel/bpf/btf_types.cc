#include "kernel/bpf/btf_types.h"

#include "base/c_integer.h"
#include "base/cat.h"
#include "base/error.h"

namespace gpufs {
namespace {

bool is_wrapper(const BtfRecord& type) {
    switch (type.kind()) {
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_RESTRICT:
        case kBtfTypeTag:
            return true;
        default:
            return false;
    }
}

// One of BTF_KIND_ENUM64's (Linux 6.0).
struct Enum64 {
    std::uint32_t name, low, high;
};

}  // namespace

Btf::Types::Bare Btf::Types::bare_with_alias(std::uint32_t id) const {
    Bare bare;
    for (int depth = 0; id != 0; ++depth) {
        BtfRecord type = reader_.type(id);
        if (!is_wrapper(type)) {
            bare.type = std::move(type);
            return bare;
        }
        if (depth > 32) throw Error(cat(reader_.path(), " is damaged: types go round"));
        if (type.kind() == BTF_KIND_TYPEDEF) bare.alias = type.head.name_off;
        id = type.head.type;
    }
    return bare;
}

std::string Btf::Types::text(std::uint32_t id) const {
    if (id == 0) return "void";
    const BtfRecord type = reader_.type(id);
    std::string name = reader_.name(type.head.name_off);
    switch (type.kind()) {
        case BTF_KIND_PTR: {
            const std::string to = text(type.head.type);
            return cat(to, to.ends_with('*') ? "*" : " *");
        }
        case BTF_KIND_ARRAY: {
            const auto array = type.entry<btf_array>(0);
            return cat(text(array.type), '[', array.nelems, ']');
        }
        case BTF_KIND_CONST:
            return "const " + text(type.head.type);
        case BTF_KIND_VOLATILE:
            return "volatile " + text(type.head.type);
        case BTF_KIND_RESTRICT:
        case kBtfTypeTag:
            return text(type.head.type);
        case BTF_KIND_FUNC_PROTO:
            return "function";
        case BTF_KIND_STRUCT:
            return "struct " + name;
        case BTF_KIND_UNION:
            return "union " + name;
        case BTF_KIND_FWD:
            return cat(type.kind_flag() ? "union " : "struct ", name);
        case BTF_KIND_ENUM:
        case kBtfEnum64:
            return "enum " + name;
        default:
            return name;
    }
}

std::size_t Btf::Types::size(const std::optional<BtfRecord>& type) const {
    if (!type) return 0;
    switch (type->kind()) {
        case BTF_KIND_PTR:
            return sizeof(void*);  // of this kernel, as of this program
        case BTF_KIND_ARRAY: {
            const auto array = type->entry<btf_array>(0);
            return array.nelems * size(bare(array.type));
        }
        case BTF_KIND_FWD:
        case BTF_KIND_FUNC_PROTO:
            return 0;
        default:
            return type->head.size;
    }
}

bool Btf::Types::is_signed(const std::optional<BtfRecord>& type) {
    if (!type) return false;
    switch (type->kind()) {
        case BTF_KIND_INT:
            return BTF_INT_ENCODING(type->entry<__u32>(0)) & BTF_INT_SIGNED;
        case kBtfEnum64:
            return type->kind_flag();
        case BTF_KIND_ENUM:
            // Before Linux 6.0 an enum does not say whether it is signed.
            if (type->kind_flag()) return true;
            for (std::uint32_t i = 0; i < type->count(); ++i)
                if (type->entry<btf_enum>(i).val < 0) return true;
            return false;
        default:
            return false;
    }
}

bool Btf::Types::is_char(const std::optional<BtfRecord>& type) const {
    return type && type->kind() == BTF_KIND_INT && type->head.size == 1 &&
           reader_.name(type->head.name_off) == "char";
}

bool Btf::Types::is_text(const std::optional<BtfRecord>& type) const {
    return type && type->kind() == BTF_KIND_ARRAY && is_char(bare(type->entry<btf_array>(0).type));
}

BtfValue Btf::Types::value(std::uint32_t name, std::uint32_t id) const {
    const auto type = bare(id);
    return {reader_.name(name), size(type), is_signed(type), type && type->kind() == BTF_KIND_PTR,
            text(id),           id};
}

Btf::Types::Member Btf::Types::member(const BtfRecord& in, std::uint32_t index) {
    const auto member = in.entry<btf_member>(index);
    const bool has_bits = in.kind_flag();
    return {member.name_off, member.type,
            has_bits ? BTF_MEMBER_BIT_OFFSET(member.offset) : member.offset,
            has_bits ? BTF_MEMBER_BITFIELD_SIZE(member.offset) : 0};
}

std::optional<Btf::Types::Member> Btf::Types::find_member(const BtfRecord& in,
                                                          std::string_view wanted) const {
    for (std::uint32_t i = 0; i < in.count(); ++i) {
        const Member here = member(in, i);
        if (here.name && reader_.name(here.name) == wanted) return here;
        if (here.name) continue;
        const auto inner = bare(here.type);
        if (!inner || !is_composite(*inner)) continue;
        if (auto found = find_member(*inner, wanted)) {
            found->bit_offset += here.bit_offset;
            return found;
        }
    }
    return std::nullopt;
}

void Btf::Types::add_members(const BtfRecord& in, std::uint32_t bit_offset,
                             std::vector<Member>& found) const {
    for (std::uint32_t i = 0; i < in.count(); ++i) {
        Member here = member(in, i);
        here.bit_offset += bit_offset;
        if (here.name) {
            found.push_back(here);
        } else if (const auto inner = bare(here.type); inner && is_composite(*inner)) {
            add_members(*inner, here.bit_offset, found);
        }
    }
}

std::vector<Btf::Types::Member> Btf::Types::members(const BtfRecord& in) const {
    std::vector<Member> found;
    add_members(in, 0, found);
    return found;
}

std::optional<Btf::Types::Bits> Btf::Types::bit_field(const Member& member,
                                                      const std::optional<BtfRecord>& type) const {
    // Before kernels were built with kind flags, the integer's type carried the bits.
    std::uint32_t bits = member.bit_size, extra = 0;
    if (!bits && type && type->kind() == BTF_KIND_INT) {
        const auto encoded = type->entry<__u32>(0);
        if (BTF_INT_BITS(encoded) != type->head.size * 8 || BTF_INT_OFFSET(encoded)) {
            bits = BTF_INT_BITS(encoded);
            extra = BTF_INT_OFFSET(encoded);
        }
    }
    const std::size_t unit_bytes = size(type);
    if (!bits || !unit_bytes) return std::nullopt;
    const BitPlace place = bit_place(member.bit_offset + extra, bits, unit_bytes);
    return Bits{place.offset, place.shift, bits};
}

std::vector<std::pair<std::int64_t, std::string>> Btf::Types::words(const BtfRecord& type) const {
    std::vector<std::pair<std::int64_t, std::string>> words;
    const bool has_sign = is_signed(type);
    const auto number = [&](__s32 value) {
        return has_sign ? std::int64_t{value} : std::int64_t{static_cast<std::uint32_t>(value)};
    };
    for (std::uint32_t i = 0; i < type.count(); ++i) {
        if (type.kind() == kBtfEnum64) {
            const auto entry = type.entry<Enum64>(i);
            words.emplace_back(
                static_cast<std::int64_t>(std::uint64_t{entry.high} << 32 | entry.low),
                reader_.name(entry.name));
        } else if (type.kind() == BTF_KIND_ENUM) {
            const auto entry = type.entry<btf_enum>(i);
            words.emplace_back(number(entry.val), reader_.name(entry.name_off));
        }
    }
    return words;
}

std::vector<std::uint32_t> Btf::Types::word_places(const BtfRecord& type) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < type.count(); ++i)
        places.push_back(type.kind() == kBtfEnum64 ? type.entry<Enum64>(i).name
                                                   : type.entry<btf_enum>(i).name_off);
    return places;
}

}  // namespace gpufs
