#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpufs {

// The sections of a file with DWARF, unpacked; empty where it has none. Of a split file those with
// ".dwo" behind their names.
struct DwarfSections {
    std::string_view info, types, abbrev, str, line_str, str_offsets, addr, line;
    std::string_view loc, loclists, ranges, rnglists;
};

// How the entries of one kind are written: their tag, and their attributes in order.
struct DwarfAbbreviation {
    struct Part {
        unsigned name = 0, form = 0;
        std::int64_t constant = 0;  // of FORM_implicit_const
    };
    std::uint64_t code = 0;
    unsigned tag = 0;
    bool has_children = false;
    std::vector<Part> parts;
};
using DwarfAbbreviations = std::vector<DwarfAbbreviation>;  // sorted by code

class DwarfInfo;

// A unit: mostly what was compiled of one source.
struct DwarfUnit {
    const DwarfInfo* info = nullptr;
    std::string_view section;                       // .debug_info, or .debug_types of DWARF 4
    std::uint64_t begin = 0, entries = 0, end = 0;  // in it
    unsigned type = 0, version = 0;
    std::size_t offset_bytes = 4, address_bytes = 8;
    std::uint64_t id = 0;          // of a type, or of the split file that has the rest
    std::uint64_t type_entry = 0;  // of a type unit, from `begin`
    const DwarfAbbreviations* abbreviations = nullptr;
    // Where its parts of other sections begin.
    std::uint64_t str_offsets = 0, addr = 0, loclists = 0, rnglists = 0, ranges = 0;
    std::uint64_t low_pc = 0;
    const DwarfUnit* skeleton = nullptr;  // in the program's file; of a unit in a split file
};

// An entry of a unit ("DIE" in the standard): a function, a variable, a type. Absent entries are
// false, have no attributes and no children.
struct DwarfEntry {
    const DwarfUnit* unit = nullptr;
    std::uint64_t offset = 0;      // in the unit's section
    std::uint64_t attributes = 0;  // where they begin
    const DwarfAbbreviation* kind = nullptr;

    explicit operator bool() const noexcept { return kind != nullptr; }
    unsigned tag() const noexcept { return kind ? kind->tag : 0; }
    bool operator==(const DwarfEntry& other) const noexcept {
        return unit == other.unit && offset == other.offset;
    }
};

// An attribute as it is written.
struct DwarfAttribute {
    const DwarfUnit* unit = nullptr;
    unsigned name = 0, form = 0;
    std::uint64_t number = 0;  // a constant (sign-extended by its form), offset, index or flag
    std::string_view bytes;    // of a block, an expression or a string in place

    bool is_block() const;
};

// The units of a file's .debug_info and .debug_types. Damaged ones end the list; damaged entries
// read as absent. Nothing here throws.
class DwarfInfo {
public:
    // Borrows the sections' bytes, `shared` (what dwz moved out of several files:
    // .gnu_debugaltlink) and, of a split file, the unit of the program that it belongs to.
    explicit DwarfInfo(const DwarfSections& sections, const DwarfInfo* shared = nullptr,
                       const DwarfUnit* skeleton = nullptr);
    DwarfInfo(const DwarfInfo&) = delete;
    DwarfInfo& operator=(const DwarfInfo&) = delete;

    const DwarfSections& sections() const noexcept { return sections_; }
    const DwarfInfo* shared() const noexcept { return shared_; }
    std::span<const std::unique_ptr<DwarfUnit>> units() const noexcept { return units_; }
    // The unit of .debug_info that this offset is in; null if there is none.
    const DwarfUnit* unit_at(std::uint64_t offset) const;
    const DwarfUnit* type_unit(std::uint64_t id) const;

private:
    void take_units(std::string_view section, bool is_types);
    void take_bases(DwarfUnit& unit);
    const DwarfAbbreviations* abbreviations_at(std::uint64_t offset);

    DwarfSections sections_;
    const DwarfInfo* shared_;
    const DwarfUnit* skeleton_;
    std::vector<std::unique_ptr<DwarfUnit>> units_;  // those of .debug_info first
    std::size_t units_of_info_ = 0;
    std::map<std::uint64_t, DwarfAbbreviations> abbreviations_;  // by offset
};

DwarfEntry entry_at(const DwarfUnit& unit, std::uint64_t offset);
DwarfEntry root_of(const DwarfUnit& unit);
// The first entry below this one, the next beside it.
DwarfEntry first_child(const DwarfEntry& entry);
DwarfEntry next_sibling(const DwarfEntry& entry);

// Calls visit(child) for each entry below this one, but not below those, until it returns false.
template <class Visit>
void for_each_child(const DwarfEntry& entry, const Visit& visit) {
    for (DwarfEntry child = first_child(entry); child; child = next_sibling(child))
        if (!visit(child)) return;
}

std::optional<DwarfAttribute> find_attribute(const DwarfEntry& entry, unsigned name);
// What the entry is an instance or a definition of; absent where it is neither.
DwarfEntry origin_of(const DwarfEntry& entry);
// The same, or else that of what the entry is an instance or a definition of.
std::optional<DwarfAttribute> find_inherited(const DwarfEntry& entry, unsigned name);

// What an attribute means, by its form; absent if it means no such thing or leads out of a section.
std::optional<std::string_view> text_of(const DwarfAttribute& attribute);
std::optional<std::uint64_t> constant_of(const DwarfAttribute& attribute);
std::optional<std::uint64_t> address_of(const DwarfAttribute& attribute);
DwarfEntry entry_of(const DwarfAttribute& attribute);

// Of an entry or of what it is an instance of: its name (empty: none), a number, an entry.
std::string_view name_of(const DwarfEntry& entry);
std::optional<std::uint64_t> number_of(const DwarfEntry& entry, unsigned name);
DwarfEntry linked_entry(const DwarfEntry& entry, unsigned name);
bool has_flag(const DwarfEntry& entry, unsigned name);

// Entry `index` of the unit's addresses.
std::optional<std::uint64_t> indexed_address(const DwarfUnit& unit, std::uint64_t index);

}  // namespace gpufs
