#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exports/exports.h"
#include "support/gzip.h"
#include "support/json.h"
#include "support/protobuf.h"
#include "support/run_gpufs.h"

// Stacks are counted here from what `gpufs report` tells.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Json;
using test::ProtoMessage;

const std::string kStacks = test::recording_path("stack-6.18");

// A stack, the outermost first, of an event and a task.
struct Counted {
    std::string event, comm, frames;
    friend auto operator<=>(const Counted&, const Counted&) = default;
};
using Counts = std::map<Counted, std::uint64_t>;

bool is_of_the_tracer(const std::string& function) {
    return function.starts_with("trace_event_raw_event_") || function.starts_with("__traceiter_");
}

Counts counts_of_report() {
    Counts counts;
    std::map<std::string, Json> last;  // events, by CPU
    for (const Json& record : test::reported(kStacks)) {
        if (!record.members.contains("stack")) {
            last[record["cpu"].text] = record;
            continue;
        }
        const auto event = last.find(record["cpu"].text);
        if (event == last.end()) continue;
        std::vector<std::string> frames;
        for (const Json& frame : record["stack"].items) frames.push_back(frame.text);
        frames.erase(frames.begin(), std::ranges::find_if_not(frames, is_of_the_tracer));
        std::ranges::reverse(frames);
        ++counts[{event->second["event"].text, event->second["comm"].text, join(frames, ";")}];
    }
    return counts;
}

// The lines of all events together; kernel functions have an end that says so.
std::map<std::string, std::uint64_t> folded_lines(const Counts& counts) {
    std::map<std::string, std::uint64_t> lines;
    for (const auto& [counted, count] : counts) {
        std::string line = counted.comm;
        for (const std::string& frame : split(counted.frames, ';')) line += cat(';', frame, "_[k]");
        lines[line] += count;
    }
    return lines;
}

// A kernel function's own name.
std::string without_mark(const std::string& name) {
    BOOST_TEST(name.ends_with("_[k]"));
    return name.substr(0, name.size() - 4);
}

// The text behind an index of the table.
std::string text_at_index(const std::vector<std::string>& texts, std::uint64_t index) {
    return texts.at(index);
}

Counts counts_of_pprof(const ProtoMessage& profile) {
    std::vector<std::string> texts;
    for (const test::ProtoField& field : profile.fields())
        if (field.number == 6) texts.emplace_back(field.bytes);
    BOOST_TEST_REQUIRE(!texts.empty());
    BOOST_TEST(texts[0] == "");
    std::map<std::uint64_t, std::string> functions, locations;
    for (const ProtoMessage& function : profile.messages(5))
        functions[function.number(1)] = text_at_index(texts, function.number(2));
    for (const ProtoMessage& location : profile.messages(4)) {
        BOOST_TEST(location.number(3) != 0u);
        locations[location.number(1)] = functions.at(location.messages(4).at(0).number(1));
    }
    Counts counts;
    for (const ProtoMessage& sample : profile.messages(2)) {
        std::map<std::string, std::string> labels;
        for (const ProtoMessage& label : sample.messages(3))
            labels[text_at_index(texts, label.number(1))] = text_at_index(texts, label.number(2));
        std::vector<std::string> frames;
        for (const std::uint64_t location : sample.numbers(1))
            frames.push_back(without_mark(locations.at(location)));
        std::ranges::reverse(frames);
        counts[{labels.at("event"), labels.at("comm"), join(frames, ";")}] +=
            sample.numbers(2).at(0);
    }
    const ProtoMessage type = profile.messages(1).at(0);
    BOOST_TEST(text_at_index(texts, type.number(1)) == "events");
    BOOST_TEST(text_at_index(texts, type.number(2)) == "count");
    return counts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(folded_stacks_are_those_of_the_report) {
    std::string expected;
    for (const auto& [line, count] : folded_lines(counts_of_report()))
        expected += cat(line, ' ', count, '\n');
    BOOST_TEST(lines_of(expected).size() > 5u);
    BOOST_TEST(test::exported(kStacks, "--folded") == expected);
}

BOOST_AUTO_TEST_CASE(pprof_has_the_stacks_of_the_report) {
    const std::string bytes = test::ungzipped(test::exported(kStacks, "--pprof"));
    const Counts counts = counts_of_pprof(ProtoMessage(bytes));
    BOOST_TEST((counts == counts_of_report()));
    const std::vector<Json> records = test::reported(kStacks);
    BOOST_TEST(ProtoMessage(bytes).number(10) ==
               test::ns_of(records.back()["time"].text) - test::ns_of(records[0]["time"].text));
}

BOOST_AUTO_TEST_CASE(speedscope_has_a_profile_for_each_event) {
    const Json file = test::parse_json(trim(test::exported(kStacks, "--speedscope")));
    BOOST_TEST(file["$schema"].text == "https://www.speedscope.app/file-format-schema.json");
    const std::vector<Json>& frames = file["shared"]["frames"].items;
    std::map<std::pair<std::string, std::string>, std::uint64_t> expected, shown;
    for (const auto& [counted, count] : counts_of_report())
        expected[{counted.event, counted.frames}] += count;
    for (const Json& profile : file["profiles"].items) {
        BOOST_TEST(profile["type"].text == "sampled");
        const auto& samples = profile["samples"].items;
        const auto& weights = profile["weights"].items;
        BOOST_TEST_REQUIRE(samples.size() == weights.size());
        long long total = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            std::vector<std::string> stack;
            for (const Json& index : samples[i].items) {
                stack.push_back(
                    without_mark(frames.at(static_cast<std::size_t>(index.number()))["name"].text));
            }
            shown[{profile["name"].text, join(stack, ";")}] +=
                static_cast<std::uint64_t>(weights[i].number());
            total += weights[i].number();
        }
        BOOST_TEST(profile["startValue"].number() == 0);
        BOOST_TEST(profile["endValue"].number() == total);
    }
    BOOST_TEST((shown == expected));
}

BOOST_AUTO_TEST_CASE(a_recording_without_stacks_is_told_to_have_none) {
    const test::Ended ended =
        test::gpufs({"export", test::recording_path("drm-6.12"), "--folded", "-"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out == "");
    BOOST_TEST(ended.err ==
               "the recording has no stacks: 'gpufs record --trigger stacktrace' takes them\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
