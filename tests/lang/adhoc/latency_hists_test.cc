#include "lang/adhoc/latency_hists.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/text.h"
#include "lang/adhoc/hist_times.h"
#include "lang/adhoc/words.h"
#include "lang/program/power_bucket.h"
#include "lang/trigger/hist_spec.h"

namespace gpufs {
namespace {

using Role = HistTable::Role;

AdhocEvent event_of(const std::string& system, const std::string& name, const std::string& fields) {
    AdhocEvent event;
    event.format = parse_event_format(
        system, cat("name: ", name,
                    "\nID: 7\nformat:\n"
                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
                    fields, "\nprint fmt: \"\"\n"));
    event.is_record = true;
    event.target.name = event.format.full_name();
    return event;
}

AdhocEvent wakeup() {
    return event_of("sched", "sched_wakeup",
                    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                    "\tfield:__data_loc char[] note;\toffset:28;\tsize:4;\tsigned:0;\n");
}
AdhocEvent sched_switch() {
    return event_of("sched", "sched_switch",
                    "\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                    "\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                    "\tfield:u64 next_prio;\toffset:32;\tsize:8;\tsigned:0;\n"
                    "\tfield:const char * why;\toffset:40;\tsize:8;\tsigned:0;\n");
}

struct Asked {
    AdhocQuestion question;
    AdhocLatency latency;

