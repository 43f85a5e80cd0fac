#include "view/trace/hist_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "support/json.h"

namespace gpufs {
namespace {

HistListing read_one(const std::string& name, std::size_t number = 0) {
    return parse_hist_listings(read_file("tests/data/hist/" + name)).at(number);
}

std::string text_of_hist(const HistListing& listing) {
    return hist_text("a:b", listing, Controls::escaped, {});
}

BOOST_AUTO_TEST_SUITE(hist_listing_text)

BOOST_AUTO_TEST_CASE(entries_are_rows_and_stacks_below_them) {
    BOOST_TEST(text_of_hist(read_one("sched_switch-6.12")) ==
               "a:b: hist:keys=prev_comm,prev_state:vals=hitcount,prev_prio:"
               "sort=hitcount.descending:size=2048\n"
               "4720 hits, 3 entries\n"
               "PREV_COMM  PREV_STATE  HITCOUNT  PREV_PRIO\n"
               "swapper/1           0      1405     168600\n"
               "cat                 2       905     108600\n"
               "swapper/0           0       869     104280\n");
    const std::string stacks = text_of_hist(read_one("sched_switch-6.12", 1));
    BOOST_TEST(
        stacks.find("HITCOUNT\n     378\n        __schedule+0x5bc/0xbf0\n        schedule+") !=
            std::string::npos,
        stacks);
}

BOOST_AUTO_TEST_CASE(negative_numbers_of_signed_fields_are_negative) {
    HistListing listing = read_one("sys_exit-6.12");
    listing.keys.at(1).is_signed = true;
    const std::string text = text_of_hist(listing);
    BOOST_TEST(text.find("ID                         RET  HITCOUNT\n"
                         "sys_openat (257)            -2       460\n") != std::string::npos,
               text);
}

BOOST_AUTO_TEST_CASE(what_was_dropped_is_told) {
    const std::string text = text_of_hist(read_one("kfree-6.12"));
    BOOST_TEST(
        text.find("8377 hits, 12 entries, 17260 dropped: no room for their keys (size=N)\n") !=
            std::string::npos,
        text);
}

const std::string kRanges =
    "# trigger info: hist:keys=comm,n.log2:vals=hitcount:sort=hitcount:size=2048 [active]\n"
    "{ comm: a , n: ~ 2^5  } hitcount:   1\n"
    "{ comm: b , n: ~ 2^0  } hitcount:   2\n"
    "{ comm: b , n: ~ 2^3  } hitcount:   4\n"
    "{ comm: a , n: ~ 2^20 } hitcount:   2\n";

BOOST_AUTO_TEST_CASE(ranges_are_histograms_of_the_other_keys) {
    const std::string bar(52, '@'), half = std::string(26, '@') + std::string(26, ' '),
                                    none(52, ' ');
    BOOST_TEST(text_of_hist(parse_hist_listings(kRanges).at(0)) ==
               cat("a:b: hist:keys=comm,n.log2:vals=hitcount:sort=hitcount:size=2048\n"
                   "0 hits, 4 entries\n"
                   "b:\n"
                   "n                      count\n"
                   "[0, 2)                     2 |",
                   half, "|\n", "[2]                        0 |", none, "|\n",
                   "[3, 5)                     0 |", none, "|\n", "[5, 9)                     4 |",
                   bar, "|\n",
                   "\n"
                   "a:\n"
                   "n                        count\n"
                   "[17, 33)                     1 |",
                   half, "|\n",
                   "...\n"
                   "[524289, 1048577)            2 |",
                   bar, "|\n"));
}

BOOST_AUTO_TEST_CASE(buckets_have_their_size) {
    const auto all = parse_hist_listings(
        "# trigger info: hist:keys=n.buckets=100:vals=hitcount:sort=hitcount:size=2048 [active]\n"
        "{ n: ~ 300-399 } hitcount:  5\n{ n: ~ 100-199 } hitcount:  5\n");
    const std::string bar(52, '@'), none(52, ' ');
    const std::string text = text_of_hist(all.at(0));
    BOOST_TEST(text.find(cat("[100, 200)                 5 |", bar, "|\n",
                             "[200, 300)                 0 |", none, "|\n",
                             "[300, 400)                 5 |", bar, "|\n")) != std::string::npos,
               text);
}

BOOST_AUTO_TEST_CASE(names_cannot_write_to_the_terminal) {
    const auto all = parse_hist_listings(
        "# trigger info: hist:keys=comm:vals=hitcount:sort=hitcount:size=2048 [active]\n"
        "{ comm: \x1b[31mred } hitcount:  5\n");
    BOOST_TEST(text_of_hist(all.at(0)).find('\x1b') == std::string::npos);
    BOOST_TEST(hist_text("a:b", all.at(0), Controls::raw, {}).find("\x1b[31mred") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_has_what_the_text_has) {
    HistListing listing = read_one("sys_exit-6.12");
    listing.keys.at(1).is_signed = true;
    const test::Json json = test::parse_json(hist_json("raw_syscalls:sys_exit", listing));
    BOOST_TEST(json["event"].text == "raw_syscalls:sys_exit");
    BOOST_TEST(json["entries"].items.size() == 8u);
    const test::Json& first = json["entries"].items.at(0);
    BOOST_TEST(first["key"]["id"]["name"].text == "sys_openat");
    BOOST_TEST(first["key"]["id"]["number"].number() == 257);
    BOOST_TEST(first["key"]["ret"].number() == -2);
    BOOST_TEST(first["value"]["hitcount"].number() == 460);
    BOOST_TEST(
        hist_json("a:b", parse_hist_listings(kRanges).at(0))
            .find(R"({"key":{"comm":"a","n":{"from":17,"to":33}},"value":{"hitcount":1}})") !=
        std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
