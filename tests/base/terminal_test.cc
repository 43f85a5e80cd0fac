#include "gpufs/base/terminal.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

namespace gpufs {
namespace {

std::vector<char32_t> keys(std::initializer_list<std::string_view> pieces) {
    KeyReader reader;
    std::vector<char32_t> all;
    for (const std::string_view piece : pieces) {
        reader.feed(piece);
        while (const auto key = reader.next()) all.push_back(static_cast<char32_t>(*key));
    }
    return all;
}
std::vector<char32_t> known(std::initializer_list<Key> list) {
    std::vector<char32_t> all;
    for (const Key key : list) all.push_back(static_cast<char32_t>(key));
    return all;
}

BOOST_AUTO_TEST_SUITE(terminal)

BOOST_AUTO_TEST_CASE(characters_and_arrows_are_keys) {
    BOOST_TEST((keys({"q\x1b[A\x1bOB\x1b[5~p"}) ==
                known({key_of('q'), Key::up, Key::down, Key::page_up, key_of('p')})));
}

BOOST_AUTO_TEST_CASE(a_sequence_may_come_in_pieces) {
    BOOST_TEST((keys({"\x1b[", "6", "~x"}) == known({Key::page_down, key_of('x')})));
}

BOOST_AUTO_TEST_CASE(unknown_sequences_are_left_out) {
    BOOST_TEST((keys({"\x1b[1;5C\x1b[200~a"}) == known({key_of('a')})));
}

BOOST_AUTO_TEST_CASE(escape_alone_is_a_key) {
    BOOST_TEST((keys({"\x1b"}) == known({Key::escape})));
    BOOST_TEST((keys({"\x1bq"}) == known({Key::escape, key_of('q')})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
