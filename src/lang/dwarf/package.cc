#include "lang/dwarf/package.h"

#include "base/byte_reader.h"

namespace gpufs {
namespace {

// The numbers of sections in an index (DWARF 5, section 7.3.5.3; version 2 is GNU's of DWARF 4).
enum PackagedSection : unsigned {
    kInfo = 1,
    kTypes = 2,
    kAbbrev = 3,
    kLine = 4,
    kLoc = 5,  // .debug_loclists since DWARF 5
    kStrOffsets = 6,
    kRnglists = 8,
};
constexpr std::size_t kHeaderBytes = 16, kIdBytes = 8, kWordBytes = 4;

std::string_view DwarfSections::*member_of(std::uint64_t section, std::uint64_t version) {
    switch (section) {
        case kInfo:
            return &DwarfSections::info;
        case kTypes:
            return &DwarfSections::types;
        case kAbbrev:
            return &DwarfSections::abbrev;
        case kLine:
            return &DwarfSections::line;
        case kLoc:
            return version >= 5 ? &DwarfSections::loclists : &DwarfSections::loc;
        case kStrOffsets:
            return &DwarfSections::str_offsets;
        case kRnglists:
            return version >= 5 ? &DwarfSections::rnglists : nullptr;
    }
    return nullptr;
}

}  // namespace

std::optional<DwarfSections> find_in_package(const DwarfSections& package, std::string_view index,
                                             std::uint64_t id) {
    ByteReader in(index);
    // Of 4 bytes before DWARF 5, of 2 and padding since.
    const std::uint64_t version = in.number(kWordBytes) & 0xffff;
    const std::uint64_t sections = in.number(kWordBytes), units = in.number(kWordBytes),
                        slots = in.number(kWordBytes);
    const std::uint64_t ids = kHeaderBytes, rows = ids + slots * kIdBytes,
                        names = rows + slots * kWordBytes, offsets = names + sections * kWordBytes,
                        sizes = offsets + units * sections * kWordBytes;
    const std::uint64_t most = index.size();
    if (!in.is_good() || sections > most || units > most || slots > most ||
        sizes + units * sections * kWordBytes > most)
        return std::nullopt;
    const auto word = [&](std::uint64_t at) {
        return ByteReader(index.substr(at)).number(kWordBytes);
    };
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        const std::uint64_t row = word(rows + slot * kWordBytes);  // counted from 1; 0: empty
        if (row == 0 || row > units ||
            ByteReader(index.substr(ids + slot * kIdBytes)).number(kIdBytes) != id)
            continue;
        DwarfSections found;
        found.str = package.str;  // it is shared
        for (std::uint64_t i = 0; i < sections; ++i) {
            const auto member = member_of(word(names + i * kWordBytes), version);
            const std::uint64_t cell = ((row - 1) * sections + i) * kWordBytes;
            const std::uint64_t begin = word(offsets + cell), bytes = word(sizes + cell);
            if (!member || begin > (package.*member).size()) continue;
            found.*member = (package.*member).substr(begin, bytes);
        }
        return found;
    }
    return std::nullopt;
}

}  // namespace gpufs
