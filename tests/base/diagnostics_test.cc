#include "base/diagnostics.h"

#include "base/cat.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

const SourceText kFirst{"a.bpf", "one\ntwo\nthree\n"};
const SourceText kSecond{"b.bpf", "four\n"};

BOOST_AUTO_TEST_SUITE(diagnostics)

BOOST_AUTO_TEST_CASE(mistakes_come_in_the_order_of_the_text) {
    Diagnostics found;
    found.error(kFirst, {8, 13}, "late");
    found.error(kSecond, {0, 4}, "elsewhere");
    found.error(kFirst, SourceError(kFirst, {0, 3}, "early", "try 1"));
    BOOST_TEST(found.size() == 3u);
    BOOST_TEST(found.to_text() ==
               "a.bpf:1:1: error: early\n"
               "one\n"
               "^~~\n"
               "hint: try 1\n"
               "a.bpf:3:1: error: late\n"
               "three\n"
               "^~~~~\n"
               "b.bpf:1:1: error: elsewhere\n"
               "four\n"
               "^~~~");
}

BOOST_AUTO_TEST_CASE(mistakes_at_one_place_stay_in_the_order_they_were_found) {
    Diagnostics found;
    found.error(kFirst, {0, 1}, "first");
    found.error(kFirst, {0, 1}, "second");
    BOOST_TEST(found.to_text() ==
               "a.bpf:1:1: error: first\none\n^\na.bpf:1:1: error: second\none\n^");
}

BOOST_AUTO_TEST_CASE(a_mistake_is_told_once_of_a_place) {
    Diagnostics found;
    found.error(kFirst, {4, 5}, "wrong", "try 1");
    found.error(kFirst, {4, 6}, "wrong", "try 1");
    found.error(kFirst, {8, 9}, "wrong", "try 1");
    found.error(kFirst, {5, 7}, "wrong", "try 2");
    found.error(kFirst, {5, 7}, "wrong", "try 1");
    BOOST_TEST(found.to_text() ==
               "a.bpf:2:1: error: wrong\ntwo\n^\nhint: try 1\n"
               "a.bpf:2:2: error: wrong\ntwo\n ^~\nhint: try 2\n"
               "a.bpf:2:2: error: wrong\ntwo\n ^~\nhint: try 1\n"
               "a.bpf:3:1: error: wrong\nthree\n^\nhint: try 1");
}

BOOST_AUTO_TEST_CASE(what_others_found_is_added_but_for_what_is_known) {
    Diagnostics found, others;
    found.error(kFirst, {0, 1}, "first", "this");
    others.error(kSecond, {0, 4}, "wrong");
    others.error(kFirst, {0, 1}, "first", "this");
    found.add(others);
    found.add(others);
    BOOST_TEST(found.size() == 2u);
    BOOST_TEST(found.to_text() ==
               "a.bpf:1:1: error: first\none\n^\nhint: this\n"
               "b.bpf:1:1: error: wrong\nfour\n^~~~");
}

BOOST_AUTO_TEST_CASE(the_first_twenty_are_shown_and_the_others_counted) {
    std::string text, shown;
    for (int i = 1; i <= 22; ++i) {
        text += "bad\n";
        if (i <= 20) shown += cat("many.bpf:", i, ":1: error: wrong\nbad\n^~~\n");
    }
    const SourceText many{"many.bpf", text};
    Diagnostics found;
    for (std::size_t i = 22; i-- > 0;) {
        found.error(many, {4 * i, 4 * i + 3}, "wrong");
        if (i == 1) BOOST_TEST(found.to_text().ends_with("^~~\nand 1 more mistake"));
    }
    BOOST_TEST(found.to_text() == shown + "and 2 more mistakes");
}

BOOST_AUTO_TEST_CASE(they_are_thrown_as_one_error_if_there_are_any) {
    Diagnostics found;
    BOOST_TEST(found.empty());
    BOOST_CHECK_NO_THROW(found.throw_if_any());
    found.error(kSecond, {0, 4}, "wrong");
    BOOST_CHECK_EXCEPTION(found.throw_if_any(), UsageError, [](const UsageError& e) {
        BOOST_TEST(e.what() == std::string("b.bpf:1:1: error: wrong\nfour\n^~~~"));
        return true;
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
