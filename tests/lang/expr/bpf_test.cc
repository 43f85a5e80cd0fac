#include "lang/expr/bpf.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "lang/expr/eval.h"
#include "lang/expr/gen.h"
#include "lang/expr/record_gen.h"
#include "lang/insn/disasm.h"
#include "lang/insn/run.h"
#include "lang/ir/ir.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

// The condition in front of a program that returns 1, with r1 as its witness.
std::vector<bpf_insn> program_of(const Expression& expression, const EventFormat& event,
                                 const ConditionCode& how = {}) {
    std::vector<CodeItem> items = compile_condition(expression, event, how);
    items.push_back(test::item_of(insn::load(Width::b, Reg::r2, Reg::r1, 8)));
    items.push_back(test::item_of(insn::mov(Reg::r0, 1)));
    items.push_back(test::item_of(insn::leave()));
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event;
    return test::link_items(items, target);
}

// A world where text and user memory are, and conditions are judged.
class Judge {
public:
    Judge() { add_common_helpers(world); }

    bool holds(std::string text, const EventFormat& event, std::span<const std::byte> record) {
        const auto insns = program_of(parse_expression({"--if", std::move(text)}), event);
        return test::run_bpf(insns, record, world) == 1;
    }
    bool holds(std::string text, const test::RecordMaker& record) {
        return holds(std::move(text), test::every_kind(), record.bytes());
    }

    VmState world;
};

BOOST_AUTO_TEST_SUITE(expr_bpf)

BOOST_AUTO_TEST_CASE(generated_conditions_agree_with_the_evaluator) {
    const EventFormat& event = test::every_kind();
    SymbolLookup symbols;
    symbols.by_name = [](std::string_view) { return SymbolLookup::Extent{100, 200}; };
    test::ExprGenerator generator(event, {.symbol = "schedule", .pointers = false, .fields = {}});
    VmState world;
    add_common_helpers(world);
    std::size_t held = 0, tried = 0;
    for (int i = test::rounds(3000); i > 0; --i) {
        const Expression expression = generator.expression();
        const Condition condition(expression, event, &symbols);
        const auto insns = program_of(expression, event, {&symbols, 0});
        Interpreter interpreter(insns, world);
        for (int n = 0; n < 20; ++n, ++tried) {
            const test::RecordTask task = test::random_task(generator);
            const test::RecordMaker record = test::random_record(event, generator, task);
            world.now.cpu = task.cpu;
            world.now.tid = task.tid;
            world.now.comm = task.comm;
            const std::uint64_t address =
                world.memory.add_read_only(VmMemory::Kind::context, record.bytes());
            const bool expected =
                condition.holds(record.bytes(), {static_cast<int>(task.cpu), task.comm});
            BOOST_REQUIRE_MESSAGE(interpreter.run(address) == (expected ? 1 : 0),
                                  cat(to_filter(expression, event), " is ", expected ? 1 : 0));
            world.memory.remove(address);
            held += expected ? 1 : 0;
        }
    }
    // Both answers are common, or the test would say little.
    BOOST_TEST(held > tried / 5);
    BOOST_TEST(held < tried * 4 / 5);
}

BOOST_AUTO_TEST_CASE(patterns_match_as_the_evaluator_says) {
    std::mt19937_64 random(5);
    const auto word = [&](std::string_view letters, std::size_t most) {
        std::string text;
        for (std::size_t n = random() % (most + 1); n > 0; --n)
            text += letters[random() % letters.size()];
        return text;
    };
    EventFormat event = test::every_kind();
    const Field& comm = *event.find("task_comm");
    VmState world;
    add_common_helpers(world);
    std::size_t matched = 0, tried = 0;
    for (int i = test::rounds(3000); i > 0; --i) {
        const std::string pattern = word("ab*?[]!-\\c", 9);
        Expression expression{{"--if", ""}, {}};
        Predicate& p = expression.root.predicate;
        p.field = "task_comm";
        p.op = CompareOp::glob;
        p.value.kind = Literal::Kind::text;
        p.value.text = pattern;
        const bool is_inverted = pattern.starts_with('!');
        const auto insns = program_of(expression, event);
        Interpreter interpreter(insns, world);
        for (int n = 0; n < 20; ++n, ++tried) {
            const std::string text = word("abc-]\\", 16);
            test::RecordMaker record(event);
            record.text("task_comm", text);
            const bool expected = filter_glob(std::string_view(pattern).substr(is_inverted ? 1 : 0),
                                              text) != is_inverted;
            const std::uint64_t address =
                world.memory.add_read_only(VmMemory::Kind::context, record.bytes());
            BOOST_TEST(interpreter.run(address) == (expected ? 1u : 0u),
                       cat('"', text, "\" ~ \"", pattern, '"'));
            world.memory.remove(address);
            matched += expected ? 1 : 0;
        }
    }
    BOOST_TEST(comm.size == 16u);
    BOOST_TEST(matched > tried / 20);
}

