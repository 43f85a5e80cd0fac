#include "lang/dwarf/type.h"

#include <algorithm>
#include <bit>

#include "base/byte_reader.h"
#include "base/cat.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/operations.h"

namespace gpufs {
namespace {

// In a damaged file, types are of themselves: by one way, and by ways whose number doubles with
// each level.
constexpr int kDeepestType = 32;
constexpr int kMostStructures = 1'000;  // looked into for one name, or for all

bool is_structure(unsigned tag) {
    return tag == dw::TAG_structure_type || tag == dw::TAG_class_type || tag == dw::TAG_union_type;
}

bool is_transparent(unsigned tag) {
    switch (tag) {
        case dw::TAG_typedef:
        case dw::TAG_const_type:
        case dw::TAG_volatile_type:
        case dw::TAG_restrict_type:
        case dw::TAG_atomic_type:
            return true;
    }
    return false;
}

// An array's index, counted from 0; absent behind the last.
DwarfEntry dimension_of(const DwarfEntry& array, std::size_t number) {
    DwarfEntry found;
    for_each_child(array, [&](const DwarfEntry& child) {
        if (child.tag() == dw::TAG_subrange_type && number-- == 0) found = child;
        return !found;
    });
    return found;
}

// Of AT_data_member_location: a number, or an expression that adds one.
std::optional<std::uint64_t> member_offset(const DwarfEntry& member) {
    const auto place = find_attribute(member, dw::AT_data_member_location);
    if (!place) return 0;  // of a union, or of a bit field that has its offset in bits
    if (!place->is_block()) return constant_of(*place);
    ByteReader in(place->bytes);
    if (in.byte() != dw::OP_plus_uconst) return std::nullopt;
    const std::uint64_t offset = in.uleb();
    return in.is_good() && in.at_end() ? std::optional(offset) : std::nullopt;
}

std::optional<DwarfMember> placed_member(const DwarfEntry& entry) {
    const auto at = member_offset(entry);
    if (!at) return std::nullopt;  // of a virtual base class: the program computes it
    DwarfMember made{entry, *at, std::nullopt, 0};
    const auto bits = number_of(entry, dw::AT_bit_size);
    if (!bits || *bits == 0 || *bits > 64) return made;
    std::uint64_t first = 0;  // counted from the structure's begin
    if (const auto whole = number_of(entry, dw::AT_data_bit_offset)) {
        first = *whole;
    } else if (const auto from_top = number_of(entry, dw::AT_bit_offset)) {
        // DWARF 2 and 3: from the highest bit of a unit of storage, which begins at `at`.
        auto storage = number_of(entry, dw::AT_byte_size);
        if (!storage) storage = type_of(entry).bytes();
        const std::uint64_t unit_bits = 8 * storage.value_or(0);
        first = 8 * *at + unit_bits - *from_top - *bits;
    } else {
        first = 8 * *at;
    }
    made.at = first / 8;
    made.first_bit = static_cast<unsigned>(first % 8);
    made.bits = static_cast<unsigned>(*bits);
    return made;
}

std::optional<DwarfMember> find_in(const DwarfType& structure, std::string_view name, int depth,
                                   int& left) {
    std::optional<DwarfMember> found;
    if (depth > kDeepestType || --left < 0) return found;
    for_each_child(structure.defined().entry, [&](const DwarfEntry& child) {
        const bool is_base = child.tag() == dw::TAG_inheritance;
        if (child.tag() != dw::TAG_member && !is_base) return true;
        const std::string_view its = name_of(child);
        if (!is_base && its == name) {
            found = placed_member(child);
        } else if (is_base || its.empty()) {
            const auto at = member_offset(child);
            if (at) found = find_in(type_of(child).stripped(), name, depth + 1, left);
            if (found) found->at += *at;
        }
        return !found;
    });
    return found;
}

// Those of a structure that begins at `begin` of the whole one.
void add_members(const DwarfType& structure, std::uint64_t begin, std::vector<DwarfMember>& members,
                 int depth, int& left) {
    if (depth > kDeepestType || --left < 0) return;
    for_each_child(structure.defined().entry, [&](const DwarfEntry& child) {
        const bool is_base = child.tag() == dw::TAG_inheritance;
        if (child.tag() != dw::TAG_member && !is_base) return true;
        if (is_base || name_of(child).empty()) {
            if (const auto at = member_offset(child))
                add_members(type_of(child).stripped(), begin + *at, members, depth + 1, left);
        } else if (auto member = placed_member(child)) {
            member->at += begin;
            members.push_back(*member);
        }
        return true;
    });
}

std::string text_of_type(const DwarfType& type, int depth) {
    const DwarfEntry& entry = type.entry;
    if (!entry) return "void";
    if (depth > kDeepestType) return "…";
    const auto target = [&] { return text_of_type(type.target(), depth + 1); };
    const auto pointer = [&](std::string_view mark) {
        const std::string to = target();
        return cat(to, to.ends_with('*') ? "" : " ", mark);
    };
    const std::string name(name_of(entry));
    switch (entry.tag()) {
        case dw::TAG_pointer_type:
            return pointer("*");
        case dw::TAG_reference_type:
            return pointer("&");
        case dw::TAG_rvalue_reference_type:
            return pointer("&&");
        case dw::TAG_const_type:
        case dw::TAG_volatile_type:
        case dw::TAG_restrict_type:
        case dw::TAG_atomic_type: {
            const std::string_view word = entry.tag() == dw::TAG_const_type      ? "const"
                                          : entry.tag() == dw::TAG_volatile_type ? "volatile"
                                          : entry.tag() == dw::TAG_restrict_type ? "restrict"
                                                                                 : "_Atomic";
            const std::string of = target();
            return of.ends_with('*') ? cat(of, ' ', word) : cat(word, ' ', of);
        }
        case dw::TAG_array_type: {
            DwarfType element = type;
            std::string counts;
            for (std::size_t index = type.dimension;
                 element.entry == type.entry && element.dimension == index && index < kDeepestType;
                 ++index) {
                const auto count = element.count();
                counts += count ? cat('[', *count, ']') : "[]";
                element = element.target();
            }
            if (element.entry == type.entry) return "…" + counts;
            return text_of_type(element, depth + 1) + counts;
        }
        case dw::TAG_subroutine_type:
            return "function";
        case dw::TAG_structure_type:
            return cat("struct ", name.empty() ? "{…}" : name);
        case dw::TAG_class_type:
            return name.empty() ? "class {…}" : name;
        case dw::TAG_union_type:
            return cat("union ", name.empty() ? "{…}" : name);
        case dw::TAG_enumeration_type:
            return cat("enum ", name.empty() ? "{…}" : name);
    }
    return name.empty() ? "unknown" : name;
}

bool is_signed_type(const DwarfType& type, int depth) {
    if (depth > kDeepestType) return false;
    if (type.kind() == DwarfType::Kind::enumeration) {
        // The type below it says so; older compilers leave it out.
        if (const DwarfType below = type.target().stripped(); below.entry)
            return is_signed_type(below, depth + 1);
        return std::ranges::any_of(enumerators(type),
                                   [](const auto& one) { return one.second < 0; });
    }
    const auto encoding = number_of(type.entry, dw::AT_encoding);
    return encoding == dw::ATE_signed || encoding == dw::ATE_signed_char;
}

std::optional<std::uint64_t> bytes_of_type(const DwarfType& given, int depth) {
    const DwarfType type = given.stripped().defined();
    if (!type.entry || depth > kDeepestType) return std::nullopt;
    if (type.kind() == DwarfType::Kind::array) {
        const auto count = type.count();
        const auto each = bytes_of_type(type.target(), depth + 1);
        if (count && each && (*each == 0 || *count <= ~std::uint64_t{0} / *each))
            return *count * *each;
        return std::nullopt;
    }
    if (const auto bytes = number_of(type.entry, dw::AT_byte_size)) return bytes;
    const bool is_address =
        type.kind() == DwarfType::Kind::pointer || type.kind() == DwarfType::Kind::reference;
    return is_address ? std::optional<std::uint64_t>(type.entry.unit->address_bytes) : std::nullopt;
}

}  // namespace

DwarfType type_of(const DwarfEntry& entry) {
    const DwarfEntry type = linked_entry(entry, dw::AT_type);
    // What has a unit of its own is known by its signature; gcc has nothing else here of it.
    if (is_structure(type.tag()) || type.tag() == dw::TAG_enumeration_type)
        if (const auto signature = find_attribute(type, dw::AT_signature))
            if (const DwarfEntry whole = entry_of(*signature)) return {whole, 0};
    return {type, 0};
}

DwarfType::Kind DwarfType::kind() const {
    switch (entry.tag()) {
        case dw::TAG_pointer_type:
            return Kind::pointer;
        case dw::TAG_reference_type:
        case dw::TAG_rvalue_reference_type:
            return Kind::reference;
        case dw::TAG_structure_type:
        case dw::TAG_class_type:
        case dw::TAG_union_type:
            return Kind::structure;
        case dw::TAG_array_type:
            return Kind::array;
        case dw::TAG_enumeration_type:
            return Kind::enumeration;
        case dw::TAG_base_type:
            break;
        default:
            return Kind::none;
    }
    switch (number_of(entry, dw::AT_encoding).value_or(0)) {
        case dw::ATE_boolean:
            return Kind::boolean;
        case dw::ATE_signed:
        case dw::ATE_unsigned:
            return Kind::integer;
        case dw::ATE_signed_char:
        case dw::ATE_unsigned_char:
        case dw::ATE_UTF:
            return Kind::character;
    }
    return Kind::floating;  // complex and decimal ones, too
}

bool DwarfType::is_signed() const {
    return is_signed_type(*this, 0);
}

bool DwarfType::is_char() const {
    return kind() == Kind::character && name_of(entry) == "char";
}

std::optional<std::uint64_t> DwarfType::bytes() const {
    return bytes_of_type(*this, 0);
}

DwarfType DwarfType::target() const {
    if (kind() == Kind::array && dimension_of(entry, dimension + 1)) return {entry, dimension + 1};
    return type_of(entry);
}

DwarfType DwarfType::stripped() const {
    DwarfType at = *this;
    for (int depth = 0; is_transparent(at.entry.tag()) && depth < kDeepestType; ++depth)
        at = at.target();
    return at;
}

std::optional<std::uint64_t> DwarfType::count() const {
    const DwarfEntry index = dimension_of(entry, dimension);
    if (!index) return std::nullopt;
    if (const auto count = number_of(index, dw::AT_count)) return count;
    const auto last = number_of(index, dw::AT_upper_bound);
    // A bound of -1 is gcc's for [0]; a variable's entry is of an array whose length varies.
    return last ? std::optional(*last + 1) : std::nullopt;
}

DwarfType DwarfType::defined() const {
    if (!is_structure(entry.tag()) && entry.tag() != dw::TAG_enumeration_type) return *this;
    if (!has_flag(entry, dw::AT_declaration)) return *this;
    const std::string_view name = name_of(entry);
    DwarfEntry found;
    for (const auto& unit : entry.unit->info->units()) {
        for_each_child(root_of(*unit), [&](const DwarfEntry& child) {
            if (child.tag() == entry.tag() && !has_flag(child, dw::AT_declaration) &&
                name_of(child) == name)
                found = child;
            return !found;
        });
        if (found) return {found, 0};
    }
    return *this;
}

std::string DwarfType::to_text() const {
    return text_of_type(*this, 0);
}

std::optional<DwarfMember> find_member(const DwarfType& structure, std::string_view name) {
    int left = kMostStructures;
    return find_in(structure, name, 0, left);
}

std::vector<DwarfMember> members(const DwarfType& structure) {
    std::vector<DwarfMember> all;
    int left = kMostStructures;
    add_members(structure, 0, all, 0, left);
    return all;
}

std::vector<std::string> member_names(const DwarfType& structure) {
    std::vector<std::string> names;
    for (const DwarfMember& member : members(structure)) names.emplace_back(name_of(member.entry));
    return names;
}

std::vector<std::pair<std::string, std::int64_t>> enumerators(const DwarfType& type) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for_each_child(type.defined().entry, [&](const DwarfEntry& child) {
        if (child.tag() == dw::TAG_enumerator)
            all.emplace_back(name_of(child), static_cast<std::int64_t>(
                                                 number_of(child, dw::AT_const_value).value_or(0)));
        return true;
    });
    return all;
}

}  // namespace gpufs
