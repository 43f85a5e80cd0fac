#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <span>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/printed_variables.h"
#include "support/run_gpufs.h"
#include "support/skip.h"
#include "support/temp_file.h"
#include "support/trace_instance.h"

// Variables of tests/programs/variables.c that BPF programs read at a line: they are what the
// program itself prints there, or what it prints computes from them.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::line_with;
using test::TempFile;
using test::variant;

struct Named {
    const char* name;  // in the output
    const char* path;
};
constexpr Named kOfWork[] = {{"n", "n"},
                             {"text", "text"},
                             {"len", "req->len"},
                             {"name", "req->name"},
                             {"id", "req->parts[2].id"},
                             {"label", "req->parts[1].label"},
                             {"next_len", "req->next->len"},
                             {"low", "req->low"},
                             {"mid", "req->mid"},
                             {"wide", "req->wide"},
                             {"whole", "req->whole"},
                             {"cell", "req->table[1][2]"}};
constexpr Named kOfLater[] = {{"sum", "sum"},
                              {"local_id", "local.id"},
                              {"total", "shared_total"},
                              {"part", "shared_parts[1].id"}};
constexpr Named kComputed[] = {
    {"twice", "twice"}, {"cell", "*cell"}, {"narrow", "narrow"}, {"minus", "minus"}};
constexpr Named kOfPair[] = {{"first", "both.first"}, {"second", "both.second"}};

constexpr int kRounds = 5;
constexpr std::size_t kAtOnce = 4;  // keys have 192 bytes

std::string place(const std::string& line_name) {
    return cat("variables.c:", line_with(line_name));
}

using Rows = std::multiset<std::vector<std::string>>;

// Counts by the variables while the program runs; what it prints goes into the file.
Rows counted(const std::string& program, const std::string& line_name, std::span<const Named> names,
             const TempFile& output) {
    std::string by;
    for (const Named& one : names) by += cat(by.empty() ? "" : ",", one.path);
    const Ended ended =
        test::gpufs({"count", "-x", program, place(line_name), "by", by, "--json", "--", "sh", "-c",
                     cat(program, ' ', kRounds, " >", output.path())});
    BOOST_TEST_REQUIRE(ended.status == 0, ended.err);
    Rows rows;
    for (const Json& line : test::parse_json_lines(ended.out)) {
        if (line.members.contains("summary"))
            BOOST_TEST(line["summary"]["lost"].number() == 0, ended.out);
        if (!line.members.contains("map")) continue;
        for (const Json& entry : line["entries"].items) {
            std::vector<std::string> row;
            for (const Named& one : names) {
                const Json& value = entry["key"][one.path];
                row.push_back(value.kind == Json::Kind::text ? cat('"', value.text, '"')
                                                             : value.text);
            }
            for (long long i = 0; i < entry["count"].number(); ++i) rows.insert(row);
        }
    }
    return rows;
}

