#include "lang/trigger/hist_listing.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"

namespace gpufs {
namespace {

using Kind = HistCell::Kind;

std::vector<HistListing> recorded(const std::string& name) {
    return parse_hist_listings(read_file("tests/data/hist/" + name));
}

std::string shown(const HistCell& cell) {
    switch (cell.kind) {
        case Kind::number:
            return cat(cell.number);
        case Kind::text:
            return cat('\'', cell.text, '\'');
        case Kind::numbered:
            return cat(cell.text, '#', cell.number);
        case Kind::range:
            return cat(cell.from, "..", cell.to);
        case Kind::stack:
            return cat(cell.stack.size(), " frames from ", cell.stack.at(0));
    }
    return {};
}
// "swapper/1 0: 1405 168600"
std::string shown(const HistEntry& entry) {
    std::string text;
    for (const HistCell& key : entry.keys) text += cat(text.empty() ? "" : " ", shown(key));
    text += ':';
    for (const HistCell& value : entry.values) text += ' ' + shown(value);
    for (const std::string& note : entry.notes) text += " (" + note + ')';
    return text;
}

BOOST_AUTO_TEST_SUITE(hist_listing)

BOOST_AUTO_TEST_CASE(an_event_has_a_listing_for_each_trigger) {
    for (const char* kernel : {"6.1", "6.12"}) {
        const auto all = recorded(cat("sched_switch-", kernel));
        BOOST_TEST_REQUIRE(all.size() == 2u);
        BOOST_TEST(all[0].trigger.argument ==
                   "keys=prev_comm,prev_state:vals=hitcount,prev_prio:sort=hitcount.descending:"
                   "size=2048");
        BOOST_TEST(all[0].entries.size() == 3u);
        BOOST_TEST(all[0].values.at(1).name == "prev_prio");
        BOOST_TEST(all[1].trigger.condition == "prev_state == 2");
        BOOST_TEST_REQUIRE(all[1].entries.size() == 3u);
        BOOST_TEST(all[1].keys.at(0).name == "stacktrace");
        BOOST_TEST((all[1].entries[0].keys.at(0).kind == Kind::stack));
        BOOST_TEST(all[1].entries[0].keys[0].stack.at(1).starts_with("schedule+0x"));
    }
    const auto all = recorded("sched_switch-6.12");
    BOOST_TEST(shown(all[0].entries[0]) == "'swapper/1' 0: 1405 168600");
    BOOST_TEST(all[0].hits == 4720u);
    BOOST_TEST(shown(all[1].entries[0]) == "13 frames from __schedule+0x5bc/0xbf0: 378");
}

BOOST_AUTO_TEST_CASE(modifiers_say_what_keys_are) {
    const auto log2 = recorded("sys_exit_read-6.12").at(0);
    BOOST_TEST(shown(log2.entries.at(0)) == "0..1: 60");
    BOOST_TEST(shown(log2.entries.at(1)) == "9..16: 3");
    const auto system_call = recorded("sys_exit-6.12").at(0);
    BOOST_TEST(shown(system_call.entries.at(0)) == "sys_openat#257 18446744073709551614: 460");
    const auto task = recorded("sys_enter_read-6.12").at(0);
    BOOST_TEST(shown(task.entries.at(0)) == "dd#188 0..999: 11 5832");
    const auto function = recorded("kmalloc-6.12").at(0);
    BOOST_TEST(shown(function.entries.at(0)) == "'p9_fcall_init [9pnet]': 7578 18586447 18618560");
    const auto place = recorded("kfree-6.12").at(0);
    BOOST_TEST(shown(place.entries.at(2)) == "'p9_client_walk+0x147/0x230 [9pnet]' '0x10': 1000");
    BOOST_TEST(place.dropped == 17260u);
}

const std::string kHead =
    "# event histogram\n#\n# trigger info: hist:keys=comm,n:vals=hitcount,bytes:sort=hitcount:"
    "size=2048 [paused]\n#\n\n";

BOOST_AUTO_TEST_CASE(names_that_look_like_something_else_are_names) {
    const auto all =
        parse_hist_listings(kHead +
                            "{ comm: } hitcount: 9, x, n:          3 } hitcount:          1"
                            "  bytes:          5\n\nTotals:\n    Hits: 1\n");
    BOOST_TEST_REQUIRE(all.size() == 1u);
    BOOST_TEST_REQUIRE(all[0].entries.size() == 1u);
    BOOST_TEST(shown(all[0].entries[0]) == "'} hitcount: 9, x' 3: 1 5");
    BOOST_TEST(all[0].trigger.to_text() ==
               "hist:keys=comm,n:vals=hitcount,bytes:sort=hitcount:"
               "size=2048");
}

BOOST_AUTO_TEST_CASE(what_handlers_keep_belongs_to_the_entry_above) {
    const auto all = parse_hist_listings(
        "# trigger info: hist:keys=pid:vals=hitcount:sort=hitcount:size=2048:onmax($lat).save(comm)"
        " [active]\n#\n\n{ pid:         18 } hitcount:        379\n\tmax:      12490  comm: cat\n\n"
        "{ pid:         19 } hitcount:          2\n\nTotals:\n    Hits: 381\n    Dropped: 4\n");
    BOOST_TEST_REQUIRE(all.at(0).entries.size() == 2u);
    BOOST_TEST(shown(all[0].entries[0]) == "18: 379 (max:      12490  comm: cat)");
    BOOST_TEST(shown(all[0].entries[1]) == "19: 2");
    BOOST_TEST(all[0].dropped == 4u);
}

BOOST_AUTO_TEST_CASE(a_text_cut_anywhere_gives_the_entries_before) {
    for (const char* name : {"sched_switch-6.12", "kfree-6.12", "sys_enter_read-6.12"}) {
        const std::string whole = read_file(cat("tests/data/hist/", name));
        std::size_t most = 0;
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            std::size_t entries = 0;
            for (const HistListing& listing : parse_hist_listings(whole.substr(0, size))) {
                entries += listing.entries.size();
                for (const HistEntry& entry : listing.entries)
                    BOOST_TEST((entry.keys.size() == listing.keys.size() &&
                                entry.values.size() == listing.values.size()));
            }
            BOOST_TEST(entries >= most);
            most = entries;
        }
        std::size_t entries = 0;
        for (const HistListing& listing : recorded(name)) entries += listing.entries.size();
        BOOST_TEST(most == entries);
    }
    BOOST_TEST(parse_hist_listings("").empty());
    BOOST_TEST(parse_hist_listings("{ a: 1 } hitcount: 5\n").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
