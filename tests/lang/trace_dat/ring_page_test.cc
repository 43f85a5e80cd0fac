#include "lang/trace_dat/ring_page.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>

#include "base/cat.h"
#include "base/error.h"
#include "support/ring_pages.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

using test::as_string;
using test::PageBuilder;

// Every record as "time:bytes", and the damage behind them.
std::string walk(std::span<const std::byte> bytes, const PageLayout& layout = {}) {
    RingPage page(bytes, layout);
    std::string out;
    RingRecord record;
    while (page.next(record)) out += cat(record.timestamp, ':', as_string(record.bytes), ' ');
    if (!page.damage().empty()) out += page.damage();
    return out;
}
std::string walk(const PageBuilder& page, const PageLayout& layout = {}) {
    return walk(page.bytes(), layout);
}

BOOST_AUTO_TEST_SUITE(ring_page)

BOOST_AUTO_TEST_CASE(records_come_with_the_time_they_happened) {
    BOOST_TEST(walk(PageBuilder(1000).record(0, "aaaa").record(5, "bbbbbbbb").record(7, "cccc")) ==
               "1000:aaaa 1005:bbbbbbbb 1012:cccc ");
    BOOST_TEST(walk(PageBuilder(1000)) == "");
}

BOOST_AUTO_TEST_CASE(a_long_record_says_its_length_in_a_word_of_its_own) {
    const std::string bytes(200, 'x');
    BOOST_TEST(walk(PageBuilder(1).record(1, bytes).record(1, "tail")) ==
               cat("2:", bytes, " 3:tail "));
    const std::string longest_short(112, 'y');
    BOOST_TEST(walk(PageBuilder(1).record(1, longest_short)) == cat("2:", longest_short, ' '));
}

BOOST_AUTO_TEST_CASE(a_time_extension_adds_to_the_record_behind_it) {
    const std::uint64_t gap = (std::uint64_t{3} << 27) + 9;
    BOOST_TEST(walk(PageBuilder(10).record(1, "aaaa").extend(gap).record(0, "bbbb")) ==
               cat("11:aaaa ", 11 + gap, ":bbbb "));
}

