#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/dwarf/info.h"

namespace gpufs {

// A type of a program. Of an array, `dimension` of its indexes are taken: an element of int[2][3]
// is the same entry with the first one taken, and of an element of that the type is int.
struct DwarfType {
    DwarfEntry entry;  // absent: void
    std::size_t dimension = 0;

    enum class Kind {
        none,  // void, a function, what is unknown
        integer,
        boolean,
        character,
        floating,
        enumeration,
        pointer,
        reference,
        structure,  // or class, or union
        array,
    };
    Kind kind() const;
    bool is_signed() const;  // of numbers and enumerations
    // In bytes; absent if the file does not say it.
    std::optional<std::uint64_t> bytes() const;
    // As C writes it: "const char *", "struct request", "int[8]".
    std::string to_text() const;

    // What a pointer points to, an array has, or a typedef, a qualifier, a variable or a member is
    // of.
    DwarfType target() const;
    // Without typedefs and qualifiers.
    DwarfType stripped() const;
    // Of an array: how many elements the next index has; absent if that is not known.
    std::optional<std::uint64_t> count() const;
    // The same type with its members, if this one only declares it and the file has another.
    DwarfType defined() const;
    // A plain char: an array of these, or what a pointer to one points to, is a text.
    bool is_char() const;
};

// The type of a variable, a member or a function's result.
DwarfType type_of(const DwarfEntry& entry);

// A member of a structure, also of one without a name in it, or of a base class.
struct DwarfMember {
    DwarfEntry entry;
    std::uint64_t at = 0;  // in bytes, from the structure's begin
    // Of a bit field, counted from the lowest bit of `at`.
    std::optional<unsigned> bits;
    unsigned first_bit = 0;
};
std::optional<DwarfMember> find_member(const DwarfType& structure, std::string_view name);
// All whose place is known, in their order; of a name that a base class has, too, both.
std::vector<DwarfMember> members(const DwarfType& structure);
std::vector<std::string> member_names(const DwarfType& structure);

// The names of an enumeration's values.
std::vector<std::pair<std::string, std::int64_t>> enumerators(const DwarfType& type);

}  // namespace gpufs
