#include "lang/adhoc/adhoc.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "base/text.h"
#include "lang/adhoc/words.h"
#include "lang/asm/probe_word.h"
#include "lang/insn/map_world.h"
#include "lang/link/maker.h"

namespace gpufs {
namespace {

using Words = std::vector<std::uint64_t>;

// A record of test::event(); its texts are where `ring` says.
struct Record {
    std::vector<std::byte> bytes = std::vector<std::byte>(256);

    template <class T>
    Record& set(std::string_view field, T value) {
        std::memcpy(bytes.data() + test::event().find(field)->offset, &value, sizeof value);
        return *this;
    }
    Record& comm(std::string_view text) {
        std::memcpy(bytes.data() + test::event().find("comm")->offset, text.data(), text.size());
        return *this;
    }
    Record& ring(std::string_view text) {
        std::memcpy(bytes.data() + 100, text.data(), text.size());
        bytes[100 + text.size()] = std::byte{0};
        return set("ring", static_cast<std::uint32_t>((text.size() + 1) << 16 | 100));
    }
};

AdhocEvent thing() {
    AdhocEvent event;
    event.format = test::event();
    event.is_record = true;
    event.target.name = "gpu:thing";
    return event;
}

// Another event with the same fields.
AdhocEvent end_of_thing() {
    AdhocEvent event = thing();
    event.target.name = "gpu:end";
    return event;
}

AdhocQuestion question_of(const std::vector<std::string>& words) {
    const AdhocWords parsed = parse_adhoc_words("count", words);
    AdhocQuestion question;
    question.title = parsed.source.text;
    question.sources = {parsed.source};
    question.events = {thing()};
    question.keys = parsed.keys;
    return question;
}

AdhocFilter where(std::string expression) {
    AdhocFilter filter;
    filter.condition = parse_expression({"--if", std::move(expression)});
    return filter;
}

// All that a map holds, the members of its keys as text: "comm=vim 2".
std::string contents(test::MapWorld& world, const std::string& map) {
    std::string text;
    const Layout& layout = world.program.find_map(map)->key;
    for (const auto& [key, value] : world.contents(map)) {
        for (const Member& member : layout.members) {
            const char* at = reinterpret_cast<const char*>(key.data()) + member.offset;
            if (member.type.kind == ValueType::Kind::text) {
                text += cat(member.name, '=', std::string(at, strnlen(at, member.type.bytes)), ' ');
                continue;
            }
            std::uint64_t number = 0;
            std::memcpy(&number, at, std::min<std::size_t>(member.type.bytes, 8));
            text += cat(member.name, '=', number, ' ');
        }
        std::uint64_t count = 0;
        std::memcpy(&count, value.data(), sizeof count);
        text += cat(count, '\n');
    }
    return text;
}

template <class Make>
std::string refusal(Make&& make) {
    try {
        make();
    } catch (const UsageError& e) {
        return cat(e.what(), e.hint().empty() ? "" : "\nhint: ", e.hint());
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(adhoc)

BOOST_AUTO_TEST_CASE(words_are_subjects_and_behind_by_keys) {
    const AdhocWords words = parse_adhoc_words("count", {"a:b", "c:d", "by", "x,y", "z"});
    BOOST_TEST(words.source.text == "a:b c:d by x,y z");
    BOOST_TEST(words.subjects.size() == 2u);
    BOOST_TEST(words.keys.size() == 3u);
    BOOST_TEST(words.keys[2].text == "z");
    BOOST_TEST(words.keys[2].at.span.begin == 15u);
    BOOST_TEST(refusal([] {
                   parse_adhoc_words("count", {"a:b", "by"});
               }) ==
               "count:1:5: error: by what?\n"
               "a:b by\n"
               "    ^~\n"
               "hint: keys: a field, comm, pid, cpu, kstack…");
    BOOST_TEST(refusal([] {
                   parse_adhoc_words("count", {"a:b", "by", "pid", "if", "x == 2"});
               }) ==
               "count:1:12: error: a condition is an option here\n"
               "a:b by pid if x == 2\n"
               "           ^~\n"
               "hint: --if 'EXPR'");
    BOOST_TEST(refusal([] {
                   parse_adhoc_words("count", {"a:b", "if", "x == 2"});
               }).starts_with("count:1:5: error: a condition"));
}

BOOST_AUTO_TEST_CASE(pairs_name_a_field_or_one_of_each_event) {
    const auto pairs = parse_adhoc_pairs({"--key", "pid=next_pid,cpu"}, 1);
    BOOST_TEST(pairs.size() == 2u);
    BOOST_TEST(pairs[0].start.text == "pid");
    BOOST_TEST(pairs[0].end.text == "next_pid");
    BOOST_TEST(pairs[0].end.at.span.begin == 4u);
    BOOST_TEST(pairs[1].end.text == "cpu");
    BOOST_TEST(refusal([] {
                   parse_adhoc_pairs({"--key", "a=b=c"}, 1);
               }) ==
               "--key:1:1: error: expected FIELD or FIELD=FIELD\n"
               "a=b=c\n"
               "^~~~~\n"
               "hint: the start's field, and the end's where it has another name");
}

BOOST_AUTO_TEST_CASE(linear_ends_with_a_whole_step) {
    const Aggregation how = parse_linear({"--linear", "-10:15:10"});
    BOOST_TEST(how.low == -10);
    BOOST_TEST(how.high == 20);
    BOOST_TEST(how.step == 10);
    for (const char* bad : {"1:2", "1:2:0", "2:2:1", "1:x:1", "0:9223372036854775807:1"})
        BOOST_TEST(!refusal([&] { parse_linear({"--linear", bad}); }).empty(), bad);
}

BOOST_AUTO_TEST_CASE(a_word_names_a_kind_and_a_target) {
    const auto parse = [](const std::string& word) {
        return parse_probe_word({"count", word}, 0, {0, word.size()});
    };
    BOOST_TEST((parse("sched:sched_switch").kind == ProbeTarget::Kind::tracepoint));
    BOOST_TEST(parse("sched:*").has_glob);
    BOOST_TEST((parse("kprobe:vfs_read").kind == ProbeTarget::Kind::kprobe));
    BOOST_TEST(parse("uprobe:/bin/sh:main").name == "/bin/sh:main");
    BOOST_TEST(parse("profile:99hz").period == 99u);
    BOOST_TEST(refusal([&] { parse("sched_switch"); }) ==
               "count:1:1: error: 'sched_switch' is no SYSTEM:EVENT\n"
               "sched_switch\n"
               "^~~~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(counts_go_by_numbers_and_texts_of_the_record) {
    test::MapWorld world(make_count(question_of({"gpu:thing", "by", "comm,delta,flags"})));
    const auto hit = [&](const Record& record) { world.run(0, test::tracepoint(), record.bytes); };
    hit(Record().comm("vim").set<std::int16_t>("delta", -1));
    hit(Record().comm("vim").set<std::int16_t>("delta", -1));
    hit(Record().comm("sixteen letters!").set<std::uint8_t>("flags", 200));
    BOOST_TEST(contents(world, "count") ==
               "comm=sixteen letters! delta=0 flags=200 1\n"
               "comm=vim delta=65535 flags=0 2\n");
}

// What another text left behind the end would make one key two.
BOOST_AUTO_TEST_CASE(texts_end_where_their_nul_is) {
    test::MapWorld world(make_count(question_of({"gpu:thing", "by", "comm"})));
    for (const std::string_view text :
         {std::string_view("sh\0rubbish\0more", 15), std::string_view("sh"),
          std::string_view("longer t\0ail", 12), std::string_view("longer t")})
        world.run(0, test::tracepoint(), Record().comm(text).bytes);
    BOOST_TEST(contents(world, "count") == "comm=longer t 2\ncomm=sh 2\n");
}

BOOST_AUTO_TEST_CASE(texts_elsewhere_are_cut_at_63_bytes_and_counted_when_they_are_longer) {
    test::MapWorld world(make_count(question_of({"gpu:thing", "by", "ring"})));
    for (const std::size_t length : {3, 63, 64, 100})
        world.run(0, test::tracepoint(), Record().ring(std::string(length, 'x')).bytes);
    BOOST_TEST(contents(world, "count") == cat("ring=xxx 1\nring=", std::string(63, 'x'), " 3\n"));
    BOOST_TEST(world.words("texts_cut") == Words{2});
    BOOST_TEST(world.words("texts_unread") == Words{0});
}

BOOST_AUTO_TEST_CASE(without_keys_there_is_one_count_and_a_filter_holds) {
    AdhocQuestion question = question_of({"gpu:thing"});
    question.filter = where("count > 5 && comm ~ \"v*\"");
    question.filter.pids = {42};
    test::MapWorld world(make_count(question));
    world.world.now.tid = 42;
    const Record wanted = Record().comm("vim").set("count", 6);
    world.run(0, test::tracepoint(), wanted.bytes);
    world.run(0, test::tracepoint(), Record().comm("vim").set("count", 5).bytes);
    world.run(0, test::tracepoint(), Record().comm("emacs").set("count", 6).bytes);
    world.world.now.tid = 43;
    world.run(0, test::tracepoint(), wanted.bytes);
    world.world.now.pid = 42;
    world.run(0, test::tracepoint(), wanted.bytes);
    BOOST_TEST(world.words("count") == Words{2});
}

BOOST_AUTO_TEST_CASE(histograms_count_the_fields_value_with_its_sign) {
    AdhocQuestion question = question_of({"gpu:thing", "delta"});
    Aggregation how = parse_linear({"--linear", "-2:2:1"});
    test::MapWorld world(make_hist(question, {"delta", {0, {10, 15}}}, how));
    for (const std::int16_t delta :
         std::initializer_list<std::int16_t>{-3, -2, -1, -1, 0, 1, 2, 300})
        world.run(0, test::tracepoint(), Record().set("delta", delta).bytes);
    const std::vector<test::OwnEntry> entries = world.entries("hist");
    Words counts;
    for (const HistogramBucket& one : entries.at(0).buckets) counts.push_back(one.count);
    BOOST_TEST(counts == (Words{1, 1, 2, 1, 1, 2}));
    constexpr std::uint64_t kMinusThree = ~std::uint64_t{2};
    BOOST_TEST(entries.at(0).words == (Words{8, 296, kMinusThree, 300}));
}

BOOST_AUTO_TEST_CASE(stats_have_count_sum_and_extremes_of_the_fields_value_with_its_sign) {
    test::MapWorld world(
        make_stats(question_of({"gpu:thing", "delta", "by", "flags"}), {"delta", {0, {10, 15}}}));
    for (const std::int16_t delta : std::initializer_list<std::int16_t>{-3, 300, 1})
        world.run(0, test::tracepoint(), Record().set("delta", delta).bytes);
    const std::vector<test::OwnEntry> entries = world.entries("stats");
    constexpr std::uint64_t kMinusThree = ~std::uint64_t{2};
    BOOST_TEST(entries.size() == 1u);
    BOOST_TEST(entries.at(0).words == (Words{3, 298, kMinusThree, 300}));
}

BOOST_AUTO_TEST_CASE(a_latency_is_from_the_last_start_to_the_next_end_of_its_key) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:thing", "by", "flags"});
    AdhocLatency latency;
    latency.starts = {thing()};
    question.events = {end_of_thing()};
    latency.pairs = parse_adhoc_pairs({"--key", "seqno"}, 0);
    latency.over_ns = 5000;
    test::MapWorld world(make_latency(question, latency));
    Words slow;
    world.world.helpers[BPF_FUNC_perf_event_output] = [&](Interpreter& interpreter,
                                                          const BpfArguments& arguments) {
        const auto bytes = interpreter.readable(arguments[3], arguments[4]);
        std::uint64_t seqno = 0, us = 0;
        std::memcpy(&seqno, bytes.data() + 8, 8);
        std::memcpy(&us, bytes.data() + bytes.size() - 8, 8);
        slow.insert(slow.end(), {seqno, us});
        return 0;
    };
    constexpr std::size_t kStart = 0, kEnd = 1;
    const auto at = [&](std::uint64_t ns, std::size_t which, std::uint64_t seqno) {
        world.world.now.time_ns = ns;
        world.run(which, test::tracepoint(), Record().set("seqno", seqno).bytes);
    };
    at(0, kStart, 1);
    at(1000, kStart, 2);
    at(2000, kStart, 2);   // replaces
    at(3000, kEnd, 3);     // never began
    at(4000, kEnd, 1);     // 4 us
    at(9000, kEnd, 2);     // 7 us: slow
    at(10000, kStart, 4);  // stays open
    const std::vector<test::OwnEntry> entries = world.entries("latency");
    BOOST_TEST(entries.size() == 1u);
    BOOST_TEST(entries.at(0).key == test::MapWorld::Bytes(1));
    BOOST_TEST(
        (entries.at(0).buckets == std::vector<HistogramBucket>{{4, 1, 4, 4, 4}, {7, 1, 7, 7, 7}}));
    BOOST_TEST(slow == (Words{2, 7}));
    BOOST_TEST(world.words("replaced") == Words{1});
    BOOST_TEST(world.words("unmatched") == Words{1});
    BOOST_TEST(world.contents("starts").size() == 1u);
    BOOST_TEST(world.words("starts_refused") == Words{0});
}

BOOST_AUTO_TEST_CASE(an_event_that_is_both_ends_a_pair_and_begins_the_next_one) {
    const AdhocQuestion question = question_of({"gpu:thing", "gpu:thing"});
    AdhocLatency latency;
    latency.starts = question.events;
    latency.pairs = parse_adhoc_pairs({"--key", "seqno"}, 0);
    test::MapWorld world(make_latency(question, latency));
    BOOST_TEST_REQUIRE(world.program.programs.size() == 1u);
    for (const std::uint64_t ns : {1000, 4000, 9000}) {
        world.world.now.time_ns = ns;
        world.run(0, test::tracepoint(), Record().set("seqno", std::uint64_t{1}).bytes);
    }
    const auto all = world.entries("latency").at(0).words;
    BOOST_TEST(all.at(0) == 2u);  // of 3 and of 5 us
    BOOST_TEST(all.at(1) == 8u);
    BOOST_TEST(world.words("unmatched") == Words{0});
    BOOST_TEST(contents(world, "starts") == "seqno=1 9000\n");
}

// Of system calls by thread: the key stays, with a start of 0, until its thread ends.
BOOST_AUTO_TEST_CASE(a_thread_that_lives_keeps_its_place_among_the_starts) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:thing"});
    AdhocLatency latency;
    latency.starts = {thing()};
    question.events = {end_of_thing()};
    for (auto* events : {&latency.starts, &question.events})
        events->front().format.system = "syscalls";
    latency.pairs = parse_adhoc_pairs({"--key", "tid"}, 0);
    latency.thread_exit = thing();
    test::MapWorld world(make_latency(question, latency));
    constexpr std::size_t kStart = 0, kEnd = 1, kExit = 2;
    std::uint64_t now = 0;
    const auto run = [&](std::uint32_t tid, std::initializer_list<std::size_t> programs) {
        world.world.now.tid = tid;
        for (const std::size_t program : programs) {
            world.world.now.time_ns = now += 1000;
            world.run(program, test::tracepoint(), Record().bytes);
        }
    };
    const auto latencies = [&] { return world.entries("latency").at(0).words[0]; };
    run(7, {kStart, kEnd, kStart, kEnd, kEnd});
    BOOST_TEST(latencies() == 2u);
    BOOST_TEST(world.words("unmatched") == Words{1});
    BOOST_TEST(contents(world, "starts") == "tid=7 0\n");
    run(8, {kStart, kStart});
    BOOST_TEST(world.words("replaced") == Words{1});
    run(7, {kExit});
    BOOST_TEST(contents(world, "starts") == "tid=8 7000\n");
    run(8, {kExit, kEnd});  // what began before an exit is not forgotten
    BOOST_TEST(latencies() == 3u);
    run(8, {kExit});
    BOOST_TEST(world.contents("starts").empty());
}

// What an event without one of its fields would be.
AdhocEvent without(AdhocEvent event, const std::string& field) {
    std::erase_if(event.format.fields, [&](const Field& one) { return one.name == field; });
    return event;
}

BOOST_AUTO_TEST_CASE(a_latency_tells_fields_that_its_start_had) {
    for (const bool keeps_keys : {false, true}) {
        AdhocQuestion question =
            question_of({"gpu:thing", "gpu:thing", "by", "count,ring,flags,start.flags"});
        AdhocEvent start = thing(), end = without(without(end_of_thing(), "count"), "ring");
        if (keeps_keys) start.format.system = end.format.system = "syscalls";
        question.events = {end};
        AdhocLatency latency;
        latency.starts = {start};
        latency.pairs = parse_adhoc_pairs({"--key", "tid"}, 0);
        if (keeps_keys) latency.thread_exit = thing();
        latency.over_ns = 0;
        latency.shown = parse_adhoc_names({"--show", "delta,start.delta"}, 0);
        test::MapWorld world(make_latency(question, latency));
        const Layout slow = world.program.records.at(0).layout;
        std::string lines;
        world.world.helpers[BPF_FUNC_perf_event_output] = [&](Interpreter& interpreter,
                                                              const BpfArguments& arguments) {
            const auto bytes = interpreter.readable(arguments[3], arguments[4]);
            for (const Member& one : slow.members) {
                std::int16_t number = 0;
                std::memcpy(&number, bytes.data() + one.offset,
                            std::min<std::size_t>(one.type.bytes, sizeof number));
                if (one.type.kind != ValueType::Kind::text && one.name != "id")
                    lines += cat(one.name, '=', number, ' ');
            }
            lines += '\n';
            return 0;
        };
        world.world.now.pid = 6;
        world.world.now.tid = 7;
        world.world.now.time_ns = 1000;
        world.run(0, test::tracepoint(),
                  Record()
                      .set("count", 5)
                      .set("flags", std::uint8_t{1})
                      .set("delta", std::int16_t{-8})
                      .ring("gfx")
                      .bytes);
        world.world.now.time_ns += 3000;
        const Record last =
            Record().set("count", 6).set("flags", std::uint8_t{2}).set("delta", std::int16_t{9});
        world.run(1, test::tracepoint(), last.bytes);
        BOOST_TEST(
            contents(world, "latency").starts_with("count=5 ring=gfx flags=2 start.flags=1 "));
        BOOST_TEST(lines ==
                   "tid=7 count=5 flags=2 start.flags=1 pid=6 delta=9 start.delta=-8 us=3 \n");
        // What is kept for the thread's next call looks as if it had not begun.
        BOOST_TEST(world.contents("starts").size() == (keeps_keys ? 1u : 0u));
        for (const auto& [key, value] : world.contents("starts"))
            BOOST_TEST(std::ranges::count(value, std::byte{0}) ==
                       static_cast<std::ptrdiff_t>(value.size()));
    }
}

BOOST_AUTO_TEST_CASE(lines_of_two_threads_name_the_one_that_ran_at_the_start) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:thing"});
    AdhocLatency latency;
    latency.starts = {thing()};
    latency.pairs = parse_adhoc_pairs({"--key", "seqno"}, 0);
    latency.over_ns = 0;
    const Program program = make_latency(question, latency);
    std::string names;
    for (const Member& one : program.records.at(0).layout.members) names += one.name + ' ';
    BOOST_TEST(names == "id seqno start.comm start.pid us ");
}

BOOST_AUTO_TEST_CASE(names_that_neither_event_of_a_latency_has_are_shown_with_those_of_both) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:thing", "by", "cont,start.sqno"});
    AdhocLatency latency;
    latency.starts = {thing()};
    question.events = {without(thing(), "count")};
    latency.pairs = parse_adhoc_pairs({"--key", "seqno"}, 0);
    BOOST_TEST(refusal([&] { make_latency(question, latency); }) ==
               "count:1:24: error: neither gpu:thing nor gpu:thing has a field 'cont'\n"
               "gpu:thing gpu:thing by cont,start.sqno\n"
               "                       ^~~~\n"
               "hint: did you mean 'count'?\n"
               "count:1:29: error: gpu:thing has no field 'sqno'\n"
               "gpu:thing gpu:thing by cont,start.sqno\n"
               "                            ^~~~~~~~~~\n"
               "hint: did you mean 'seqno'?");
}

BOOST_AUTO_TEST_CASE(mistakes_are_shown_under_the_users_words_all_at_once) {
    BOOST_TEST(refusal([] {
                   make_count(question_of({"gpu:thing", "by", "com,words,cpu,cpu"}));
               }) ==
               "count:1:14: error: gpu:thing has no field 'com'\n"
               "gpu:thing by com,words,cpu,cpu\n"
               "             ^~~\n"
               "hint: did you mean 'comm'?\n"
               "count:1:28: error: 'cpu' is a key already\n"
               "gpu:thing by com,words,cpu,cpu\n"
               "                           ^~~");
    BOOST_TEST(refusal([] {
                   make_hist(question_of({"gpu:thing", "comm"}), {"comm", {0, {10, 14}}},
                             Aggregation{Aggregation::Kind::log2});
               }) ==
               "count:1:11: error: 'comm' is no number\n"
               "gpu:thing comm\n"
               "          ^~~~\n"
               "hint: to count by a text: gpufs count gpu:thing by comm");
    AdhocQuestion question = question_of({"gpu:thing"});
    question.filter = where("sqno == 1");
    BOOST_TEST(refusal([&] { make_count(question); }) ==
               "--if:1:1: error: gpu:thing has no field 'sqno'\n"
               "sqno == 1\n"
               "^~~~\n"
               "hint: did you mean 'seqno'?");
}

BOOST_AUTO_TEST_CASE(numbers_of_devices_are_told_by_name) {
    AdhocQuestion question = question_of({"gpu:thing", "by", "dev"});
    Field dev;
    dev.name = "dev";
    dev.type = "dev_t";
    dev.size = dev.element_size = 4;
    dev.offset = 8;
    question.events.front().format.fields.push_back(dev);
    const Program program = make_count(question);
    const ValueType& type = program.find_map("count")->key.find("dev")->type;
    BOOST_TEST((type.kind == ValueType::Kind::device));
    BOOST_TEST(type.bytes == 4u);
}

BOOST_AUTO_TEST_CASE(numbers_have_the_names_of_the_print_fmt_or_of_the_system_call) {
    Field state;
    state.name = "state";
    state.type = "int";
    state.size = state.element_size = 4;
    state.offset = 8;
    const auto type_with = [&](const char* system, const char* name, const char* print_format) {
        AdhocQuestion question = question_of({"gpu:thing", "by", state.name});
        EventFormat& format = question.events.front().format;
        format.system = system;
        format.name = name;
        format.fields.assign(1, state);
        format.print_format = print_format;
        return make_count(question).find_map("count")->key.find(state.name)->type;
    };
    const ValueType symbols = type_with(
        "gpu", "thing", R"("%s", __print_symbolic(REC->state, { 0, "HI" }, { 1, "LO" }))");
    BOOST_TEST((symbols.words == EnumWords{{0, "HI"}, {1, "LO"}}));
    const ValueType flags = type_with(
        "gpu", "thing", R"("%s", __print_flags(REC->state, "|", { 1, "A" }, { 6, "B" }))");
    BOOST_TEST((flags.flags == std::vector<FlagName>{{1, 1, "A"}, {6, 6, "B"}}));
    // A name for something that is computed is not one for the field.
    const ValueType computed =
        type_with("gpu", "thing", R"("%s", __print_symbolic(REC->state & 1, { 0, "HI" }))");
    BOOST_TEST(computed.words.empty());
    state.name = "prot";
    BOOST_TEST(type_with("syscalls", "sys_enter_mmap", "").flags.at(1).name == "PROT_READ");
    BOOST_TEST(type_with("syscalls", "sys_enter_brk", "").flags.empty());
}

BOOST_AUTO_TEST_CASE(upper_case_names_are_of_the_running_task_whatever_fields_there_are) {
    test::MapWorld world(make_count(question_of({"gpu:thing", "by", "comm,PID"})));
    world.world.now.pid = 6;
    world.run(0, test::tracepoint(), Record().comm("vim").bytes);
    BOOST_TEST(contents(world, "count") == "comm=vim PID=6 1\n");
}

BOOST_AUTO_TEST_CASE(keys_must_be_of_one_kind_at_all_events) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:other", "by", "name"});
    AdhocEvent other;
    other.format.system = "gpu";
    other.format.name = "other";
    Field number;
    number.name = "name";
    number.size = number.element_size = 4;
    other.format.fields = {number};
    question.events.push_back(other);
    BOOST_TEST(
        refusal([&] { make_count(question); }) ==
        "count:1:24: error: 'name' of gpu:other and 'name' of gpu:thing are not of one kind\n"
        "gpu:thing gpu:other by name\n"
        "                       ^~~~");
}

