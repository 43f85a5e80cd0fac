#include "lang/dwarf/info.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "base/sorted.h"
#include "lang/dwarf/numbers.h"

namespace gpufs {
namespace {

// Instances of instances; damaged files may have circles.
constexpr int kDeepestOrigin = 8;

ByteReader reader_at(std::string_view section, std::uint64_t offset) {
    return ByteReader(section.substr(std::min<std::uint64_t>(offset, section.size())));
}

std::optional<std::uint64_t> number_at(std::string_view section, std::uint64_t offset,
                                       std::size_t bytes) {
    if (offset > section.size()) return std::nullopt;
    ByteReader in = reader_at(section, offset);
    const std::uint64_t number = in.number(bytes);
    return in.is_good() ? std::optional(number) : std::nullopt;
}

std::optional<std::string_view> text_at(std::string_view section, std::uint64_t offset) {
    if (offset >= section.size()) return std::nullopt;
    ByteReader in = reader_at(section, offset);
    const std::string_view text = in.text();
    return in.is_good() ? std::optional(text) : std::nullopt;
}

DwarfAbbreviations parse_abbreviations(std::string_view bytes) {
    DwarfAbbreviations all;
    ByteReader in(bytes);
    while (!in.at_end()) {
        DwarfAbbreviation one;
        one.code = in.uleb();
        if (one.code == 0) break;
        one.tag = static_cast<unsigned>(in.uleb());
        one.has_children = in.byte() != 0;
        for (;;) {
            DwarfAbbreviation::Part part;
            part.name = static_cast<unsigned>(in.uleb());
            part.form = static_cast<unsigned>(in.uleb());
            if (part.form == dw::FORM_implicit_const) part.constant = in.sleb();
            if (!in.is_good() || (part.name == 0 && part.form == 0)) break;
            one.parts.push_back(part);
        }
        if (!in.is_good()) break;
        all.push_back(std::move(one));
    }
    if (!std::ranges::is_sorted(all, {}, &DwarfAbbreviation::code))
        sort_stably(all, {}, &DwarfAbbreviation::code);
    return all;
}

const DwarfAbbreviation* find_abbreviation(const DwarfAbbreviations& all, std::uint64_t code) {
    // Compilers count from 1.
    if (code <= all.size() && all[code - 1].code == code) return &all[code - 1];
    const auto found = std::ranges::lower_bound(all, code, {}, &DwarfAbbreviation::code);
    return found != all.end() && found->code == code ? &*found : nullptr;
}

// Reads one attribute. What has no size that is known here ends the reader.
DwarfAttribute take_attribute(ByteReader& in, const DwarfUnit& unit,
                              const DwarfAbbreviation::Part& part) {
    DwarfAttribute made{&unit, part.name, part.form, 0, {}};
    for (int level = 0; made.form == dw::FORM_indirect && level < kDeepestOrigin; ++level)
        made.form = static_cast<unsigned>(in.uleb());
    switch (made.form) {
        case dw::FORM_addr:
            made.number = in.number(unit.address_bytes);
            break;
        case dw::FORM_data1:
        case dw::FORM_ref1:
        case dw::FORM_flag:
        case dw::FORM_strx1:
        case dw::FORM_addrx1:
            made.number = in.number(1);
            break;
        case dw::FORM_data2:
        case dw::FORM_ref2:
        case dw::FORM_strx2:
        case dw::FORM_addrx2:
            made.number = in.number(2);
            break;
        case dw::FORM_strx3:
        case dw::FORM_addrx3:
            made.number = in.number(3);
            break;
        case dw::FORM_data4:
        case dw::FORM_ref4:
        case dw::FORM_ref_sup4:
        case dw::FORM_strx4:
        case dw::FORM_addrx4:
            made.number = in.number(4);
            break;
        case dw::FORM_data8:
        case dw::FORM_ref8:
        case dw::FORM_ref_sig8:
        case dw::FORM_ref_sup8:
            made.number = in.number(8);
            break;
        case dw::FORM_data16:
            made.bytes = in.take(16);
            break;
        case dw::FORM_sdata:
            made.number = static_cast<std::uint64_t>(in.sleb());
            break;
        case dw::FORM_udata:
        case dw::FORM_ref_udata:
        case dw::FORM_strx:
        case dw::FORM_addrx:
        case dw::FORM_loclistx:
        case dw::FORM_rnglistx:
        case dw::FORM_GNU_addr_index:
        case dw::FORM_GNU_str_index:
            made.number = in.uleb();
            break;
        case dw::FORM_strp:
        case dw::FORM_line_strp:
        case dw::FORM_strp_sup:
        case dw::FORM_sec_offset:
        case dw::FORM_GNU_ref_alt:
        case dw::FORM_GNU_strp_alt:
            made.number = in.number(unit.offset_bytes);
            break;
        case dw::FORM_ref_addr:
            // An offset since DWARF 3.
            made.number = in.number(unit.version <= 2 ? unit.address_bytes : unit.offset_bytes);
            break;
        case dw::FORM_string:
            made.bytes = in.text();
            break;
        case dw::FORM_block1:
            made.bytes = in.take(in.number(1));
            break;
        case dw::FORM_block2:
            made.bytes = in.take(in.number(2));
            break;
        case dw::FORM_block4:
            made.bytes = in.take(in.number(4));
            break;
        case dw::FORM_block:
        case dw::FORM_exprloc:
            made.bytes = in.take(in.uleb());
            break;
        case dw::FORM_flag_present:
            made.number = 1;
            break;
        case dw::FORM_implicit_const:
            made.number = static_cast<std::uint64_t>(part.constant);
            break;
        default:
            in.take(in.left() + 1);
    }
    return made;
}

// Calls visit(attribute) for each of the entry's attributes until it returns false. The offset
// behind them; 0 if they are damaged or the visit was ended.
template <class Visit>
std::uint64_t walk_attributes(const DwarfEntry& entry, const Visit& visit) {
    const std::string_view bytes = entry.unit->section.substr(0, entry.unit->end);
    ByteReader in = reader_at(bytes, entry.attributes);
    for (const DwarfAbbreviation::Part& part : entry.kind->parts) {
        const DwarfAttribute attribute = take_attribute(in, *entry.unit, part);
        if (!in.is_good() || !visit(attribute)) return 0;
    }
    return bytes.size() - in.left();
}

std::uint64_t end_of_attributes(const DwarfEntry& entry) {
    return walk_attributes(entry, [](const DwarfAttribute&) { return true; });
}

}  // namespace

bool DwarfAttribute::is_block() const {
    return form == dw::FORM_exprloc || form == dw::FORM_block || form == dw::FORM_block1 ||
           form == dw::FORM_block2 || form == dw::FORM_block4 || form == dw::FORM_data16;
}

DwarfInfo::DwarfInfo(const DwarfSections& sections, const DwarfInfo* shared,
                     const DwarfUnit* skeleton)
    : sections_(sections), shared_(shared), skeleton_(skeleton) {
    take_units(sections_.info, false);
    units_of_info_ = units_.size();
    take_units(sections_.types, true);
}

const DwarfAbbreviations* DwarfInfo::abbreviations_at(std::uint64_t offset) {
    const auto known = abbreviations_.find(offset);
    if (known != abbreviations_.end()) return &known->second;
    if (offset >= sections_.abbrev.size()) return nullptr;
    return &abbreviations_.emplace(offset, parse_abbreviations(sections_.abbrev.substr(offset)))
                .first->second;
}

void DwarfInfo::take_units(std::string_view section, bool is_types) {
    for (std::uint64_t at = 0; at < section.size();) {
        ByteReader in = reader_at(section, at);
        auto unit = std::make_unique<DwarfUnit>();
        unit->info = this;
        unit->section = section;
        unit->begin = at;
        const ByteReader::UnitLength length = in.unit_length();
        if (!in.is_good() || length.bytes > in.left()) return;
        unit->offset_bytes = length.offset_bytes;
        unit->end = section.size() - in.left() + length.bytes;
        unit->version = static_cast<unsigned>(in.number(2));
        std::uint64_t abbreviations = 0;
        if (unit->version >= 5) {
            unit->type = in.byte();
            unit->address_bytes = in.byte();
            abbreviations = in.number(unit->offset_bytes);
            if (unit->type == dw::UT_skeleton || unit->type == dw::UT_split_compile)
                unit->id = in.number(8);
        } else {
            unit->type = is_types ? dw::UT_type : dw::UT_compile;
            abbreviations = in.number(unit->offset_bytes);
            unit->address_bytes = in.byte();
        }
        if (unit->type == dw::UT_type || unit->type == dw::UT_split_type) {
            unit->id = in.number(8);
            unit->type_entry = in.number(unit->offset_bytes);
        }
        unit->entries = section.size() - in.left();
        at = unit->end;
        const bool is_known = unit->version >= 2 && unit->version <= 5 &&
                              (unit->address_bytes == 4 || unit->address_bytes == 8);
        if (!in.is_good() || unit->entries > unit->end || !is_known) continue;
        unit->abbreviations = abbreviations_at(abbreviations);
        if (!unit->abbreviations) continue;
        take_bases(*unit);
        units_.push_back(std::move(unit));
    }
}

void DwarfInfo::take_bases(DwarfUnit& unit) {
    unit.skeleton = skeleton_;
    // Where nothing else is said, a unit's part is the section's only one, behind its header.
    const bool is_long = unit.offset_bytes == 8;
    if (unit.version >= 5) {
        unit.str_offsets = unit.addr = is_long ? 16 : 8;
        unit.loclists = unit.rnglists = is_long ? 20 : 12;
    }
    const DwarfEntry root = root_of(unit);
    const auto take = [&](std::uint64_t& base, unsigned name) {
        if (const auto attribute = find_attribute(root, name)) base = attribute->number;
    };
    take(unit.str_offsets, dw::AT_str_offsets_base);
    take(unit.addr, dw::AT_addr_base);
    take(unit.addr, dw::AT_GNU_addr_base);
    take(unit.loclists, dw::AT_loclists_base);
    take(unit.rnglists, dw::AT_rnglists_base);
    take(unit.ranges, dw::AT_GNU_ranges_base);
    take(unit.id, dw::AT_GNU_dwo_id);
    if (const auto low = find_attribute(root, dw::AT_low_pc))
        unit.low_pc = address_of(*low).value_or(0);
    else if (skeleton_)
        unit.low_pc = skeleton_->low_pc;
}

const DwarfUnit* DwarfInfo::unit_at(std::uint64_t offset) const {
    const std::span of_info = units().first(units_of_info_);
    const auto after =
        std::ranges::upper_bound(of_info, offset, {}, [](const auto& unit) { return unit->begin; });
    if (after == of_info.begin()) return nullptr;
    const DwarfUnit& unit = **std::prev(after);
    return offset < unit.end ? &unit : nullptr;
}

const DwarfUnit* DwarfInfo::type_unit(std::uint64_t id) const {
    for (const auto& unit : units_)
        if (unit->type_entry != 0 && unit->id == id) return unit.get();
    return nullptr;
}

DwarfEntry entry_at(const DwarfUnit& unit, std::uint64_t offset) {
    if (offset < unit.entries || offset >= unit.end) return {};
    const std::string_view bytes = unit.section.substr(0, unit.end);
    ByteReader in = reader_at(bytes, offset);
    const std::uint64_t code = in.uleb();
    if (code == 0 || !in.is_good()) return {};
    return {&unit, offset, bytes.size() - in.left(), find_abbreviation(*unit.abbreviations, code)};
}

DwarfEntry root_of(const DwarfUnit& unit) {
    return entry_at(unit, unit.entries);
}

DwarfEntry first_child(const DwarfEntry& entry) {
    if (!entry || !entry.kind->has_children) return {};
    const std::uint64_t end = end_of_attributes(entry);
    return end == 0 ? DwarfEntry{} : entry_at(*entry.unit, end);
}

DwarfEntry next_sibling(const DwarfEntry& entry) {
    if (!entry) return {};
    std::uint64_t end = 0, sibling = 0;
    end = walk_attributes(entry, [&](const DwarfAttribute& attribute) {
        if (attribute.name == dw::AT_sibling) sibling = attribute.number;
        return true;
    });
    if (end == 0) return {};
    if (!entry.kind->has_children) return entry_at(*entry.unit, end);
    sibling += entry.unit->begin;
    if (sibling > end && sibling < entry.unit->end) return entry_at(*entry.unit, sibling);
    // Walk over all that is below.
    const std::string_view bytes = entry.unit->section.substr(0, entry.unit->end);
    for (int depth = 1; depth > 0;) {
        ByteReader in = reader_at(bytes, end);
        if (in.at_end()) return {};
        if (in.uleb() == 0) {
            --depth;
            end = bytes.size() - in.left();
            continue;
        }
        const DwarfEntry below = entry_at(*entry.unit, end);
        if (!below) return {};
        end = end_of_attributes(below);
        if (end == 0) return {};
        if (below.kind->has_children) ++depth;
    }
    return entry_at(*entry.unit, end);
}

std::optional<DwarfAttribute> find_attribute(const DwarfEntry& entry, unsigned name) {
    std::optional<DwarfAttribute> found;
    if (entry)
        walk_attributes(entry, [&](const DwarfAttribute& attribute) {
            if (attribute.name == name) found = attribute;
            return !found;
        });
    return found;
}

DwarfEntry origin_of(const DwarfEntry& entry) {
    auto origin = find_attribute(entry, dw::AT_abstract_origin);
    if (!origin) origin = find_attribute(entry, dw::AT_specification);
    return origin ? entry_of(*origin) : DwarfEntry{};
}

std::optional<DwarfAttribute> find_inherited(const DwarfEntry& entry, unsigned name) {
    DwarfEntry at = entry;
    for (int level = 0; at && level < kDeepestOrigin; ++level) {
        if (const auto found = find_attribute(at, name)) return found;
        at = origin_of(at);
    }
    return std::nullopt;
}

std::optional<std::string_view> text_of(const DwarfAttribute& attribute) {
    const DwarfUnit& unit = *attribute.unit;
    const DwarfSections& sections = unit.info->sections();
    switch (attribute.form) {
        case dw::FORM_string:
            return attribute.bytes;
        case dw::FORM_strp:
            return text_at(sections.str, attribute.number);
        case dw::FORM_line_strp:
            return text_at(sections.line_str, attribute.number);
        case dw::FORM_strp_sup:
        case dw::FORM_GNU_strp_alt:
            if (!unit.info->shared()) return std::nullopt;
            return text_at(unit.info->shared()->sections().str, attribute.number);
        case dw::FORM_strx:
        case dw::FORM_strx1:
        case dw::FORM_strx2:
        case dw::FORM_strx3:
        case dw::FORM_strx4:
        case dw::FORM_GNU_str_index: {
            if (attribute.number > sections.str_offsets.size()) return std::nullopt;
            const auto offset = number_at(sections.str_offsets,
                                          unit.str_offsets + attribute.number * unit.offset_bytes,
                                          unit.offset_bytes);
            return offset ? text_at(sections.str, *offset) : std::nullopt;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> constant_of(const DwarfAttribute& attribute) {
    switch (attribute.form) {
        case dw::FORM_data1:
        case dw::FORM_data2:
        case dw::FORM_data4:
        case dw::FORM_data8:
        case dw::FORM_sdata:
        case dw::FORM_udata:
        case dw::FORM_flag:
        case dw::FORM_flag_present:
        case dw::FORM_implicit_const:
        case dw::FORM_sec_offset:
            return attribute.number;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> address_of(const DwarfAttribute& attribute) {
    switch (attribute.form) {
        case dw::FORM_addr:
            return attribute.number;
        case dw::FORM_addrx:
        case dw::FORM_addrx1:
        case dw::FORM_addrx2:
        case dw::FORM_addrx3:
        case dw::FORM_addrx4:
        case dw::FORM_GNU_addr_index:
            return indexed_address(*attribute.unit, attribute.number);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> indexed_address(const DwarfUnit& unit, std::uint64_t index) {
    const DwarfUnit& owner = unit.skeleton ? *unit.skeleton : unit;
    const std::string_view table = owner.info->sections().addr;
    if (index > table.size()) return std::nullopt;
    return number_at(table, owner.addr + index * owner.address_bytes, owner.address_bytes);
}

DwarfEntry entry_of(const DwarfAttribute& attribute) {
    const DwarfUnit& unit = *attribute.unit;
    switch (attribute.form) {
        case dw::FORM_ref1:
        case dw::FORM_ref2:
        case dw::FORM_ref4:
        case dw::FORM_ref8:
        case dw::FORM_ref_udata:
            return entry_at(unit, unit.begin + attribute.number);
        case dw::FORM_ref_addr: {
            const DwarfUnit* other = unit.info->unit_at(attribute.number);
            return other ? entry_at(*other, attribute.number) : DwarfEntry{};
        }
        case dw::FORM_ref_sig8: {
            const DwarfUnit* other = unit.info->type_unit(attribute.number);
            return other ? entry_at(*other, other->begin + other->type_entry) : DwarfEntry{};
        }
        case dw::FORM_GNU_ref_alt:
        case dw::FORM_ref_sup4:
        case dw::FORM_ref_sup8: {
            const DwarfInfo* shared = unit.info->shared();
            const DwarfUnit* other = shared ? shared->unit_at(attribute.number) : nullptr;
            return other ? entry_at(*other, attribute.number) : DwarfEntry{};
        }
    }
    return {};
}

std::string_view name_of(const DwarfEntry& entry) {
    const auto name = find_inherited(entry, dw::AT_name);
    return name ? text_of(*name).value_or("") : "";
}

std::optional<std::uint64_t> number_of(const DwarfEntry& entry, unsigned name) {
    const auto attribute = find_inherited(entry, name);
    return attribute ? constant_of(*attribute) : std::nullopt;
}

DwarfEntry linked_entry(const DwarfEntry& entry, unsigned name) {
    const auto attribute = find_inherited(entry, name);
    return attribute ? entry_of(*attribute) : DwarfEntry{};
}

bool has_flag(const DwarfEntry& entry, unsigned name) {
    const auto attribute = find_attribute(entry, name);
    return attribute && attribute->number != 0;
}

}  // namespace gpufs
