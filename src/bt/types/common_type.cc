#include "bt/types/common_type.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

TypePtr merged_tuples(const Type& a, const Type& b) {
    if (a.fields.size() != b.fields.size()) return nullptr;
    std::vector<Type::Field> fields = a.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Type::Field* const other = same_field(b, fields[i], i);
        if (!other) return nullptr;
        fields[i].type = merged(fields[i].type, other->type);
        if (!fields[i].type) return nullptr;
    }
    return tuple_type(std::move(fields));
}

TypePtr merged_integers(const TypePtr& a, const TypePtr& b) {
    if (!a->words.empty() && !b->words.empty() && a->name == b->name) {
        auto both = std::make_shared<Type>(*a);
        for (const auto& word : b->words)
            if (std::ranges::find(both->words, word) == both->words.end())
                both->words.push_back(word);
        return both;
    }
    const bool is_signed = a->has_any_sign                ? b->is_signed
                           : b->has_any_sign              ? a->is_signed
                           : a->is_signed == b->is_signed ? a->is_signed
                                                          : is_signed_together(*a, *b);
    Type both = *integer_type(kWord, is_signed);
    both.told_bytes = std::max(told_size(*a), told_size(*b));
    both.has_any_sign = a->has_any_sign && b->has_any_sign;
    return std::make_shared<const Type>(std::move(both));
}

// Null where they point to what is not alike. A pointer to nothing known goes with all.
TypePtr merged_pointers(const TypePtr& a, const TypePtr& b) {
    const auto is_plain = [](const Type& type) {
        return !type.element || type.element->is(Kind::none);
    };
    if (is_plain(*a) || is_plain(*b)) return is_plain(*a) ? b : a;
    const Type &of = *a->element, &other = *b->element;
    if (of.kind != other.kind) return nullptr;
    if (of.is(Kind::structure))
        return of.name == other.name || of.name.empty() || other.name.empty() ? a : nullptr;
    if (of.is(Kind::pointer)) return merged_pointers(a->element, b->element) ? a : nullptr;
    return of.bytes == other.bytes ? a : nullptr;
}

// Of what maps accumulate: one of the two.
const TypePtr& merged_signs(const TypePtr& a, const TypePtr& b) {
    if (a->has_any_sign != b->has_any_sign) return a->has_any_sign ? b : a;
    return a->is_signed ? a : b;
}

}  // namespace

bool fits_int64(const Type& type) {
    return type.is_signed || told_size(type) < kWord;
}

bool is_signed_together(const Type& a, const Type& b) {
    if (!fits_int64(a) && !fits_int64(b)) return false;
    return a.is_signed || b.is_signed || (fits_int64(a) && fits_int64(b));
}

TypePtr stored(const TypePtr& type) {
    if (!type) return type;
    switch (type->kind) {
        case Kind::integer: {
            if (type->bytes == kWord) return type;
            auto wide = std::make_shared<Type>(*type);
            wide->told_bytes = told_size(*type);
            wide->bytes = kWord;
            return wide;
        }
        case Kind::string:
            if (type->bytes % kWord == 0) return type;
            return told_as(string_type(align_up(type->bytes, kWord)), told_size(*type));
        case Kind::tuple: {
            std::vector<Type::Field> fields = type->fields;
            for (Type::Field& field : fields) field.type = stored(field.type);
            return tuple_type(std::move(fields));
        }
        default:
            return type;
    }
}

TypePtr merged(const TypePtr& a, const TypePtr& b) {
    if (!a || !b) return a ? a : b;
    if (a->is_number() && b->is_number()) {
        if (a->is(Kind::boolean) && b->is(Kind::boolean)) return a;
        if (a->is(Kind::boolean)) return stored(b);
        if (b->is(Kind::boolean)) return stored(a);
        return merged_integers(stored(a), stored(b));
    }
    // The name of a function, by whichever of the two.
    if (a->is(Kind::probe_name) && b->is(Kind::kernel_symbol)) return a;
    if (a->is(Kind::kernel_symbol) && b->is(Kind::probe_name)) return b;
    if (a->kind != b->kind) return nullptr;
    switch (a->kind) {
        case Kind::string:
            return told_as(a->bytes >= b->bytes ? a : b, std::max(told_size(*a), told_size(*b)));
        case Kind::buffer:
            return a->bytes >= b->bytes ? a : b;
        case Kind::tuple:
            return merged_tuples(*a, *b);
        case Kind::pointer:
            return merged_pointers(a, b);
        case Kind::kernel_stack:
        case Kind::user_stack:
            return a->map == b->map && a->form == b->form ? a : nullptr;
        case Kind::hist:
            return a->bits == b->bits ? a : nullptr;
        case Kind::lhist:
            return a->low == b->low && a->high == b->high && a->step == b->step ? a : nullptr;
        case Kind::tseries:
            return a->count == b->count && a->step == b->step && a->element->is(b->element->kind)
                       ? merged_signs(a, b)
                       : nullptr;
        case Kind::array:
        case Kind::structure:
            return is_alike(*a, *b) ? a : nullptr;
        default:
            return merged_signs(a, b);
    }
}

bool same(const TypePtr& a, const TypePtr& b) {
    if (!a || !b) return !a == !b;
    return a->kind == b->kind && a->bytes == b->bytes && told_size(*a) == told_size(*b) &&
           a->is_signed == b->is_signed && a->has_any_sign == b->has_any_sign &&
           a->words.size() == b->words.size() &&
           (!a->element || !b->element || a->element == b->element ||
            is_alike(*a->element, *b->element)) &&
           std::ranges::equal(a->fields, b->fields, [](const auto& x, const auto& y) {
               return x.offset == y.offset && same(x.type, y.type);
           });
}

const Type::Field* same_field(const Type& tuple, const Type::Field& field, std::size_t index) {
    if (!field.name.empty()) {
        const auto found = std::ranges::find(tuple.fields, field.name, &Type::Field::name);
        return found == tuple.fields.end() ? nullptr : &*found;
    }
    if (index >= tuple.fields.size() || !tuple.fields[index].name.empty()) return nullptr;
    return &tuple.fields[index];
}

}  // namespace gpufs::bt
