// A file's DWARF: all entries, their attributes, places and types are read, and expressions are
// evaluated at the begin and the end of what they hold for; any bytes are read to their end.

#include <array>

#include "base/byte_reader.h"
#include "fuzz/fuzz.h"
#include "lang/dwarf/frame.h"
#include "lang/dwarf/info.h"
#include "lang/dwarf/location.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/package.h"
#include "lang/dwarf/ranges.h"
#include "lang/dwarf/scope.h"
#include "lang/dwarf/type.h"

namespace gpufs::fuzz {
namespace {

// A circle of entries is as long as the file allows; what is done for each is not.
constexpr int kMostEntries = 300;

void look_at(const DwarfEntry& entry, const FrameSection& frames, int& left) {
    if (!entry || --left < 0) return;
    LocationContext context{0, entry.unit, entry, [&](std::uint64_t address) {
                                return frame_address_at(frames, address);
                            }};
    for (const unsigned name : {dw::AT_location, dw::AT_frame_base})
        if (const auto attribute = find_attribute(entry, name))
            for (const DwarfLocation& one : locations_of(*attribute)) {
                context.address = one.code.begin;
                evaluate_location(one.expression, context).to_text();
            }
    for (const CodeSpan& span : code_of(entry)) {
        expect(span.begin < span.end);
        context.address = span.end - 1;
        place_of(entry, context).to_text();
    }
    const DwarfType type = type_of(entry);
    type.to_text();
    type.bytes();
    type.is_signed();
    find_member(type.stripped(), "x");
    enumerators(type.stripped());
    qualified_name(entry);
    entry_address(entry);
    for_each_child(entry, [&](const DwarfEntry& child) {
        look_at(child, frames, left);
        return left > 0;
    });
}

}  // namespace

// Two bytes are the size of each section but the last.
void one(std::span<const std::uint8_t> bytes) {
    const std::string text = text_of(bytes);
    ByteReader in(text);
    DwarfSections sections;
    std::string_view frames;
    std::array<std::string_view*, 8> all = {&sections.abbrev,
                                            &sections.str,
                                            &sections.loclists,
                                            &sections.rnglists,
                                            &sections.addr,
                                            &sections.str_offsets,
                                            &frames,
                                            &sections.info};
    for (std::string_view* section : all) {
        const std::size_t size = in.number(2);
        *section = in.take(section == all.back() ? in.left() : std::min(size, in.left()));
    }
    sections.loc = sections.loclists;
    sections.ranges = sections.rnglists;
    const DwarfInfo info(sections);
    int left = kMostEntries;
    for (const auto& unit : info.units()) {
        const DwarfEntry root = root_of(*unit);
        look_at(root, {frames, 0x1000, true, 8}, left);
        for (const CodeSpan& span : code_of(root)) {
            const auto scopes = scopes_at(root, span.begin);
            expect(scopes.empty() || scopes.front() == root);
            local_variables(scopes);
        }
        unit_variable(root, "x");
    }
    find_in_package(sections, frames, 1);
}

}  // namespace gpufs::fuzz
