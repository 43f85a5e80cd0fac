#include "lang/trace_dat/record_merge.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <deque>

#include "base/cat.h"
#include "base/text.h"
#include "support/ring_pages.h"
#include "view/losses.h"

namespace gpufs {
namespace {

using test::as_string;
using test::PageBuilder;

// CPUs with pages to give, which may get more later.
struct Source {
    std::vector<std::deque<std::vector<std::byte>>> cpus;
    std::vector<std::vector<std::byte>> given;

    RecordMerge merge(const TraceClock* clock = nullptr) {
        given.resize(cpus.size());
        std::vector<int> numbers;
        for (std::size_t i = 0; i < cpus.size(); ++i) numbers.push_back(static_cast<int>(2 * i));
        return RecordMerge(
            numbers,
            [this](std::size_t i) -> std::optional<RingPage> {
                if (cpus[i].empty()) return std::nullopt;
                given[i] = std::move(cpus[i].front());
                cpus[i].pop_front();
                return RingPage(given[i], {});
            },
            clock);
    }
};

std::string all(RecordMerge& merge, std::uint64_t limit = ~std::uint64_t{0}) {
    std::vector<std::string> seen;
    while (const TraceRecord* r = merge.next(limit)) {
        const std::string lost =
            r->lost_before.is_zero() ? "" : cat('(', loss_text(r->lost_before), " lost)");
        seen.push_back(cat(lost, as_string(r->bytes), '@', r->timestamp, '/', r->cpu));
    }
    return join(seen, " ");
}

BOOST_AUTO_TEST_SUITE(record_merge)

BOOST_AUTO_TEST_CASE(records_of_all_cpus_come_by_time) {
    Source source{{{PageBuilder(10).record(0, "a1__").record(20, "a2__").bytes(),
                    PageBuilder(40).record(0, "a3__").bytes()},
                   {PageBuilder(5).record(0, "b1__").record(20, "b2__").record(20, "b3__").bytes()},
                   {}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(all(merge) == "b1__@5/2 a1__@10/0 b2__@25/2 a2__@30/0 a3__@40/0 b3__@45/2");
    BOOST_TEST(!merge.next());
}

BOOST_AUTO_TEST_CASE(the_order_is_that_of_corrected_times) {
    TraceClock clock;
    clock.shifts.cpus = {{}, {}, {{0, 100, 1, 0}}};  // CPU 2 is 100 behind
    Source source{{{PageBuilder(10).record(0, "a1__").record(20, "a2__").bytes()},
                   {PageBuilder(5).record(0, "b1__").record(3, "b2__").bytes()}},
                  {}};
    RecordMerge merge = source.merge(&clock);
    BOOST_TEST(all(merge, 104) == "a1__@10/0 a2__@30/0");
    const TraceRecord* const third = merge.next();
    BOOST_TEST_REQUIRE(third);
    BOOST_TEST(third->timestamp == 105u);
    BOOST_TEST_REQUIRE(merge.peek_behind(0));
    BOOST_TEST(as_string(merge.peek_behind(0)->bytes) == "b2__");
    BOOST_TEST(merge.peek_behind(0)->timestamp == 108u);
    BOOST_TEST(all(merge) == "b2__@108/2");
}

BOOST_AUTO_TEST_CASE(of_equal_times_the_lower_cpu_comes_first) {
    Source source{{{PageBuilder(10).record(0, "a1__").record(0, "a2__").bytes()},
                   {PageBuilder(10).record(0, "b1__").bytes()}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(all(merge) == "a1__@10/0 a2__@10/0 b1__@10/2");
}

BOOST_AUTO_TEST_CASE(many_cpus_stay_in_order) {
    Source source;
    for (std::uint32_t cpu = 0; cpu < 37; ++cpu) {
        PageBuilder page(cpu);
        for (std::uint32_t i = 0; i < 20; ++i) page.record(1 + (cpu * 7 + i * 13) % 11, "xxxx");
        source.cpus.push_back({page.bytes()});
    }
    RecordMerge merge = source.merge();
    std::uint64_t last = 0;
    std::size_t count = 0;
    for (; const TraceRecord* r = merge.next(); ++count) {
        BOOST_TEST(r->timestamp >= last);
        last = r->timestamp;
    }
    BOOST_TEST(count == 37u * 20u);
}

BOOST_AUTO_TEST_CASE(a_limit_holds_records_back) {
    Source source{{{PageBuilder(10).record(0, "a1__").record(20, "a2__").bytes()},
                   {PageBuilder(15).record(0, "b1__").bytes()}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(all(merge, 20) == "a1__@10/0 b1__@15/2");
    BOOST_TEST(all(merge, 29) == "");
    // A page that comes later fits in.
    source.cpus[1].push_back(PageBuilder(22).record(0, "b2__").bytes());
    merge.refill();
    BOOST_TEST(all(merge) == "b2__@22/2 a2__@30/0");
}

BOOST_AUTO_TEST_CASE(losses_are_told_with_the_next_record) {
    Source source{{{PageBuilder(10).record(0, "a1__").bytes(),
                    PageBuilder(20).record(0, "a2__").lost(5).bytes(),
                    PageBuilder(30).lost(3).bytes(),  // no record of its own
                    PageBuilder(40).record(0, "a3__").lost(4).record(1, "a4__").bytes()}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(all(merge) == "a1__@10/0 (5 lost)a2__@20/0 (7 lost)a3__@40/0 a4__@41/0");
}

BOOST_AUTO_TEST_CASE(records_behind_the_last_one_can_be_seen_and_taken) {
    Source source{{{PageBuilder(10).record(0, "a1__").record(20, "a2__").bytes(),
                    PageBuilder(40).record(0, "a3__").lost(5).record(1, "a4__").bytes()},
                   {PageBuilder(15).record(0, "b1__").bytes()}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(!merge.peek_behind(0));
    BOOST_TEST(as_string(merge.next()->bytes) == "a1__");
    BOOST_TEST(as_string(merge.peek_behind(1)->bytes) == "a3__");
    BOOST_TEST(as_string(merge.peek_behind(2)->bytes) == "a4__");
    BOOST_TEST(!merge.peek_behind(3));
    BOOST_TEST(as_string(merge.take_behind(2)->bytes) == "a4__");
    BOOST_TEST(as_string(merge.peek_behind(0)->bytes) == "a2__");
    BOOST_TEST(all(merge) == "b1__@15/2 a2__@30/0 (5 lost)a3__@40/0");
}

BOOST_AUTO_TEST_CASE(a_damaged_page_is_named_and_its_rest_is_lost) {
    Source source{{{PageBuilder(10).record(0, "a1__").raw("xy").bytes(),
                    PageBuilder(20).record(0, "a2__").lost(5).bytes()}},
                  {}};
    RecordMerge merge = source.merge();
    BOOST_TEST(all(merge) == "a1__@10/0 (5 or more lost)a2__@20/0");
    BOOST_REQUIRE(merge.damage().size() == 1u);
    BOOST_TEST(merge.damage()[0] ==
               "CPU 0: a ring buffer page is damaged at byte 24: an event header is cut after 2 "
               "bytes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