    Asked(const std::vector<std::string>& words, const std::string& key) {
        const AdhocWords parsed = parse_adhoc_words("latency", words);
        question.title = parsed.source.text;
        question.sources = {parsed.source, {"--key", key}};
        question.events = {sched_switch()};
        question.keys = parsed.keys;
        latency.starts = {wakeup()};
        latency.pairs = parse_adhoc_pairs(question.sources[1], 1);
    }
    LatencyHists hists(const LatencyHistChoice& choice = {}) const {
        return make_latency_hists(question, latency, choice);
    }
};

const HistSetting kSetting{"gpufs_1_2", {}, true};

// The triggers of a role, a line each.
std::string text_of(const std::vector<HistTable>& tables, Role role) {
    std::string text;
    for (const HistTable& table : tables)
        if (table.role == role) text += cat(table.event, ' ', table.trigger.to_text(), '\n');
    return text;
}

bool holds(const std::string& text, const std::string& piece) {
    return text.find(piece) != std::string::npos;
}

std::string mistake_in(const Asked& asked) {
    try {
        asked.hists();
    } catch (const UsageError& e) {
        return e.what();
    }
    return "none";
}

HistListing listing_of(const HistTable& table, const std::string& entries) {
    return parse_hist_listings(cat("# trigger info: ", table.trigger.to_text(), " [active]\n#\n\n",
                                   entries,
                                   "\nTotals:\n    Hits: 9\n    Entries: 1\n    Dropped: 0\n"))
        .at(0);
}

BOOST_AUTO_TEST_SUITE(latency_hists)

BOOST_AUTO_TEST_CASE(a_question_becomes_triggers_in_the_order_of_their_setting) {
    const LatencyHists hists = Asked({"a", "b"}, "pid=next_pid").hists();
    BOOST_TEST(synthetic_definition(hists, kSetting) == "gpufs_1_2 u64 lat");
    const std::vector<HistTable> tables = hist_tables(hists, kSetting);
    BOOST_TEST(text_of(tables, Role::starts) ==
               "sched:sched_wakeup hist:keys=pid:vals=hitcount:ts0=common_timestamp:clock=mono:"
               "sort=hitcount.descending:size=65536\n");
    BOOST_TEST(text_of(tables, Role::pairs) ==
               "sched:sched_switch hist:keys=next_pid:vals=hitcount:lat=common_timestamp-$ts0:"
               "clock=mono:sort=hitcount.descending:size=65536:"
               "onmatch(sched.sched_wakeup).trace(gpufs_1_2,$lat)\n");
    BOOST_TEST(text_of(tables, Role::ends) ==
               "sched:sched_switch hist:keys=common_type:vals=hitcount:clock=mono:"
               "sort=hitcount.descending\n");
    BOOST_TEST(text_of(tables, Role::least) ==
               "synthetic:gpufs_1_2 hist:keys=common_type:vals=hitcount:n=-(lat):clock=mono:"
               "sort=hitcount.descending:onmax($n).save(lat)\n");
    BOOST_TEST((tables.front().role == Role::starts));
    BOOST_TEST((tables.back().role == Role::pairs));
    BOOST_TEST(!hists.is_in_one_thread);
}

// Without a gap, up to the last without an end, each with at most 256 buckets.
BOOST_AUTO_TEST_CASE(ranges_cover_all_times) {
    for (const std::string unit : {"ns", "us", "ms", "s"}) {
        Asked asked({"a", "b"}, "pid=next_pid");
        asked.latency.unit = unit;
        const LatencyHists hists = asked.hists();
        std::vector<std::string> conditions;
        for (const HistTable& table : hist_tables(hists, kSetting))
            if (table.role == Role::bucket) conditions.push_back(table.trigger.condition);
        BOOST_TEST_REQUIRE(conditions.size() >= 3u);
        std::uint64_t from = 256 * hists.unit_ns;
        BOOST_TEST(conditions.front() == cat("lat < ", from));
        for (std::size_t i = 1; i + 1 < conditions.size(); ++i, from *= 8)
            BOOST_TEST(conditions[i] == cat("lat >= ", from, " && lat < ", from * 8));
        BOOST_TEST(conditions.back() == cat("lat >= ", from));
    }
}

// What the kernel takes is what gpufs trigger takes.
BOOST_AUTO_TEST_CASE(triggers_are_what_hist_specs_print) {
    LatencyHistChoice choice;
    choice.tells_longest = true;
    const LatencyHists hists =
        Asked({"a", "b", "by", "next_comm,start.comm"}, "pid=next_pid").hists(choice);
    for (const HistTable& table : hist_tables(hists, kSetting)) {
        const SourceText source{"hist", table.trigger.argument};
        BOOST_TEST(parse_hist_spec(source).argument() == table.trigger.argument);
    }
}

BOOST_AUTO_TEST_CASE(fields_of_both_events_are_carried_by_variables) {
    LatencyHistChoice choice;
    choice.tells_longest = true;
    const LatencyHists hists =
        Asked({"a", "b", "by", "next_prio,start.note"}, "pid=next_pid").hists(choice);
    BOOST_TEST(synthetic_definition(hists, kSetting) ==
               "gpufs_1_2 u64 lat; u64 at; s32 v0; u64 v1; char v2[]");
    const std::vector<HistTable> tables = hist_tables(hists, kSetting);
    BOOST_TEST(text_of(tables, Role::starts) ==
               "sched:sched_wakeup hist:keys=pid:vals=hitcount:ts0=common_timestamp:s0=note:"
               "clock=mono:sort=hitcount.descending:size=65536\n");
    BOOST_TEST(
        holds(text_of(tables, Role::pairs), ":e0=next_pid:e1=next_prio:at=common_timestamp:"));
    BOOST_TEST(holds(text_of(tables, Role::pairs), ".trace(gpufs_1_2,$lat,$at,$e0,$e1,$s0)\n"));
    BOOST_TEST(text_of(tables, Role::longest) ==
               "synthetic:gpufs_1_2 hist:keys=common_type:vals=hitcount:l=lat:clock=mono:"
               "sort=hitcount.descending:onmax($l).save(lat,at,v0,v1,v2):onmax($l).snapshot()\n");
    BOOST_TEST(holds(text_of(tables, Role::bucket),
                     "hist:keys=v1,v2,lat.buckets=1000:vals=hitcount,lat:clock=mono:"
                     "sort=hitcount.descending:size=4096 if lat < 256000\n"));
}

BOOST_AUTO_TEST_CASE(filters_are_for_starts_or_for_ends_that_take_their_starts) {
    Asked asked({"a", "b"}, "pid=next_pid");
    asked.question.filter.condition = parse_expression({"--if", "pid > 1"});
    asked.question.filter.pids = {7, 8};
    LatencyHistChoice choice;
    choice.threads = {7, 8};
    choice.counts_new_threads = true;
    std::vector<HistTable> tables = hist_tables(asked.hists(choice), kSetting);
    BOOST_TEST(holds(text_of(tables, Role::starts),
                     " if (common_pid == 7 || common_pid == 8) && (pid > 1)\n"));
    BOOST_TEST(text_of(tables, Role::ends) == "");
    BOOST_TEST(text_of(tables, Role::refused) == "");
    BOOST_TEST(holds(text_of(tables, Role::threads),
                     "task:task_newtask hist:keys=common_type:vals=hitcount:clock=mono:"
                     "sort=hitcount.descending if (common_pid == 7 || common_pid == 8) && "
                     "(clone_flags & 65536)\n"));
    asked.question.filter.condition = parse_expression({"--if", "next_prio > 1"});
    asked.question.filter.pids.clear();
    tables = hist_tables(asked.hists(), kSetting);
    BOOST_TEST(!holds(text_of(tables, Role::starts), " if "));
    BOOST_TEST(holds(text_of(tables, Role::pairs), " if next_prio > 1\n"));
    BOOST_TEST(text_of(tables, Role::refused) ==
               "sched:sched_switch hist:keys=next_pid:vals=hitcount:"
               "refused=common_timestamp-$ts0:clock=mono:sort=hitcount.descending:size=65536\n");
}

BOOST_AUTO_TEST_CASE(what_no_hist_trigger_knows_is_pointed_at) {
    BOOST_TEST(mistake_in(Asked({"a", "b", "by", "why"}, "pid=next_pid")) ==
               "latency:1:8: error: no hist trigger of the kernel knows 'why'\n"
               "a b by why\n"
               "       ^~~");
    BOOST_TEST(mistake_in(Asked({"a", "b"}, "note=next_comm")) ==
               "--key:1:6: error: 'note' and 'next_comm' are texts of different lengths, which "
               "hist triggers do not compare\n"
               "note=next_comm\n"
               "     ^~~~~~~~~");
    BOOST_TEST(mistake_in(Asked({"a", "b", "by", "start.comm"}, "pid=next_pid")) == "none");
}

BOOST_AUTO_TEST_CASE(listings_become_buckets_by_key) {
    LatencyHistChoice choice;
    choice.tells_longest = true;
    const LatencyHists hists =
        Asked({"a", "b", "by", "next_comm,next_pid"}, "pid=next_pid").hists(choice);
    std::vector<HistTable> tables = hist_tables(hists, kSetting);
    const auto table = [&](Role role) {
        return *std::ranges::find(tables, role, &HistTable::role);
    };
    const std::vector<TimeBucket> buckets = time_buckets(
        hists, listing_of(table(Role::bucket),
                          "{ v1: 42              , v0:         12, lat: ~ 37000-37999 } hitcount:  "
                          "        3  lat:     112000\n"
                          "{ v1: a, v0: 1 b      , v0:         12, lat: ~ 5000-5999 } hitcount:    "
                          "      1  lat:     5123\n"));
    BOOST_TEST_REQUIRE(buckets.size() == 2u);
    BOOST_TEST(std::string(reinterpret_cast<const char*>(buckets[0].key.data())) == "42");
    std::int32_t pid = 0;
    std::memcpy(&pid, buckets[0].key.data() + 16, sizeof pid);
    BOOST_TEST(pid == 12);
    BOOST_TEST(buckets[0].count == 3u);
    BOOST_TEST(buckets[0].total == 112'000u);
    BOOST_TEST(buckets[0].least == 37'000u);
    BOOST_TEST(buckets[0].most == 37'999u);
    BOOST_TEST(buckets[0].number == power_bucket(5, 37));
    // One alone is its sum.
    BOOST_TEST(buckets[1].least == 5123u);
    BOOST_TEST(buckets[1].most == 5123u);
    const auto longest = longest_pair(
        hists, listing_of(table(Role::longest),
                          "{ common_type:       1529 } hitcount:        120\n"
                          "\tmax:    2615382  lat:    2615382  at:  99000000001  v0:        177  "
                          "v1: my  task        \n"));
    BOOST_TEST_REQUIRE(longest.has_value());
    BOOST_TEST(longest->time == 2'615'382u);
    BOOST_TEST(longest->end == 99'000'000'001u);
}

BOOST_AUTO_TEST_CASE(buckets_have_the_width_of_a_thirty_second) {
    BOOST_TEST(power_bucket(5, 0) == 0u);
    BOOST_TEST(power_bucket(5, 63) == 63u);
    BOOST_TEST(power_bucket(5, 64) == 64u);
    BOOST_TEST(power_bucket(5, 65) == 64u);
    BOOST_TEST(power_bucket(5, 127) == 95u);
    BOOST_TEST(power_bucket(5, 128) == 96u);
    BOOST_TEST(power_bucket(5, ~std::uint64_t{0}) == 60u * 32 - 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