BOOST_AUTO_TEST_CASE(an_absolute_time_stamp_replaces_the_time) {
    BOOST_TEST(walk(PageBuilder(10).record(1, "aaaa").absolute(5'000'000'000).record(0, "bbbb")) ==
               "11:aaaa 5000000000:bbbb ");
}

BOOST_AUTO_TEST_CASE(an_absolute_time_stamp_takes_its_top_bits_from_the_time_before) {
    const std::uint64_t before = 0x0800'0000'0000'0005, after = 0x0800'0000'0000'0099;
    const std::uint64_t low = (std::uint64_t{1} << 59) - 1;
    BOOST_TEST(walk(PageBuilder(before).absolute(after & low).record(0, "aaaa")) ==
               cat(after, ":aaaa "));
    // 59 bits overflowed between the two.
    BOOST_TEST(walk(PageBuilder(0x0fff'ffff'ffff'ffff).absolute(7).record(0, "aaaa")) ==
               cat(std::uint64_t{0x1000'0000'0000'0007}, ":aaaa "));
}

BOOST_AUTO_TEST_CASE(a_discarded_record_is_skipped_and_its_time_counts) {
    BOOST_TEST(walk(PageBuilder(10).discarded(5, 16).record(1, "aaaa")) == "16:aaaa ");
    // 1 stands for 0 there.
    BOOST_TEST(walk(PageBuilder(10).discarded(1, 8).record(1, "aaaa")) == "11:aaaa ");
}

BOOST_AUTO_TEST_CASE(padding_without_a_time_ends_the_page) {
    BOOST_TEST(walk(PageBuilder(10).record(1, "aaaa").end_padding().raw("garbage!")) == "11:aaaa ");
}

BOOST_AUTO_TEST_CASE(that_events_were_lost_can_be_taken_from_a_page) {
    PageLayout narrow;
    narrow.commit_size = 4;
    for (const PageLayout& layout : {PageLayout{}, narrow}) {
        std::vector<std::byte> page =
            PageBuilder(1, layout).record(0, "aaaa").record(2, "bb").lost(5).bytes();
        BOOST_TEST((RingPage(page, layout).lost_before() == Loss::exactly(5)));
        clear_lost(std::span(page).first(layout.data_offset), layout);
        RingPage cleared(page, layout);
        BOOST_TEST(cleared.lost_before().is_zero());
        RingRecord record;
        BOOST_TEST((cleared.next(record) && cleared.next(record) && !cleared.next(record)));
        BOOST_TEST(cleared.damage() == "");
    }
}

BOOST_AUTO_TEST_CASE(lost_events_are_counted_where_the_kernel_counted_them) {
    const auto lost = [](const PageBuilder& builder) {
        return RingPage(builder.bytes(), {}).lost_before();
    };
    BOOST_TEST(lost(PageBuilder(1).record(0, "aaaa")).is_zero());
    BOOST_TEST((lost(PageBuilder(1).record(0, "aaaa").lost(5)) == Loss::exactly(5)));
    BOOST_TEST((lost(PageBuilder(1).record(0, "aaaa").lost_some()) == Loss::at_least(1)));
    // A full page has no room for the number.
    PageBuilder full(1);
    for (int i = 0; i < 510; ++i) full.record(1, "aaaa");
    BOOST_TEST((lost(full.lost(5)) == Loss::at_least(1)));
    BOOST_TEST(walk(PageBuilder(1).record(0, "aaaa").lost(5)) == "1:aaaa ");
}

BOOST_AUTO_TEST_CASE(other_page_sizes_and_32_bit_kernels_are_read) {
    PageLayout large;
    large.page_bytes = 65536;
    const std::string bytes(60000, 'z');
    BOOST_TEST(walk(PageBuilder(1, large).record(1, bytes), large) == cat("2:", bytes, ' '));
    PageLayout narrow;
    narrow.commit_size = 4;
    narrow.data_offset = 12;
    BOOST_TEST(walk(PageBuilder(1, narrow).record(1, "aaaa").lost(3), narrow) == "2:aaaa ");
    const std::vector<std::byte> page = PageBuilder(1, narrow).record(1, "aaaa").lost(3).bytes();
    BOOST_TEST((RingPage(page, narrow).lost_before() == Loss::exactly(3)));
}

BOOST_AUTO_TEST_CASE(the_position_tells_how_much_of_a_page_was_read) {
    const auto bytes = PageBuilder(1).record(0, "aaaa").record(0, "bbbb").bytes();
    RingPage page(bytes, {});
    RingRecord record;
    BOOST_TEST(page.position() == 0u);
    page.next(record);
    BOOST_TEST(page.position() == 8u);
    BOOST_TEST(page.first_timestamp() == 1u);
}

BOOST_AUTO_TEST_CASE(damage_is_named_with_its_place) {
    BOOST_TEST(walk(PageBuilder(1).record(0, "aaaa").raw(test::bytes_of(std::uint32_t{28}))) ==
               "1:aaaa at byte 24: an event of 112 bytes has 0 left");
    BOOST_TEST(walk(PageBuilder(1).record(0, "aaaa").raw("xy")) ==
               "1:aaaa at byte 24: an event header is cut after 2 bytes");
    BOOST_TEST(walk(PageBuilder(1).raw(test::bytes_of(std::uint32_t{30}))) ==
               "at byte 16: an event header is cut after 4 bytes");
    BOOST_TEST(walk(PageBuilder(1).raw(test::bytes_of(std::uint64_t{2} << 32))) ==
               "at byte 16: an event of 2 bytes has 4 left");
    std::vector<std::byte> page = PageBuilder(1).record(0, "aaaa").bytes();
    BOOST_TEST(walk(std::span(page).first(10)) ==
               "at byte 16: the page has 10 bytes, its header alone 16");
    page[9] = std::byte{0x20};
    BOOST_TEST(walk(page) ==
               "at byte 16: the page claims 8200 bytes of data and has room for 4080");
}

// The sanitizers watch, too: nothing may be read outside the page.
BOOST_AUTO_TEST_CASE(no_byte_outside_a_cut_or_random_page_is_read) {
    const auto whole = PageBuilder(1)
                           .record(0, "aaaa")
                           .extend(1)
                           .absolute(9)
                           .discarded(3, 8)
                           .record(1, std::string(200, 'x'))
                           .lost(5)
                           .bytes();
    const std::string all = walk(whole);
    // What was walked of a cut page is the begin of all, and what is missing is said.
    const auto is_begin_of_all = [&](const std::string& walked) {
        return all.starts_with(walked.substr(0, walked.find("at byte ")));
    };
    for (std::size_t length = 0; length < 280; ++length) {
        const auto exact = std::make_unique<std::byte[]>(length);  // no byte too many
        std::copy_n(whole.begin(), length, exact.get());
        BOOST_TEST(is_begin_of_all(walk({exact.get(), length})));
        // The same, claiming to be as long as it is.
        if (length < 16) continue;
        const std::uint64_t commit = length - 16;
        std::memcpy(exact.get() + 8, &commit, 8);
        BOOST_TEST(is_begin_of_all(walk({exact.get(), length})));
    }
    std::mt19937 random(7);
    std::vector<std::byte> page(600);
    for (int round = test::rounds(20'000); round > 0; --round) {
        for (std::byte& b : page) b = static_cast<std::byte>(random());
        const std::uint64_t commit = random() % 600 | (std::uint64_t{random()} << 28);
        std::memcpy(page.data() + 8, &commit, 8);
        // All that can be walked is there: a record takes four bytes at least.
        BOOST_TEST(walk(page).size() < 64 * page.size());
    }
}

BOOST_AUTO_TEST_CASE(header_page_describes_the_layout) {
    const PageLayout layout = parse_page_layout(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        "\tfield: char data;\toffset:16;\tsize:16368;\tsigned:0;\n");
    BOOST_TEST(layout.commit_offset == 8u);
    BOOST_TEST(layout.commit_size == 8u);
    BOOST_TEST(layout.data_offset == 16u);
    BOOST_TEST(layout.page_bytes == 16384u);
    BOOST_CHECK_THROW(parse_page_layout("nonsense\n"), Error);
    BOOST_CHECK_THROW(parse_page_layout("\tfield: local_t commit;\toffset:8;\tsize:8;\n"), Error);
}

BOOST_AUTO_TEST_CASE(a_header_page_whose_numbers_wrap_around_is_refused) {
    const auto is_taken = [](std::string_view commit, std::string_view data) {
        try {
            parse_page_layout(cat("\tfield: local_t commit;\t", commit, "\tsigned:1;\n",
                                  "\tfield: char data;\t", data, "\tsigned:0;\n"));
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    BOOST_TEST(is_taken("offset:8;\tsize:8;", "offset:16;\tsize:4080;"));
    BOOST_TEST(!is_taken("offset:18446744073709551608;\tsize:8;", "offset:16;\tsize:4080;"));
    BOOST_TEST(!is_taken("offset:8;\tsize:8;", "offset:4;\tsize:4080;"));
    BOOST_TEST(!is_taken("offset:8;\tsize:8;", "offset:16;\tsize:0;"));
    BOOST_TEST(!is_taken("offset:8;\tsize:8;", "offset:16;\tsize:18446744073709551615;"));
    BOOST_TEST(!is_taken("offset:8;\tsize:8;", "offset:18446744073709551600;\tsize:4080;"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
