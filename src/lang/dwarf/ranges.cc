#include "lang/dwarf/ranges.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "lang/dwarf/numbers.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kEverywhere = ~std::uint64_t{0};

ByteReader reader_behind(std::string_view section, std::uint64_t offset) {
    return ByteReader(section.substr(std::min<std::uint64_t>(offset, section.size())));
}

// The offset of a list that is named by its number: the table of offsets begins at `base`, and
// they count from there.
std::optional<std::uint64_t> indexed_list(const DwarfUnit& unit, std::string_view section,
                                          std::uint64_t base, std::uint64_t index) {
    if (base > section.size() || index > section.size()) return std::nullopt;
    ByteReader in = reader_behind(section, base + index * unit.offset_bytes);
    const std::uint64_t offset = in.number(unit.offset_bytes);
    return in.is_good() ? std::optional(base + offset) : std::nullopt;
}

bool is_section_offset(const DwarfAttribute& attribute) {
    // DWARF 2 and 3 had no form of its own for it.
    return attribute.form == dw::FORM_sec_offset ||
           (attribute.unit->version <= 3 &&
            (attribute.form == dw::FORM_data4 || attribute.form == dw::FORM_data8));
}

// Follows the base of a list.
class ListReader {
public:
    ListReader(const DwarfUnit& unit, std::string_view section, std::uint64_t offset)
        : unit_(unit), in_(reader_behind(section, offset)), base_(unit.low_pc) {}

    // Lists of DWARF 2 to 4: pairs of addresses, from the base. Calls take(span) behind each.
    template <class Take>
    void pairs(const Take& take) {
        const std::uint64_t highest = unit_.address_bytes == 4 ? 0xffffffff : ~std::uint64_t{0};
        while (!in_.at_end()) {
            const std::uint64_t begin = in_.number(unit_.address_bytes),
                                end = in_.number(unit_.address_bytes);
            if (!in_.is_good() || (begin == 0 && end == 0)) return;
            if (begin == highest)
                base_ = end;
            else
                take(CodeSpan{base_ + begin, base_ + end});
        }
    }

    // Lists of DWARF 5: of ranges or of locations, which number some kinds differently.
    template <class Take>
    void entries(bool is_locations, const Take& take) {
        while (!in_.at_end()) {
            const unsigned kind = in_.byte();
            const unsigned common = kind <= dw::LE_offset_pair ? kind
                                    : is_locations             ? kind
                                                               : kind + 1;
            switch (common) {
                case dw::LE_base_addressx:
                    base_ = indexed(in_.uleb());
                    break;
                case dw::LLE_base_address:
                    base_ = in_.number(unit_.address_bytes);
                    break;
                case dw::LE_startx_endx: {
                    const std::uint64_t begin = indexed(in_.uleb());
                    take(CodeSpan{begin, indexed(in_.uleb())});
                    break;
                }
                case dw::LE_startx_length: {
                    const std::uint64_t begin = indexed(in_.uleb());
                    take(CodeSpan{begin, begin + in_.uleb()});
                    break;
                }
                case dw::LE_offset_pair: {
                    const std::uint64_t begin = in_.uleb();
                    take(CodeSpan{base_ + begin, base_ + in_.uleb()});
                    break;
                }
                case dw::LLE_start_end: {
                    const std::uint64_t begin = in_.number(unit_.address_bytes);
                    take(CodeSpan{begin, in_.number(unit_.address_bytes)});
                    break;
                }
                case dw::LLE_start_length: {
                    const std::uint64_t begin = in_.number(unit_.address_bytes);
                    take(CodeSpan{begin, begin + in_.uleb()});
                    break;
                }
                case dw::LLE_default_location:
                    take(CodeSpan{0, kEverywhere});
                    break;
                case dw::LLE_GNU_view_pair:
                    in_.uleb();
                    in_.uleb();
                    break;
                default:
                    return;  // the end, or unknown
            }
            if (!in_.is_good()) return;
        }
    }

