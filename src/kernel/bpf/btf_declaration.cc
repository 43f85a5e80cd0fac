#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/sorted.h"
#include "kernel/bpf/btf_types.h"

// Types as C declares them.
namespace gpufs {
namespace {

constexpr unsigned kMostDepth = 32;

std::string with_blank(std::string_view type, std::string_view inner) {
    return inner.empty() ? std::string(type) : cat(type, ' ', inner);
}

}  // namespace

// `inner` is what the declarator has so far, from the name outwards: "*next", "(*show)".
std::string Btf::Types::declaration(std::uint32_t id, std::string inner, unsigned depth) const {
    if (id == 0) return with_blank("void", inner);
    if (depth > kMostDepth) throw Error(cat(reader_.path(), " is damaged: types go round"));
    const BtfRecord type = reader_.type(id);
    const auto of = [&](std::string more) {
        return declaration(type.head.type, std::move(more), depth + 1);
    };
    switch (type.kind()) {
        case BTF_KIND_PTR: {
            const auto to = bare(type.head.type);
            const bool binds_weaker =
                to && (to->kind() == BTF_KIND_ARRAY || to->kind() == BTF_KIND_FUNC_PROTO) &&
                bare_with_alias(type.head.type).alias == 0;
            return of(binds_weaker ? cat("(*", inner, ')') : cat('*', inner));
        }
        case BTF_KIND_ARRAY: {
            const auto array = type.entry<btf_array>(0);
            return declaration(array.type, cat(inner, '[', array.nelems, ']'), depth + 1);
        }
        case BTF_KIND_FUNC_PROTO: {
            std::string parameters;
            for (std::uint32_t i = 0; i < type.count(); ++i) {
                const auto one = type.entry<btf_param>(i);
                // The last one of a function that takes any number of them.
                const bool is_any = one.type == 0 && i + 1 == type.count();
                parameters += cat(
                    i == 0 ? "" : ", ",
                    is_any ? "..." : declaration(one.type, reader_.name(one.name_off), depth + 1));
            }
            return of(cat(inner, '(', parameters.empty() ? "void" : parameters, ')'));
        }
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE: {
            const char* const word = type.kind() == BTF_KIND_CONST ? "const" : "volatile";
            const bool is_pointer =
                type.head.type != 0 && reader_.type(type.head.type).kind() == BTF_KIND_PTR;
            if (is_pointer) return of(with_blank(word, inner));
            return cat(word, ' ', of(std::move(inner)));
        }
        case BTF_KIND_RESTRICT:
        case kBtfTypeTag:
            return of(std::move(inner));
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
            if (type.head.name_off == 0) return with_blank(definition(type, depth + 1), inner);
            break;
        case BTF_KIND_ENUM:
        case kBtfEnum64:
            if (type.head.name_off == 0) return with_blank("enum", inner);
            break;
        default:
            break;
    }
    return with_blank(text(id), inner);
}

// "struct NAME {", a member a line, "}", without what may follow it.
std::string Btf::Types::definition(const BtfRecord& type, unsigned depth) const {
    const std::string indent(depth, '\t');
    std::string lines =
        cat(type.head.name_off == 0 ? (type.kind() == BTF_KIND_UNION ? "union " : "struct ")
                                    : cat(text(type.id), ' '),
            "{\n");
    if (type.kind() == BTF_KIND_ENUM || type.kind() == kBtfEnum64) {
        for (const auto& [number, word] : words(type))
            lines += cat(indent, '\t', word, " = ", number, ",\n");
        return cat(lines, indent, '}');
    }
    for (std::uint32_t i = 0; i < type.count(); ++i) {
        const Member one = member(type, i);
        lines += cat(indent, '\t', declaration(one.type, reader_.name(one.name), depth));
        if (one.bit_size != 0) lines += cat(" : ", one.bit_size);
        lines += ";\n";
    }
    return cat(lines, indent, '}');
}

std::string Btf::definition(std::uint32_t id) const {
    const Types types(*reader_);
    const auto type = types.bare(id);
    return type ? cat(types.definition(*type, 0), ";\n") : std::string();
}

std::vector<std::string> Btf::members_as_text(std::uint32_t id) const {
    const Types types(*reader_);
    std::vector<std::string> lines;
    const auto in = types.bare(id);
    if (!in || !Types::is_composite(*in)) return lines;
    for (const Types::Member& one : types.members(*in))
        lines.push_back(types.declaration(one.type, reader_->name(one.name), 0));
    return lines;
}

std::vector<std::string> Btf::type_names(std::uint32_t kind) const {
    std::vector<std::string> names;
    for (const std::uint32_t place : reader_->names_of(kind))
        if (place != 0) names.push_back(reader_->name(place));
    sort_unique(names);
    return names;
}

}  // namespace gpufs