BOOST_AUTO_TEST_CASE(common_conditions_are_short_code) {
    const std::string text = read_file("tests/data/formats/6.18/events/sched/sched_switch/format");
    const EventFormat event = parse_event_format("sched", text);
    const auto code = [&](std::string condition) {
        std::string lines;
        const auto insns = program_of(parse_expression({"--if", std::move(condition)}), event);
        for (const DisasmLine& line : disassemble(insns, {.labels = false, .map_name = {}}))
            lines += line.text + '\n';
        return lines;
    };
    constexpr std::string_view kRest =
        "goto +2\n"
        "r0 = 0\n"
        "exit\n"
        "r2 = *(u8 *)(r1 + 8)\n"
        "r0 = 1\n"
        "exit\n";
    BOOST_TEST(code("prev_state == 2 && next_pid != 0") == cat("r0 = *(u64 *)(r1 + 32)\n"
                                                               "if r0 != 2 goto +3\n"
                                                               "r0 = *(u32 *)(r1 + 56)\n"
                                                               "if r0 == 0 goto +1\n",
                                                               kRest));
    BOOST_TEST(code("next_comm ~ \"kworker*\"") == cat("r0 = *(u32 *)(r1 + 40)\n"
                                                       "if r0 != 1919907691 goto +5\n"
                                                       "r0 = *(u16 *)(r1 + 44)\n"
                                                       "if r0 != 25963 goto +3\n"
                                                       "r0 = *(u8 *)(r1 + 46)\n"
                                                       "if r0 != 114 goto +1\n",
                                                       kRest));
}

BOOST_AUTO_TEST_CASE(every_task_has_a_pid_a_tid_a_name_and_a_cpu) {
    Judge judge;
    judge.world.now = {.time_ns = 0, .cpu = 3, .pid = 100, .tid = 102, .comm = "worker"};
    const test::RecordMaker record(test::every_kind());
    BOOST_TEST(judge.holds("pid == 100", record));
    BOOST_TEST(judge.holds("tid == 102", record));
    BOOST_TEST(judge.holds("common_pid == 102", record));
    BOOST_TEST(!judge.holds("pid == 102", record));
    BOOST_TEST(judge.holds("COMM == worker && CPU == 3", record));
    BOOST_TEST(judge.holds("comm ~ \"w*r\" && CPU & CPUS{2-4}", record));
    BOOST_TEST(judge.holds("common_type == 1234", record));
    const auto always = [](std::uint64_t value) {
        return [value](Interpreter&, const BpfArguments&) { return value; };
    };
    judge.world.helpers[BPF_FUNC_get_current_uid_gid] = always(std::uint64_t{33} << 32 | 1000);
    judge.world.helpers[BPF_FUNC_get_current_cgroup_id] = always(std::uint64_t{1} << 40);
    BOOST_TEST(judge.holds("uid == 1000 && UID == 1000", record));
    BOOST_TEST(!judge.holds("uid == 33", record));
    BOOST_TEST(judge.holds("cgroup == 0x10000000000 && CGROUP > 0xffffffff", record));

    // Without an event: kprobes and the rest.
    EventFormat probe;
    probe.system = "kprobe";
    probe.name = "vfs_read";
    const std::byte registers[16] = {};
    BOOST_TEST(judge.holds("pid == 100 && comm == worker && cpu != 2 && common_pid == 102", probe,
                           registers));

    // A field of the event that is named so wins.
    const std::string text = read_file("tests/data/formats/6.18/events/sched/sched_wakeup/format");
    const EventFormat wakeup = parse_event_format("sched", text);
    test::RecordMaker woken(wakeup);
    woken.number("pid", 7).text("comm", "bash");
    BOOST_TEST(judge.holds("pid == 7 && comm == bash && tid == 102", wakeup, woken.bytes()));
    // The names in capitals are the task's whatever fields there are.
    BOOST_TEST(
        judge.holds("pid == 7 && PID == 100 && TID == 102 && CPU == 3", wakeup, woken.bytes()));
}