void compare(const std::string& program, const std::string& line_name,
             std::span<const Named> names) {
    for (; !names.empty(); names = names.subspan(std::min(kAtOnce, names.size()))) {
        if (test::is_ahead(program, names.front().name)) names = names.subspan(1);
        const auto some = names.first(std::min(kAtOnce, names.size()));
        const TempFile output;
        const Rows seen = counted(program, line_name, some, output);
        Rows truth;
        for (const auto& record : test::printed_at(read_file(output.path()), line_name)) {
            std::vector<std::string> row;
            for (const Named& one : some) row.push_back(record.at(one.name));
            truth.insert(row);
        }
        BOOST_TEST(truth.size() == std::size_t{kRounds});
        BOOST_TEST((seen == truth), cat(program, ' ', line_name, ' ', some.front().path, " …"));
    }
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(adhoc_variables, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(programs_count_by_variables_of_a_line_what_the_program_prints_there) {
    for (const char* name :
         {"gcc-O0-pie", "gcc-O2-pie", "gcc-O2-dwarf4", "gcc-O2-package", "clang-O2-pie"}) {
        const std::string program = variant(name);
        compare(program, "work", kOfWork);
        compare(program, "later", kOfLater);
    }
}

// With optimization tracefs reads none of these.
BOOST_AUTO_TEST_CASE(what_only_a_computation_knows_is_counted_by) {
    for (const char* name : {"gcc-O0-pie", "gcc-O2-pie", "clang-O2-pie", "clang-O2-split"})
        compare(variant(name), "computed", kComputed);
    compare(variant("clang-O2-pie"), "computed", kOfPair);
    constexpr Named kOfBegin[] = {{"n", "n"}, {"text", "text"}};
    constexpr const char* kAtWork = "work";
    const std::string program = variant("clang-O2-pie");
    const TempFile output;
    const Rows seen = counted(program, "later", kOfBegin, output);
    Rows truth;
    for (const auto& record : test::printed_at(read_file(output.path()), kAtWork))
        truth.insert({record.at("n"), record.at("text")});
    BOOST_TEST((seen == truth));
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(explain_tells_how_each_variable_is_read) {
    const std::string program = variant("clang-O2-pie");
    const Ended ended = test::gpufs(
        {"count", "-x", program, place("later"), "by", "n,req->len", "--explain", "--dry-run"});
    BOOST_TEST(ended.status == 0, ended.err);
    const std::string at = place("later");
    const std::string blanks(at.size() - 2, ' ');
    BOOST_TEST(
        ended.err ==
        cat("AT", blanks,
            "  NAME      TYPE  WHERE                            READ BY TRACEFS  BY THE PROGRAM\n",
            at,
            "  n         int   = (%si at the function's begin)  -                (%si at the "
            "function's begin):s32\n",
            at,
            "  req->len  long  [%r13]                           +0(%r13):s64     "
            "[%r13]:s64\n"));
    BOOST_TEST(has(ended.out, "%si at the begin of work: uprobe "), ended.out);
    const Ended listed = test::gpufs({"probe", "vars", "-x", program, place("computed")});
    BOOST_TEST(has(listed.out, "by programs: (%si * 100):u8\n"), listed.out);
}
#endif

BOOST_AUTO_TEST_CASE(variables_at_lines_are_what_other_questions_ask_for) {
    const std::string program = variant("gcc-O2-pie");
    const auto ask = [&](std::vector<std::string> words) {
        words.insert(words.begin() + 1, {"-x", program});
        words.insert(words.end(), {"--", "sh", "-c", cat(program, " 5 >/dev/null")});
        const Ended ended = test::gpufs(words);
        BOOST_TEST(ended.status == 0, ended.err);
        return ended.out;
    };
    // 1 + 3 + 5 + 7 + 9
    BOOST_TEST(has(ask({"stats", place("computed"), "twice"}), "count 5, sum 25, "));
    BOOST_TEST(has(ask({"hist", place("computed"), "twice"}), "min 1, avg 5, "));
    BOOST_TEST(has(ask({"count", place("computed"), "--if", "twice > 3"}), "3"));
    // From line to line, with a key of both, and one of each.
    const std::string times =
        ask({"latency", place("work"), place("later"), "--key", "n", "by", "text,negative"});
    BOOST_TEST(has(times, "text odd, negative -3:"), times);
    // At a function's begin, beside its registers.
    BOOST_TEST(has(ask({"count", "work", "by", "n,arg1"}), "4     4      1\n"));
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(a_programs_text_reads_variables_as_fields) {
    const std::string program = variant("clang-O2-pie");
    const auto text = [&](const std::string& name) {
        return cat(
            ".map events ringbuf\n.record seen { n s32, narrow u8 }\n.stack v { out seen }\n",
            ".prog p uprobe ", program, ":", place("later"),
            "\n r6 = r1\n zero v.out\n *(u32 *)(r10 + v.out.id) = record(seen)\n r7 = @", name,
            "(r6)\n *(u32 *)(r10 + v.out.n) = w7\n .if @absent\n r7 = @absent(r6)\n .endif\n"
            " call ringbuf_output(map[events], &v.out, sizeof(seen), 0)\n exit 0\n");
    };
    const TempFile good(text("n"), ".bpf");
    const Ended ended = test::gpufs({"run", good.path(), "--json", "--explain", "--", "sh", "-c",
                                     cat(program, " 3 >/dev/null")});
    BOOST_TEST(ended.status == 0, ended.err);
    for (const char* n : {"\"n\":0,", "\"n\":1,", "\"n\":2,"}) BOOST_TEST(has(ended.out, n));
    BOOST_TEST(has(ended.err, "p: @n is (%si at the function's begin)\n"), ended.err);
    const TempFile gone(text("small"), ".bpf"), unknown(text("txet"), ".bpf");
    BOOST_TEST(has(test::gpufs({"run", gone.path(), "--dry-run"}).err,
                   cat("'small' is optimized out at ", place("later"))));
    const Ended refused = test::gpufs({"run", unknown.path(), "--dry-run"});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(has(refused.err, "there is no variable 'txet' here"), refused.err);
    BOOST_TEST(has(refused.err, "hint: did you mean 'text'?"), refused.err);
}
#endif

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_line_or_a_variable_is_shown_in_the_question,
                     *ut::label("pure")) {
    std::string program = variant("gcc-O2-pie");
    const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
        std::vector<std::string> args{words.front(), "-x", program};
        args.insert(args.end(), words.begin() + 1, words.end());
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == 2, message);
        BOOST_TEST(has(ended.err, message), ended.err);
    };
    const std::string at = place("work");
    refused({"count", at, "by", "txet"}, "there is no variable 'txet' here");
    refused({"count", at, "by", "req->lne"}, "struct request has no member 'lne'");
    refused({"count", at, "by", "req->ratio"}, "it is a floating point number (double)");
    refused({"count", at, "by", "req->bytes"}, "it is a whole unsigned char[4]");
    refused({"count", at, "--if", "txet > 1"}, "there is no variable 'txet' here");
    refused({"stats", at, "txet"}, "there is no variable 'txet' here");
    refused({"count", "variables.c:1"}, "line 1 of 'variables.c' has no code");
    refused({"count", "variable.c:50"}, "hint: did you mean 'variables.c'?");
    refused({"latency", at}, "latency needs a START and an END");
    refused({"count", cat("uretprobe:", program, ':', at)}, "a line has no return");
    program = variant("clang-O2-pie");
    refused({"count", place("later"), "by", "small"}, "'small' is optimized out at ");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