    // Lists in .debug_loc.dwo of DWARF 4.
    template <class Take>
    void gnu_entries(const Take& take) {
        while (!in_.at_end()) {
            switch (in_.byte()) {
                case dw::GNU_LLE_base_address:
                    base_ = indexed(in_.uleb());
                    break;
                case dw::GNU_LLE_start_end: {
                    const std::uint64_t begin = indexed(in_.uleb());
                    take(CodeSpan{begin, indexed(in_.uleb())});
                    break;
                }
                case dw::GNU_LLE_start_length: {
                    const std::uint64_t begin = indexed(in_.uleb());
                    take(CodeSpan{begin, begin + in_.number(4)});
                    break;
                }
                default:
                    return;
            }
            if (!in_.is_good()) return;
        }
    }

    ByteReader& in() { return in_; }

private:
    std::uint64_t indexed(std::uint64_t index) const {
        return indexed_address(unit_, index).value_or(0);
    }

    const DwarfUnit& unit_;
    ByteReader in_;
    std::uint64_t base_;
};

std::vector<CodeSpan> listed_ranges(const DwarfAttribute& attribute) {
    const DwarfUnit& unit = *attribute.unit;
    std::vector<CodeSpan> spans;
    const auto take = [&](const CodeSpan& span) {
        if (span.end > span.begin) spans.push_back(span);
    };
    if (unit.version >= 5) {
        const std::string_view section = unit.info->sections().rnglists;
        const auto offset = attribute.form == dw::FORM_rnglistx
                                ? indexed_list(unit, section, unit.rnglists, attribute.number)
                                : constant_of(attribute);
        if (offset) ListReader(unit, section, *offset).entries(false, take);
        return spans;
    }
    if (!is_section_offset(attribute)) return spans;
    // Split files of DWARF 4 have their ranges in the program's file.
    const DwarfUnit& owner = unit.skeleton ? *unit.skeleton : unit;
    const std::uint64_t moved = unit.skeleton ? owner.ranges : 0;
    ListReader(owner, owner.info->sections().ranges, attribute.number + moved).pairs(take);
    return spans;
}

}  // namespace

std::vector<CodeSpan> code_of(const DwarfEntry& entry) {
    if (const auto ranges = find_attribute(entry, dw::AT_ranges)) return listed_ranges(*ranges);
    const auto low = find_attribute(entry, dw::AT_low_pc);
    const auto high = find_attribute(entry, dw::AT_high_pc);
    const auto begin = low ? address_of(*low) : std::nullopt;
    if (!begin || !high) return {};
    const auto bytes = constant_of(*high);
    const auto end = bytes ? *begin + *bytes : address_of(*high);
    if (!end || *end <= *begin) return {};
    return {{*begin, *end}};
}

bool has_code_at(const DwarfEntry& entry, std::uint64_t address) {
    return std::ranges::any_of(code_of(entry), [&](const CodeSpan& span) {
        return address >= span.begin && address < span.end;
    });
}

std::vector<DwarfLocation> locations_of(const DwarfAttribute& attribute) {
    const DwarfUnit& unit = *attribute.unit;
    if (attribute.is_block()) return {{{0, kEverywhere}, attribute.bytes}};
    const DwarfSections& sections = unit.info->sections();
    std::vector<DwarfLocation> found;
    if (unit.version >= 5) {
        const auto offset =
            attribute.form == dw::FORM_loclistx
                ? indexed_list(unit, sections.loclists, unit.loclists, attribute.number)
                : constant_of(attribute);
        if (!offset) return found;
        ListReader reader(unit, sections.loclists, *offset);
        reader.entries(true, [&](const CodeSpan& span) {
            found.push_back({span, reader.in().take(reader.in().uleb())});
        });
    } else if (is_section_offset(attribute)) {
        ListReader reader(unit, sections.loc, attribute.number);
        const auto take = [&](const CodeSpan& span) {
            found.push_back({span, reader.in().take(reader.in().number(2))});
        };
        if (unit.skeleton)
            reader.gnu_entries(take);
        else
            reader.pairs(take);
    }
    std::stable_partition(found.begin(), found.end(),
                          [](const DwarfLocation& one) { return one.code.end != kEverywhere; });
    return found;
}

std::optional<std::string_view> location_at(const DwarfAttribute& attribute,
                                            std::uint64_t address) {
    for (const DwarfLocation& one : locations_of(attribute))
        if (address >= one.code.begin && address < one.code.end) return one.expression;
    return std::nullopt;
}

}  // namespace gpufs
