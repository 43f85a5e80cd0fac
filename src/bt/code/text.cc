#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/bytes.h"
#include "bt/code/probe_code.h"

// Texts and bytes: reading them, comparing them.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

std::uint64_t word_of(std::string_view text, std::size_t at, std::size_t bytes) {
    std::uint64_t word = 0;
    if (at < text.size()) std::memcpy(&word, text.data() + at, std::min(bytes, text.size() - at));
    return word;
}

}  // namespace

void ProbeCode::unless_same_bytes(const Local& a, const Local& b, std::size_t bytes,
                                  ir::Label otherwise) {
    for (std::size_t i = 0; i < bytes;) {
        const auto at = static_cast<std::int64_t>(i);
        const std::size_t width = widest_access(bytes - i, a.offset + at, b.offset + at);
        const ir::Type type{static_cast<std::uint8_t>(width), false};
        code_.branch(ir::Cmp::ne, ir::kU64, code_.load(a.place(at), type),
                     code_.load(b.place(at), type), otherwise);
        i += width;
    }
}

void ProbeCode::unless_equals_literal(const Value& text, std::string_view literal,
                                      ir::Label otherwise, std::size_t limit) {
    // With its NUL, unless only the first `limit` bytes count.
    const std::size_t bytes = std::min(literal.size() + 1, limit);
    if (bytes > text.type->bytes) return code_.jump(otherwise);
    const bool is_in_record = text.field && !text.field->is_dynamic() && bytes <= text.field->size;
    Value part = text;
    // Of a text elsewhere no more is read than tells the two apart.
    const std::size_t enough = align_up(bytes + 1, kWord);
    if (!text.bytes && !text.is_task_name && enough < text.type->bytes)
        part.type = string_type(enough);
    const Local there = is_in_record ? Local{*context_, 0} : in_memory(part, part.type);
    for (std::size_t i = 0; i < bytes;) {
        const auto from =
            (is_in_record ? static_cast<std::int64_t>(text.field->offset) : there.offset) +
            static_cast<std::int64_t>(i);
        const std::size_t width = widest_access(bytes - i, from);
        std::optional<ir::Temp> word;
        if (is_in_record) {
            Relocation at = Relocation::to(Relocation::Kind::field_offset, text.field->name);
            at.addend = static_cast<std::int64_t>(i);
            word =
                code_.load({*context_, std::move(at)}, {static_cast<std::uint8_t>(width), false});
        } else {
            word = code_.load(there.place(static_cast<std::int64_t>(i)),
                              {static_cast<std::uint8_t>(width), false});
        }
        code_.branch(ir::Cmp::ne, ir::kU64, *word, word_of(literal, i, width), otherwise);
        i += width;
    }
}

void ProbeCode::unless_equal(const Value& a, const Value& b, ir::Label otherwise,
                             std::size_t limit) {
    const auto is_name = [](const Value& value) { return value.type->is(Kind::probe_name); };
    if (is_name(a) || is_name(b)) {
        const auto as_number = [&](const Value& value) {
            return value.literal ? ir::Operand(shared_.add_name(*value.literal)) : number(value);
        };
        return code_.branch(ir::Cmp::ne, ir::kU64, as_number(a), as_number(b), otherwise);
    }
    if (a.literal && b.literal) {
        if (up_to_nul(*a.literal).substr(0, limit) != up_to_nul(*b.literal).substr(0, limit))
            code_.jump(otherwise);
        return;
    }
    if (b.literal) return unless_equals_literal(a, up_to_nul(*b.literal), otherwise, limit);
    if (a.literal) return unless_equals_literal(b, up_to_nul(*a.literal), otherwise, limit);
    const Local x = in_memory(a, a.type), y = in_memory(b, b.type);
    const std::size_t common = std::min({a.type->bytes, b.type->bytes, limit});
    if (limit > common) {
        // Zeros are behind each text: where both are equal so far, the longer one must end here.
        unless_same_bytes(x, y, common, otherwise);
        const Local& longer = a.type->bytes > b.type->bytes ? x : y;
        if (a.type->bytes != b.type->bytes)
            code_.branch(ir::Cmp::ne, ir::kU64, code_.load(longer.at(common).place(), ir::kU8), 0,
                         otherwise);
        return;
    }
    // Bytes behind the ends do not count; as zeros follow the end, all are equal if the texts are.
    unless_same_bytes(x, y, common, otherwise);
}

}  // namespace gpufs::bt
