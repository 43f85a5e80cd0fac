#define BOOST_TEST_DYN_LINK
#include "view/page/page_overview.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/base64.h"
#include "base/cat.h"
#include "view/page/number_file.h"
#include "view/page/spilled_bytes.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kPartNs = 100, kBegin = 1000, kPartCount = 1024;

PageOverview overview() {
    return {kBegin, kBegin + kPartCount * kPartNs - 1};
}

// A lane's parts: by their number the place of the process and how busy it is, which are below 128.
std::string bytes(const std::map<std::uint64_t, std::pair<char, char>>& parts) {
    std::string text;
    for (std::uint64_t i = 0; i < kPartCount; ++i) {
        const auto part = parts.find(i);
        if (part == parts.end())
            text += '\0';
        else
            text += {part->second.first, part->second.second};
    }
    return cat('"', base64(text), '"');
}

}  // namespace

BOOST_AUTO_TEST_SUITE(view_page)

BOOST_AUTO_TEST_CASE(an_overview_has_how_busy_each_part_was_and_with_whom_most) {
    PageOverview shown = overview();
    shown.add_job(3, 7, 1000, 1050);  // half of the first part
    shown.add_job(3, 8, 1050, 1060);
    shown.add_job(3, 8, 1190, 1310);  // the end of one, a whole one, the begin of a third
    shown.count_run(70, 7, 25);
    shown.count_run(90, 9, 200);
    shown.add_run(1, 70, 7, 103375, 103400);  // in the last part
    shown.add_run(1, 90, 9, 1200, 1400);
    BOOST_TEST(shown.facts_json() ==
               cat("{\"parts\":1024,\"lanes\":[[\"cpu\",1,225,",
                   bytes({{2, {1, 127}}, {3, {1, 127}}, {1023, {3, 31}}}), "],[\"ring\",3,180,",
                   bytes({{0, {3, 76}}, {1, {2, 12}}, {2, {2, 127}}, {3, {2, 12}}}),
                   "],[\"task\",70,25,", bytes({{1023, {3, 31}}}), "],[\"task\",90,200,",
                   bytes({{2, {1, 127}}, {3, {1, 127}}}),
                   "]],\"processes\":[[9,200,0,0],[8,0,130,2],[7,25,50,1]]}"));
}

BOOST_AUTO_TEST_CASE(a_part_belongs_to_who_has_more_of_it_than_all_others) {
    PageOverview shown = overview();
    for (const std::uint64_t from : {1000, 1020, 1040}) {
        shown.add_job(3, 7, from, from + 12);
        shown.add_job(3, 8, from + 12, from + 20);
    }
    BOOST_TEST(shown.facts_json() == cat("{\"parts\":1024,\"lanes\":[[\"ring\",3,60,",
                                         bytes({{0, {1, 76}}}),
                                         "]],\"processes\":[[7,0,36,3],[8,0,24,3]]}"));
}

BOOST_AUTO_TEST_CASE(an_overview_has_the_sixteen_busiest_tasks_with_jobs_and_without) {
    PageOverview shown = overview();
    shown.add_job(3, 500, 1000, 1001);
    for (int i = 0; i < 20; ++i) shown.count_run(100 + i, 100 + i, 10u + static_cast<unsigned>(i));
    shown.count_run(501, 500, 1);
    for (int i = 0; i < 20; ++i) shown.add_run(64, 100 + i, 100 + i, 1000, 1001);
    shown.add_run(64, 501, 500, 1000, 1001);
    const std::string json = shown.facts_json();
    std::string tasks;
    for (std::size_t at = json.find("[\"task\","); at != json.npos;
         at = json.find("[\"task\",", at + 1))
        tasks += cat(json.substr(at + 8, 3), ' ');
    BOOST_TEST(tasks == "104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 501 ");
    BOOST_TEST((json.find("\"cpu\"") == json.npos));  // 64 others have a lane before it
}

BOOST_AUTO_TEST_CASE(numbers_and_texts_that_do_not_fit_into_memory_are_read_again) {
    constexpr std::int64_t kMany = 200'000;
    NumberFile numbers;
    for (std::int64_t i = 0; i < kMany; ++i) numbers.add_signed(i * (i % 2 ? -1000 : 1000));
    for (int round = 0; round < 2; ++round) {
        numbers.rewind();
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < kMany; ++i)
            wrong += numbers.next_signed() != i * (i % 2 ? -1000 : 1000);
        BOOST_TEST(wrong == 0);
    }

    SpilledBytes spilled;
    std::string expected, read;
    for (std::int64_t i = 0; i < kMany; ++i) {
        spilled.add(cat(i, ' '));
        expected += cat(i, ' ');
    }
    BOOST_TEST(spilled.size() == expected.size());
    for (int round = 0; round < 2; ++round) {
        read.clear();
        spilled.rewind();
        for (auto piece = spilled.next_piece(); !piece.empty(); piece = spilled.next_piece())
            read += piece;
        BOOST_TEST((read == expected));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