BOOST_AUTO_TEST_CASE(texts_behind_pointers_are_read) {
    Judge judge;
    const char kernel_text[] = "frontend", user_text[] = "/etc/passwd";
    const std::uint64_t in_kernel = judge.world.memory.add_read_only(
        VmMemory::Kind::kernel, std::as_bytes(std::span(kernel_text)));
    const std::uint64_t in_user =
        judge.world.memory.add_read_only(VmMemory::Kind::user, std::as_bytes(std::span(user_text)));
    test::RecordMaker record(test::every_kind());
    record.number("label", in_kernel);
    BOOST_TEST(judge.holds("label == frontend", record));
    BOOST_TEST(judge.holds("label ~ \"*end\"", record));
    BOOST_TEST(judge.holds("label != front", record));
    BOOST_TEST(!judge.holds("label == frontends", record));
    record.number("label", in_user);
    BOOST_TEST(judge.holds("label.ustring ~ \"/etc/*\"", record));
    // What cannot be read is neither equal nor unequal, but a negation is its opposite.
    BOOST_TEST(!judge.holds("label == \"/etc/passwd\"", record));
    BOOST_TEST(!judge.holds("label != \"/etc/passwd\"", record));
    BOOST_TEST(!judge.holds("label ~ \"!x*\"", record));
    BOOST_TEST(judge.holds("!(label != x)", record));
}

// The record of a text that need not end with a NUL.
test::RecordMaker with_path(std::string_view bytes) {
    test::RecordMaker record(test::every_kind());
    record.text("path", std::string(bytes) + "stale");
    std::vector<std::byte> all(record.bytes().begin(), record.bytes().end());
    record.number("path",
                  static_cast<std::uint64_t>(bytes.size()) << 16 | (all.size() - bytes.size() - 6));
    return record;
}

BOOST_AUTO_TEST_CASE(a_dynamic_text_ends_where_the_record_says) {
    Judge judge;
    struct Case {
        std::string_view bytes;
        const char* condition;
    };
    using namespace std::string_view_literals;
    const Case cases[] = {
        {"abc", "path == abc"},      {"abc", "path == ab"},         {"abc", "path == abcd"},
        {"abc", "path == abcs"},     {"abc", "path ~ \"*c\""},      {"abc", "path ~ \"*s*\""},
        {"abc\0x"sv, "path == abc"}, {"abc\0x"sv, "path ~ \"*x\""}, {"", "path == \"\""},
        {"", "path == a"},           {"", "path ~ \"*\""},          {"a", "path ~ \"?\""},
    };
    for (const Case& c : cases) {
        const test::RecordMaker record = with_path(c.bytes);
        const Condition condition(parse_expression({"--if", c.condition}), test::every_kind());
        BOOST_TEST(judge.holds(c.condition, record) == condition.holds(record.bytes(), {}),
                   cat(c.bytes, ": ", c.condition));
    }
}