// A number of 32 bits with a sign, and one without: each is shown as it is.
BOOST_AUTO_TEST_CASE(keys_of_events_that_differ_in_sign_have_room_for_both) {
    AdhocQuestion question = question_of({"gpu:thing", "gpu:other", "by", "number"});
    question.events.clear();
    for (const bool is_signed : {true, false}) {
        AdhocEvent event;
        event.is_record = true;
        event.format.system = "gpu";
        event.format.name = is_signed ? "thing" : "other";
        event.target.name = event.format.full_name();
        Field number;
        number.name = "number";
        number.type = is_signed ? "int" : "unsigned int";
        number.offset = 8;
        number.size = number.element_size = 4;
        number.is_signed = is_signed;
        event.format.fields = {number};
        question.events.push_back(event);
    }
    const Program program = make_count(question);
    const ValueType& type = program.find_map("count")->key.members.back().type;
    BOOST_TEST(type.bytes == 8u);
    BOOST_TEST(type.is_signed);
}

BOOST_AUTO_TEST_CASE(events_of_a_pattern_may_lack_a_field_others_may_not) {
    AdhocQuestion question = question_of({"gpu:*", "by", "seqno"});
    AdhocEvent other;
    other.format.system = "gpu";
    other.format.name = "other";
    other.from_pattern = true;
    question.events.push_back(other);
    BOOST_TEST(drop_events_without_fields(question) ==
               "1 event of the pattern left out: without a field 'seqno'");
    BOOST_TEST(question.events.size() == 1u);
    other.from_pattern = false;
    question.events.push_back(other);
    BOOST_TEST(drop_events_without_fields(question) == "");
    BOOST_TEST(question.events.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
