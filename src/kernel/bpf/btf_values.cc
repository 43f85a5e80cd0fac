#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/sorted.h"
#include "kernel/bpf/btf.h"
#include "kernel/bpf/btf_types.h"

// Types as values: what Btf answers of them.
namespace gpufs {
namespace {

BtfType::Kind kind_of(std::uint32_t kind) {
    switch (kind) {
        case BTF_KIND_PTR:
            return BtfType::Kind::pointer;
        case BTF_KIND_ARRAY:
            return BtfType::Kind::array;
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
        case BTF_KIND_FWD:
            return BtfType::Kind::structure;
        case BTF_KIND_ENUM:
        case kBtfEnum64:
            return BtfType::Kind::enumeration;
        case BTF_KIND_INT:
            return BtfType::Kind::integer;
        default:
            return BtfType::Kind::other;
    }
}

}  // namespace

std::optional<std::uint32_t> Btf::find_type(std::string_view name) const {
    const auto found = reader_->find_named(name);
    for (const auto kinds :
         {std::array{std::uint32_t{BTF_KIND_STRUCT}, std::uint32_t{BTF_KIND_UNION}},
          std::array{std::uint32_t{BTF_KIND_ENUM}, kBtfEnum64},
          std::array{std::uint32_t{BTF_KIND_TYPEDEF}, std::uint32_t{BTF_KIND_TYPEDEF}}})
        for (const Reader::Named& one : found)
            if (std::ranges::find(kinds, one.kind) != kinds.end()) return one.id;
    return std::nullopt;
}

BtfType Btf::type(std::uint32_t id) const {
    const Types types(*reader_);
    const auto [bare, alias] = types.bare_with_alias(id);
    BtfType type;
    if (!bare) return type;
    type.kind = kind_of(bare->kind());
    type.id = bare->id;
    type.size = types.size(bare);
    type.is_signed = Types::is_signed(bare);
    switch (type.kind) {
        case BtfType::Kind::structure:
            type.is_union = bare->kind() == BTF_KIND_UNION ||
                            (bare->kind() == BTF_KIND_FWD && bare->kind_flag());
            [[fallthrough]];
        case BtfType::Kind::enumeration:
            type.name = reader_->name(bare->head.name_off ? bare->head.name_off : alias);
            break;
        case BtfType::Kind::pointer:
            type.element = bare->head.type;
            break;
        case BtfType::Kind::array: {
            const auto array = bare->entry<btf_array>(0);
            type.element = array.type;
            type.count = array.nelems;
            break;
        }
        case BtfType::Kind::integer:
            if (BTF_INT_ENCODING(bare->entry<__u32>(0)) & BTF_INT_BOOL)
                type.kind = BtfType::Kind::boolean;
            else if (types.is_char(bare))
                type.kind = BtfType::Kind::character;
            break;
        default:
            break;
    }
    return type;
}

std::vector<BtfMember> Btf::members(std::uint32_t id) const {
    const Types types(*reader_);
    std::vector<BtfMember> members;
    const auto in = types.bare(id);
    if (!in || !Types::is_composite(*in)) return members;
    for (const Types::Member& one : types.members(*in)) {
        BtfMember member{reader_->name(one.name), one.type, one.bit_offset / 8, 0, 0};
        // Only with kind flags off may an integer's type say that it is a bit field.
        if (one.bit_size != 0 || !in->kind_flag()) {
            if (const auto bits = types.bit_field(one, types.bare(one.type))) {
                member.offset = bits->offset;
                member.bit_shift = bits->shift;
                member.bit_size = bits->size;
            }
        }
        members.push_back(std::move(member));
    }
    return members;
}

std::vector<std::pair<std::int64_t, std::string>> Btf::words(std::uint32_t id) const {
    const Types types(*reader_);
    const auto type = types.bare(id);
    if (!type || kind_of(type->kind()) != BtfType::Kind::enumeration) return {};
    return types.words(*type);
}

std::optional<Btf::NamedNumber> Btf::enumerator(std::string_view name) const {
    if (name.empty()) return std::nullopt;
    const auto places = reader_->name_offsets(name);
    if (places.empty()) return std::nullopt;
    const Types types(*reader_);
    if (!enumerators_) {
        enumerators_.emplace();
        for (const std::uint32_t id : reader_->enums())
            for (const std::uint32_t place : Types::word_places(reader_->type(id)))
                enumerators_->push_back({place, id});
    }
    for (const Enumerator& one : *enumerators_) {
        if (!std::ranges::binary_search(places, one.name)) continue;
        for (const auto& [number, word] : types.words(reader_->type(one.type)))
            if (word == name) return NamedNumber{number, one.type};
    }
    return std::nullopt;
}

BtfFunction Btf::prototype(std::uint32_t function, std::uint32_t prototype) const {
    const Types types(*reader_);
    const BtfRecord proto = reader_->type(prototype);
    BtfFunction answer{function, {}, std::nullopt};
    for (std::uint32_t i = 0; i < proto.count(); ++i) {
        const auto parameter = proto.entry<btf_param>(i);
        answer.parameters.push_back(types.value(parameter.name_off, parameter.type));
    }
    if (proto.head.type) answer.returned = types.value(0, proto.head.type);
    return answer;
}

std::optional<BtfFunction> Btf::function(std::string_view name) const {
    const auto id = find_function(name);
    if (!id) return std::nullopt;
    return prototype(*id, reader_->type(*id).head.type);
}

std::vector<std::string> Btf::functions() const {
    std::vector<std::string> names;
    for (const std::uint32_t place : reader_->names_of(BTF_KIND_FUNC))
        names.push_back(reader_->name(place));
    sort_unique(names);
    return names;
}

std::optional<BtfFunction> Btf::function_typedef(std::string_view name) const {
    const auto id = reader_->find(name, std::array{std::uint32_t{BTF_KIND_TYPEDEF}});
    if (!id) return std::nullopt;
    const Types types(*reader_);
    const auto pointer = types.bare(*id);
    if (!pointer || pointer->kind() != BTF_KIND_PTR) return std::nullopt;
    const auto function = types.bare(pointer->head.type);
    if (!function || function->kind() != BTF_KIND_FUNC_PROTO) return std::nullopt;
    return prototype(*id, function->id);
}

}  // namespace gpufs