BOOST_AUTO_TEST_CASE(long_texts_are_compared_up_to_256_bytes) {
    Judge judge;
    const std::string base(252, 'a');
    test::RecordMaker record(test::every_kind());
    record.text("path", base + "bcd");
    BOOST_TEST(judge.holds("path ~ \"*bcd\"", record));
    BOOST_TEST(judge.holds("path ~ \"a*b*d\"", record));
    test::RecordMaker longer(test::every_kind());
    longer.text("path", base + "bcdefgh");
    BOOST_TEST(judge.holds("path ~ \"*bcd*\"", longer));
    BOOST_TEST(judge.holds("path ~ \"*bcde\"", longer));
    BOOST_TEST(!judge.holds("path ~ \"*efgh\"", longer));
    BOOST_TEST(!judge.holds(cat("path == ", base, "bcd"), longer));
    BOOST_TEST(judge.holds(cat("path == ", base, "bcd"), record));
    BOOST_TEST(judge.holds(cat("path ~ \"", base.substr(1), "?*\""), longer));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_aligned_are_read_in_pieces) {
    constexpr std::string_view kPacked =
        "name: packed\nID: 1\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
        "\tfield:u64 a;\toffset:12;\tsize:8;\tsigned:0;\n"
        "\tfield:s32 b;\toffset:21;\tsize:4;\tsigned:1;\n"
        "\tfield:s16 c;\toffset:25;\tsize:2;\tsigned:1;\n\n"
        "print fmt: \"\"\n";
    const EventFormat event = parse_event_format("test", kPacked);
    test::RecordMaker record(event);
    record.number("a", 0x8123'4567'89ab'cdef).number("b", 0xffff'fff9).number("c", 0xfffe);
    Judge judge;
    BOOST_TEST(judge.holds("a == 0x8123456789abcdef", event, record.bytes()));
    BOOST_TEST(judge.holds("a > 0x8123456789abcdee && b < -6 && b == -7", event, record.bytes()));
    BOOST_TEST(judge.holds("c == -2 && c < 0 && c & 0x10", event, record.bytes()));
}

struct Refused {
    const char *condition, *message;
};
const Refused kRefused[] = {
    {"common_flags == 1",
     "--if:1:1: error: 'common_flags' cannot be known in a program: the kernel hides the first 8 "
     "bytes of a record from it\n"
     "common_flags == 1\n"
     "^~~~~~~~~~~~"},
    {"ip.function == nosuch",
     "--if:1:16: error: no function named 'nosuch' is known\n"
     "ip.function == nosuch\n"
     "               ^~~~~~"},
    {"mask & CPUS{3000}",
     "--if:1:8: error: a program compares sets up to CPU 2047\n"
     "mask & CPUS{3000}\n"
     "       ^~~~~~~~~~"},
    {"nosuch == 1",
     "--if:1:1: error: test:every has no field 'nosuch'\n"
     "nosuch == 1\n"
     "^~~~~~"},
};
BOOST_AUTO_TEST_CASE(what_a_program_cannot_know_is_refused) {
    for (const Refused& c : kRefused)
        BOOST_CHECK_EXCEPTION(
            compile_condition(parse_expression({"--if", c.condition}), test::every_kind()),
            SourceError, [&](const SourceError& e) {
                BOOST_TEST(e.what() == c.message);
                return true;
            });
}

BOOST_AUTO_TEST_CASE(the_record_is_left_alone_where_the_condition_does_not_need_it) {
    const auto reads = [](const char* condition) {
        ProbeProgram probe;
        probe.code = compile_condition(parse_expression({"--if", condition}), test::every_kind());
        probe.code.push_back(test::item_of(insn::mov(Reg::r0, 0)));
        probe.code.push_back(test::item_of(insn::leave()));
        LinkTarget target;
        target.context = LinkTarget::Context::record;
        Program program;
        program.programs.push_back(probe);
        const StringPool pool = make_string_pool(program, {});
        target.string_pool = &pool;
        return link(program, probe, target).reads_context;
    };
    BOOST_TEST(!reads("pid == 1 && COMM ~ \"a*b\" || CPU & CPUS{0-3} || common_pid > 5"));
    BOOST_TEST(reads("pid == 1 && s32 == 5"));
    BOOST_TEST(reads("path == x"));
}

BOOST_AUTO_TEST_CASE(each_instruction_leads_to_its_words) {
    const std::string text = "pid == 1 && s32 == 5";
    const auto items =
        compile_condition(parse_expression({"--if", text}), test::every_kind(), {nullptr, 4});
    std::vector<std::string> words;
    for (const CodeItem& item : items) {
        const std::string word =
            text.substr(item.at.span.begin, item.at.span.end - item.at.span.begin);
        if (words.empty() || words.back() != word) words.push_back(word);
        if (!word.empty()) BOOST_TEST(item.at.source == 4u);
    }
    BOOST_TEST(words == (std::vector<std::string>{"", "pid == 1", "s32 == 5"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
