#include "base/terminal.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

namespace gpufs {
namespace {

std::vector<Key> keys(std::initializer_list<std::string_view> pieces) {
    KeyReader reader;
    std::vector<Key> all;
    for (const std::string_view piece : pieces) {
        reader.feed(piece);
        while (const auto pressed = reader.next()) all.push_back(*pressed);
    }
    return all;
}
using Keys = std::vector<Key>;

BOOST_AUTO_TEST_SUITE(terminal)

BOOST_AUTO_TEST_CASE(characters_and_arrows_are_keys) {
    BOOST_TEST((keys({"q\x1b[A\x1bOB\x1b[5~p"}) ==
                Keys({U'q', key::kUp, key::kDown, key::kPageUp, U'p'})));
}

BOOST_AUTO_TEST_CASE(a_sequence_may_come_in_pieces) {
    BOOST_TEST((keys({"\x1b[", "6", "~x"}) == Keys({key::kPageDown, U'x'})));
}

BOOST_AUTO_TEST_CASE(unknown_sequences_are_left_out) {
    BOOST_TEST((keys({"\x1b[1;5C\x1b[200~a"}) == Keys({U'a'})));
}

BOOST_AUTO_TEST_CASE(escape_alone_is_a_key) {
    BOOST_TEST((keys({"\x1b"}) == Keys({key::kEscape})));
    BOOST_TEST((keys({"\x1bq"}) == Keys({key::kEscape, U'q'})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
