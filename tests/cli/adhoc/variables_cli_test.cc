#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "base/cat.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/text.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/nest.h"
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

// Counts by the variables at a place of a file while the command runs; what that prints goes into
// `output`.
Rows counted(const std::string& file, const std::string& at, const std::string& command,
             std::span<const Named> names, const TempFile& output) {
    std::string by;
    for (const Named& one : names) by += cat(by.empty() ? "" : ",", one.path);
    const Ended ended = test::gpufs({"count", "-x", file, at, "by", by, "--json", "--", "sh", "-c",
                                     cat(command, " >", output.path())});
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

Rows counted(const std::string& program, const std::string& line_name, std::span<const Named> names,
             const TempFile& output) {
    return counted(program, place(line_name), cat(program, ' ', kRounds), names, output);
}

// The same of what was printed there.
Rows printed(const TempFile& output, const std::string& line_name, std::span<const Named> names) {
    Rows truth;
    for (const auto& record : test::printed_at(read_file(output.path()), line_name)) {
        std::vector<std::string> row;
        for (const Named& one : names) row.push_back(record.at(one.name));
        truth.insert(row);
    }
    return truth;
}

void compare(const std::string& program, const std::string& line_name,
             std::span<const Named> names) {
    for (; !names.empty(); names = names.subspan(std::min(kAtOnce, names.size()))) {
        if (test::is_ahead(program, names.front().name)) names = names.subspan(1);
        const auto some = names.first(std::min(kAtOnce, names.size()));
        const TempFile output;
        const Rows seen = counted(program, line_name, some, output);
        const Rows truth = printed(output, line_name, some);
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

BOOST_AUTO_TEST_CASE(at_the_line_that_begins_a_function_its_parameters_are_counted_by) {
    constexpr Named kParameters[] = {{"n", "n"}, {"text", "text"}, {"len", "req->len"}};
    for (const char* name : {"gcc-O0-pie", "clang-O0-pie", "gcc-O2-pie"}) {
        const TempFile output;
        const Rows seen = counted(variant(name), "begin", kParameters, output);
        BOOST_TEST((seen == printed(output, "work", kParameters)), name);
    }
}

// As in a container, where another file has the path, or none of ours has.
BOOST_AUTO_TEST_CASE(of_a_process_with_other_mounts_the_file_is_its_own) {
    test::Child::Setup setup;
    setup.argv = {"unshare", "-m", "sh", "-c",
                  cat("mount -t tmpfs none /mnt && cp ", variant("gcc-O2-pie"),
                      " /mnt/own-program && echo ready && "
                      "exec /mnt/own-program 1000000000 >/dev/null")};
    test::Child child(setup);
    BOOST_TEST_REQUIRE(child.wait_for_output("ready", std::chrono::seconds(30)));
    const std::string path = cat("/proc/", child.pid(), "/root", "/mnt/own-program");
    const Ended ended = test::gpufs({"count", "-x", "/mnt/own-program", "below", "-p",
                                     cat(child.pid()), "--duration", "300ms"});
    child.send(SIGKILL);
    child.wait();
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err, cat("'/mnt/own-program' is that of the process: ", path)), ended.err);
    BOOST_TEST(has(ended.out, cat("uprobe:", path, ":below: ")), ended.out);
    BOOST_TEST(!has(ended.out, ": 0\n"), ended.out);
}

// An int is in the lower half of a register.
BOOST_AUTO_TEST_CASE(what_a_function_returns_has_the_sign_of_its_type) {
    for (const char* name : {"gcc-O0-pie", "gcc-O2-dwarf4", "clang-O2-split"}) {
        const std::string program = variant(name);
        const auto count = [&](const std::string& condition) {
            return test::gpufs({"count", cat("uretprobe:", program, ":below"), "by", "retval",
                                "--if", condition, "--", program, cat(kRounds)})
                .out;
        };
        BOOST_TEST(has(count("retval < -4"), "RETVAL  COUNT\n    -5      1\n"), name);
        BOOST_TEST(has(count("retval == -2"), "RETVAL  COUNT\n    -2      1\n"), name);
        BOOST_TEST(has(count("retval >= 0"), ": none\n"), name);
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
    BOOST_TEST((seen == printed(output, kAtWork, kOfBegin)));
}

#if defined __aarch64__
constexpr const char* kOwnNumber = "tpidr_el0+96";
#else
constexpr const char* kOwnNumber = "fs-32";
#endif
// Of a program, and of libraries whose blocks the loader makes when a thread uses them, and with
// the thread.
BOOST_AUTO_TEST_CASE(thread_local_variables_are_those_of_the_thread_that_runs,
                     *ut::precondition(test::has_types)) {
    constexpr Named kOwn[] = {
        {"who", "who"}, {"number", "number"}, {"pair.cells[2]", "pair.cells[2]"}, {"text", "text"}};
    const auto built = [](const std::string& name) {
        return std::filesystem::canonical(test::Nest::build_file("thread-variables" + name))
            .string();
    };
    const std::string at = cat("thread_variables.c:", line_with("told", "thread_variables.c"));
    const auto compare_own = [&](const std::string& file, const std::string& command) {
        const TempFile output;
        const Rows seen = counted(file, at, command, kOwn, output);
        const Rows truth = printed(output, "told", kOwn);
        BOOST_TEST(truth.size() == 4u);
        BOOST_TEST((seen == truth), command);
    };
    for (const char* name : {"", "-fixed"}) compare_own(built(name), built(name));
    // The loader keeps some room beside a program's block for libraries that come later.
    for (const char* name : {".so", "-near.so", "-other.so"})
        compare_own(built(name), cat(built(""), ' ', built(name)));
    for (const char* name : {".so", "-other.so"})
        compare_own(built(name), cat("GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 ", built(""),
                                     ' ', built(name)));
    const std::string program = built("");
    const Ended refused = test::gpufs({"probe", "add", "--dry-run", "-x", program, at + " number"});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(refused.err == cat("gpufs: probe:1:", at.size() + 2,
                                  ": error: its address would be computed as "
                                  "%",
                                  kOwnNumber, ", and a probe computes nothing\n", at, " number\n",
                                  std::string(at.size() + 1, ' '), "^~~~~~\n",
                                  "hint: a program reads it: gpufs count -x ", program, ' ', at,
                                  " by number\n"));
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

BOOST_AUTO_TEST_CASE(a_programs_text_reads_members_elements_and_arrays) {
    for (const char* name : {"gcc-O0-pie", "gcc-O2-pie", "clang-O2-pie", "gcc-O2-split"}) {
        const std::string program = variant(name);
        const TempFile output,
            text(cat(".map events ringbuf\n"
                     ".record row { len s64, next_len s64, part s32, cell s16, wide u64, mid u32,\n"
                     "              name str16, label str16, size u64, b0 u8, b1 u8, b2 u8, b3 u8 "
                     "}\n"
                     ".stack v { out row }\n"
                     ".prog p uprobe ",
                     program, ":", place("work"),
                     "\n r6 = r1\n zero v.out\n *(u32 *)(r10 + v.out.id) = record(row)\n"
                     " copy v.out.len, @req->len(r6)\n"
                     " copy v.out.next_len, @req->next->len(r6)\n"
                     " copy v.out.part, @req->parts[2].id(r6)\n"
                     " copy v.out.cell, @req->table[1][2](r6)\n"
                     " copy v.out.wide, @req->wide(r6)\n"
                     " copy v.out.mid, @req->mid(r6)\n"
                     " call probe_read_user_str(&v.out.name, 16, @req->name(r6))\n"
                     " call probe_read_user_str(&v.out.label, 16, @req->parts[1].label(r6))\n"
                     " r7 = sizeof @req->bytes(r6)\n *(u64 *)(r10 + v.out.size) = r7\n"
                     " r3 = &@req->bytes(r6)\n call probe_read_user(&v.out.b0, 4, r3)\n"
                     " call ringbuf_output(map[events], &v.out, sizeof(row), 0)\n exit 0\n"),
                 ".bpf");
        const Ended ended = test::gpufs({"run", text.path(), "--json", "--", "sh", "-c",
                                         cat(program, ' ', kRounds, " >", output.path())});
        BOOST_TEST_REQUIRE(ended.status == 0, ended.err);
        std::multiset<std::string> seen, truth;
        for (const Json& line : test::parse_json_lines(ended.out)) {
            if (!line.members.contains("record")) continue;
            const Json& row = line["values"];
            std::string bytes;
            for (const char* one : {"b0", "b1", "b2", "b3"})
                bytes += cat(bytes.empty() ? "{" : ",",
                             hex(static_cast<std::uint64_t>(row[one].number())));
            const auto value = [&](const char* member) { return row[member].text; };
            seen.insert(cat(value("len"), ' ', value("next_len"), ' ', value("part"), ' ',
                            value("cell"), ' ', value("wide"), ' ', value("mid"), " \"",
                            value("name"), "\" \"", value("label"), "\" ", value("size"), ' ',
                            bytes, '}'));
        }
        for (const auto& one : test::printed_at(read_file(output.path()), "work"))
            truth.insert(cat(one.at("len"), ' ', one.at("next_len"), ' ', one.at("id"), ' ',
                             one.at("cell"), ' ', one.at("wide"), ' ', one.at("mid"), ' ',
                             one.at("name"), ' ', one.at("label"), " 4 ", one.at("bytes")));
        BOOST_TEST(truth.size() == std::size_t{kRounds});
        BOOST_TEST(seen == truth, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(what_a_text_names_of_a_variable_is_checked, *ut::label("pure")) {
    const auto refusal = [](const std::string& line) {
        const TempFile text(cat(".prog p uprobe ", variant("gcc-O2-pie"), ":", place("work"), '\n',
                                line, "\nexit 0\n"),
                            ".bpf");
        const Ended ended = test::gpufs({"run", text.path(), "--dry-run"});
        BOOST_TEST(ended.status == 2);
        const std::string in = cat("gpufs: ", text.path(), ":2:");
        BOOST_TEST_REQUIRE(ended.err.starts_with(in), ended.err);
        return ended.err.substr(in.size());
    };
    constexpr const char* kSteps =
        "hint: write names with '->', '.' and [NUMBER]: @req->parts[2].len(r6)\n";
    BOOST_TEST(refusal("r7 = @req->(r1)") == cat("10: error: no part of a variable is named here\n"
                                                 "r7 = @req->(r1)\n"
                                                 "         ^~\n",
                                                 kSteps));
    BOOST_TEST(refusal("r7 = @req->parts[x](r1)") ==
               cat("17: error: no part of a variable is named here\n"
                   "r7 = @req->parts[x](r1)\n"
                   "                ^\n",
                   kSteps));
    BOOST_TEST(refusal("r7 = @req->nmae(r1)") ==
               "6: error: struct request has no member 'nmae'\n"
               "r7 = @req->nmae(r1)\n"
               "     ^~~~~~~~~~\n"
               "hint: did you mean 'name'?\n");
    BOOST_TEST(refusal("r7 = @req->table(r1)") ==
               "6: error: it is a whole short int[2][3]\n"
               "r7 = @req->table(r1)\n"
               "     ^~~~~~~~~~~\n"
               "hint: name one element: NAME[0]\n");
    BOOST_TEST(refusal("r7 = &@n(r1)") ==
               "7: error: it has no address: it is in no memory of its own\n"
               "r7 = &@n(r1)\n"
               "      ^~\n");
    BOOST_TEST(refusal("r7 = sizeof(@n)") ==
               "6: error: 'n' is a variable, which is in no record\n"
               "r7 = sizeof(@n)\n"
               "     ^~~~~~~~~~\n"
               "hint: r1 = @n(r6) is what it is, r2 = &@n(r6) where, and r3 = sizeof @n(r6) how "
               "large\n");
}

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
    refused({"count", at, "by", "req->ratio"},
            "hint: 'gpufs probe add' records its bits as NAME:x64\n");
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
