#define BOOST_TEST_DYN_LINK
#include "lang/symbols/symbol_text.h"

#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

std::string read_back(std::string_view text) {
    const auto symbol = parse_symbol_text(text);
    if (!symbol) return "none";
    return cat(symbol->name, " | ", symbol->module, " | ", symbol->offset, " | ", symbol->size);
}

BOOST_AUTO_TEST_SUITE(symbol_text)

BOOST_AUTO_TEST_CASE(a_symbol_has_its_name_its_module_and_the_place_in_it) {
    BOOST_TEST(read_back("vfs_read+0x12/0x3f0") == "vfs_read |  | 18 | 1008");
    BOOST_TEST(read_back("drm_ioctl+0x0/0x80 [drm]") == "drm_ioctl | drm | 0 | 128");
    BOOST_TEST(read_back("f.isra.0+0x1/0x2 [a_b-c]") == "f.isra.0 | a_b-c | 1 | 2");
}

BOOST_AUTO_TEST_CASE(anything_else_is_none) {
    for (const char* text :
         {"", "0xffffffffc0000000", "+0x1/0x2", "f+0x", "f+0x1", "f+0x1/", "f+0x1/0x", "f+0x1/2",
          "f+0x1/0x2 ", "f+0x1/0x2 drm", "f+0x1/0x2 [drm", "f+0x11111111111111111/0x2"})
        BOOST_TEST(read_back(text) == "none", text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
