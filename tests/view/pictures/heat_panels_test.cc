#include "view/pictures/heat_panels.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/layout_bytes.h"
#include "support/map_entries.h"

namespace gpufs {
namespace {

using test::LayoutBytes;
using test::OwnEntry;

constexpr const char* kSteps =
    ".enum step { 0 wait \"submit to run\", 1 run, 2 all }\n"
    ".struct owner { pid pid, step u32 step }\n"
    ".map m hash key owner, value log2 us, report ";

// An entry of a process, with this many values in one bucket.
OwnEntry counted(const Program& program, std::uint32_t pid, std::uint32_t step,
                 std::uint32_t bucket, std::uint64_t count) {
    LayoutBytes key(program.maps[0].key);
    key.set("pid", pid).set("step", step);
    return {key.bytes(), {count, 0, 0, 0}, {{bucket, count, 0, 0, 0}}};
}

// "All: wait 10-90: 10-20 7*1 30-40 7*2", a line a panel.
std::string panels_text(const HeatPanels& heats) {
    std::string text;
    for (const HeatPanel& panel : heats.panels()) {
        text += cat(panel.title, ' ', panel.map.begin_ns(), '-', panel.map.end_ns(), ':');
        for (const HeatMap::Column& column : panel.map.columns()) {
            text += cat(' ', column.from_ns, '-', column.to_ns);
            for (const auto& [bucket, count] : column.counts) text += cat(' ', bucket, '*', count);
        }
        text += cat(panel.unit.empty() ? "" : " ", panel.unit, '\n');
    }
    return text;
}

BOOST_AUTO_TEST_SUITE(heat_panels_view)

BOOST_AUTO_TEST_CASE(each_word_of_the_reports_key_has_a_panel_and_all_have_the_same_times) {
    const Program program =
        test::declared(cat(kSteps, "\"All\" by step, report \"By process\" by pid step"));
    HeatPanels heats;
    const auto add = [&](const std::vector<OwnEntry>& entries, std::uint64_t from_ns) {
        heats.add(program.maps[0], program.reports, test::map_entries(entries), from_ns,
                  from_ns + 10);
    };
    add({}, 100);
    add({counted(program, 1, 2, 7, 1), counted(program, 2, 2, 7, 4)}, 110);
    add({counted(program, 1, 0, 9, 3), counted(program, 1, 2, 8, 1)}, 120);
    add({}, 130);
    BOOST_TEST(panels_text(heats) ==
               "All: submit to run 100-140: 120-130 9*3 us\n"
               "All: all 100-140: 110-120 7*5 120-130 8*1 us\n");
}

BOOST_AUTO_TEST_CASE(what_is_new_in_a_sample_came_since_the_one_before) {
    const Program program = test::declared(cat(kSteps, "\"All\" by step"));
    HeatPanels heats;
    heats.begin(50);
    BOOST_TEST(heats.wants_sample(50));
    const auto sample = [&](const std::vector<OwnEntry>& entries, std::uint64_t now_ns) {
        heats.sample(program.maps[0], program.reports, test::map_entries(entries), now_ns);
    };
    sample({counted(program, 1, 1, 7, 2)}, 60);
    heats.pass_time(65);
    sample({counted(program, 1, 1, 7, 5), counted(program, 1, 0, 7, 1)}, 70);
    BOOST_TEST(panels_text(heats) ==
               "All: submit to run 50-70: 65-70 7*1 us\n"
               "All: run 50-70: 50-60 7*2 65-70 7*3 us\n");
}

BOOST_AUTO_TEST_CASE(keys_without_words_and_keys_that_the_report_leaves_out_are_drawn_together) {
    for (const char* report : {"\"All\" by pid", "\"All\" total"}) {
        const Program program = test::declared(cat(kSteps, report));
        HeatPanels heats;
        heats.add(program.maps[0], program.reports,
                  test::map_entries({counted(program, 1, 0, 7, 1), counted(program, 2, 1, 7, 1)}),
                  0, 10);
        BOOST_TEST(panels_text(heats) == "All 0-10: 0-10 7*2 us\n");
    }
}

BOOST_AUTO_TEST_CASE(a_number_without_a_word_is_its_own) {
    const Program program = test::declared(cat(kSteps, "\"All\""));
    HeatPanels heats;
    heats.add(program.maps[0], program.reports,
              test::map_entries({counted(program, 1, 1, 7, 1), counted(program, 1, 9, 7, 2)}), 0,
              10);
    BOOST_TEST(panels_text(heats) ==
               "All: run 0-10: 0-10 7*1 us\n"
               "All: 9 0-10: 0-10 7*2 us\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
