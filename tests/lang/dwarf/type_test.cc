#include "lang/dwarf/type.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

std::string section_of(const std::vector<int>& bytes) {
    return {bytes.begin(), bytes.end()};
}

// A unit with an enumeration below which it is itself, an array [2] of itself, and a structure with
// two members without names that are of its own type.
struct Circles {
    const std::string abbreviations = section_of({
        1, 0x11, 1, 0,    0,           // a unit
        2, 0x04, 0, 0x49, 0x11, 0, 0,  // an enumeration, with the type below it
        3, 0x01, 1, 0x49, 0x11, 0, 0,  // an array, with its elements' type
        4, 0x21, 0, 0x37, 0x0b, 0, 0,  // an index, with its count
        5, 0x13, 1, 0,    0,           // a structure
        6, 0x0d, 0, 0x49, 0x11, 0, 0,  // a member, with its type
        0,
    });
    const std::string entries = section_of({
        22, 0,  0, 0,  4, 0, 0, 0, 0, 0,  8, 1,  // of DWARF 4; its first entry is at 12
        2,  12, 3, 14, 4, 2, 0, 5, 6, 19, 6, 19, 0, 0,
    });
    const DwarfInfo info{{.info = entries, .abbrev = abbreviations}};
    const DwarfEntry first = first_child(root_of(*info.units().front()));
    const DwarfType enumeration{first, 0};
    const DwarfType array{next_sibling(first), 0};
    const DwarfType structure{next_sibling(array.entry), 0};
};

BOOST_AUTO_TEST_SUITE(lang_dwarf)

BOOST_AUTO_TEST_CASE(types_that_are_of_themselves_end) {
    const Circles types;
    BOOST_TEST(!types.enumeration.is_signed());
    BOOST_TEST(types.array.to_text() == "…[2]");
    BOOST_TEST(!types.array.bytes());
    BOOST_TEST(types.structure.to_text() == "struct {…}");
    BOOST_TEST(!find_member(types.structure, "x"));
    BOOST_TEST(member_names(types.structure).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
