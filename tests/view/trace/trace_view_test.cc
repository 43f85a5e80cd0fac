#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "engine/recording/recorded_events.h"
#include "engine/trace/context.h"
#include "support/ring_pages.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

using test::bytes_of;

constexpr std::string_view kCommon =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

// The events below, some as this kernel describes them, some by hand; and who is who.
struct World {
    TraceContext context;
    RecordedEvents* events = nullptr;  // what context.events reads

    World() {
        auto source = std::make_unique<RecordedEvents>();
        events = source.get();
        context.events = Events(std::move(source));
        for (const char* name :
             {"print", "bprint", "bputs", "kernel_stack", "user_stack", "function", "raw_data"})
            events->add("ftrace",
                        read_file(cat("tests/data/formats/6.18/events/ftrace/", name, "/format")));
        add("test", "plain", 100,
            "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:char text[8];\toffset:12;\tsize:8;\tsigned:0;\n"
            "\tfield:u16 list[2];\toffset:20;\tsize:4;\tsigned:0;\n"
            "\tfield:u64 big;\toffset:24;\tsize:8;\tsigned:0;\n",
            R"("n=%d text=%s", REC->n, REC->text)");
        add("syscalls", "sys_enter_openat", 101,
            "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
            "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n",
            R"("dfd: 0x%08lx, filename: 0x%08lx", ((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)))");
        add("syscalls", "sys_exit_openat", 102,
            "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n",
            R"("0x%lx", REC->ret)");
        add("gpufs", "entry", 103,
            "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
            "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n"
            "\tfield:u32 n;\toffset:20;\tsize:4;\tsigned:0;\n",
            R"("(%lx) name=\"%s\" n=%u", REC->__probe_ip, __get_str(name), REC->n)");
        add("gpufs", "back", 104,
            "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
            "\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
            "\tfield:s32 ret;\toffset:24;\tsize:4;\tsigned:1;\n",
            R"("(%lx <- %lx) ret=%d", REC->__probe_func, REC->__probe_ret_ip, REC->ret)");
        add("gpufs", "bare", 106,
            "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n",
            R"("(%lx) here")");
        add("synthetic", "latency", 105,
            "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:u64 us;\toffset:16;\tsize:8;\tsigned:0;\n",
            R"("pid=%d, us=%llu", REC->pid, REC->us)");
        context.tasks.add(5217, "python3");
        context.tasks.add(7, "b\xff\"\\");
        context.addresses.symbol = [](std::uint64_t address) -> std::optional<Symbol> {
            if (address >> 16 == 0xffffffff8100)
                return Symbol{"schedule", {}, address & 0xff, 0xd0};
            if (address >> 16 == 0xffffffffc030) return Symbol{"open", "drm", address & 0xff, 0x20};
            if (address == 0xffffffff82000000) return Symbol{"arch_rethook_trampoline", {}, 0, 9};
            return std::nullopt;
        };
        context.addresses.text = [](std::uint64_t address) -> std::optional<std::string_view> {
            if (address == 0x1234) return "n=%d\n";
            return std::nullopt;
        };
    }
    void add(std::string_view system, std::string_view name, int id, std::string_view fields,
             std::string_view print_fmt) {
        events->add(system, cat("name: ", name, "\nID: ", id, '\n', kCommon, fields,
                                "\nprint fmt: ", print_fmt, '\n'));
    }
    int id(std::string_view name) { return context.events.find_format(cat("ftrace:", name))->id; }
};

std::string head(int id, int pid = 5217, int flags = 1, int preempt = 2) {
    return bytes_of(static_cast<std::uint16_t>(id)) + bytes_of(static_cast<std::uint8_t>(flags)) +
           bytes_of(static_cast<std::uint8_t>(preempt)) + bytes_of(pid);
}
std::string words(std::initializer_list<std::uint64_t> values) {
    std::string out;
    for (const std::uint64_t v : values) out += bytes_of(v);
    return out;
}

constexpr std::uint64_t kTime = 220'941'431'456;

template <class View>
std::string print(World& world, const std::string& bytes, Loss lost = {}) {
    View view(world.context);
    std::string out;
    view.print({kTime, 1, lost, test::as_record(bytes)}, out);
    return out;
}
std::string text(World& world, const std::string& bytes, Loss lost = {}) {
    return print<KernelText>(world, bytes, lost);
}
std::string json(World& world, const std::string& bytes, Loss lost = {}) {
    return print<TraceJson>(world, bytes, lost);
}

std::string plain_record(int pid = 5217) {
    return head(100, pid) + bytes_of(-5) + std::string("ab\"c\0xyz", 8) +
           bytes_of(std::uint16_t{1}) + bytes_of(std::uint16_t{65535}) +
           bytes_of(~std::uint64_t{0});
}

constexpr std::string_view kLine = "         python3-5217    [001] d..2.   220.941431: ";

BOOST_AUTO_TEST_SUITE(trace_text)

BOOST_AUTO_TEST_CASE(an_event_prints_as_in_the_trace_file) {
    World world;
    BOOST_TEST(text(world, plain_record()) == cat(kLine, "plain: n=-5 text=ab\"c\n"));
    BOOST_TEST(text(world, plain_record(0)) ==
               "          <idle>-0       [001] d..2.   220.941431: plain: n=-5 text=ab\"c\n");
    BOOST_TEST(text(world, plain_record(8)) ==
               "           <...>-8       [001] d..2.   220.941431: plain: n=-5 text=ab\"c\n");
    BOOST_TEST(text(world, head(999)) == cat(kLine, "Unknown type 999\n"));
}

BOOST_AUTO_TEST_CASE(options_choose_the_columns) {
    World world;
    TraceOptions& options = world.context.options;
    options.record_tgid = true;
    BOOST_TEST(
        text(world, plain_record()) ==
        "         python3-5217    (-------) [001] d..2.   220.941431: plain: n=-5 text=ab\"c\n");
    options = {};
    options.irq_info = false;
    BOOST_TEST(text(world, plain_record()) ==
               "         python3-5217    [001]    220.941431: plain: n=-5 text=ab\"c\n");
    options = {};
    options.clock_is_ns = false;
    BOOST_TEST(text(world, plain_record()) ==
               "         python3-5217    [001] d..2. 220941431456: plain: n=-5 text=ab\"c\n");
    options = {};
    options.context_info = false;
    BOOST_TEST(text(world, plain_record()) == "plain: n=-5 text=ab\"c\n");
}

BOOST_AUTO_TEST_CASE(flags_print_as_letters) {
    const auto letters = [](unsigned flags, unsigned preempt, std::string_view release = "6.18.0") {
        TraceOptions options;
        set_kernel_release(options, release);
        std::string out;
        append_irq_info(out, {flags, preempt, 0}, options);
        return out;
    };
    BOOST_TEST(letters(0, 0) == ".....");
    BOOST_TEST(letters(0x01, 0x02) == "d..2.");
    BOOST_TEST(letters(0x81, 0x1f) == "D..f1");
    BOOST_TEST(letters(0x80, 0xa0) == "b...a");
    BOOST_TEST(letters(0x04 | 0x08, 0) == ".nh..");
    BOOST_TEST(letters(0x24 | 0x18, 0) == ".NH..");
    BOOST_TEST(letters(0x20 | 0x10, 0) == ".ps..");
    BOOST_TEST(letters(0x40, 0) == "..z..");
    BOOST_TEST(letters(0x48 | 0x02, 0) == ".lZ..");
    BOOST_TEST(letters(0x06, 0) == ".b...");
    BOOST_TEST(letters(0x22, 0) == ".L...");
    BOOST_TEST(letters(0x26, 0) == ".B...");
    // Before Linux 6.13 the bit meant something else.
    BOOST_TEST(letters(0x26, 0, "6.12.41-amd64") == "XN...");
    BOOST_TEST(letters(0xff, 0xff, "5.15.0") == "DNZff");
    // Before Linux 5.15 there was no depth of migration.
    BOOST_TEST(letters(0x01, 0x02, "5.14.21") == "d..2");
    BOOST_TEST(letters(0, 0, "5.10.0-32-amd64") == "....");
    BOOST_TEST(letters(0, 0x10, "5.10.0-32-amd64") == "...10");
}

BOOST_AUTO_TEST_CASE(losses_stand_in_front) {
    World world;
    BOOST_TEST(text(world, plain_record(), Loss::exactly(5)) ==
               cat("CPU:1 [LOST 5 EVENTS]\n", kLine, "plain: n=-5 text=ab\"c\n"));
    BOOST_TEST(text(world, plain_record(), Loss::at_least(1)) ==
               cat("CPU:1 [LOST EVENTS]\n", kLine, "plain: n=-5 text=ab\"c\n"));
}

BOOST_AUTO_TEST_CASE(an_overrun_buffer_marks_where_each_cpu_starts) {
    World world;
    world.context.options.mark_cpu_starts = true;
    world.context.options.context_info = false;
    KernelText view(world.context);
    std::string out;
    const std::string record = head(999);
    for (const int cpu : {0, 1, 0, 1}) view.print({kTime, cpu, {}, test::as_record(record)}, out);
    BOOST_TEST(out ==
               "Unknown type 999\n##### CPU 1 buffer started ####\nUnknown type 999\n"
               "Unknown type 999\nUnknown type 999\n");
}

BOOST_AUTO_TEST_CASE(system_calls_print_as_calls) {
    World world;
    const std::string enter = head(101) + bytes_of(std::uint64_t{257}) + words({0xffffff9c, 9});
    BOOST_TEST(text(world, enter) == cat(kLine, "sys_openat(dfd: 0xffffff9c, filename: 9)\n"));
    world.context.options.syscall_prefix = false;
    BOOST_TEST(text(world, enter) == cat(kLine, "sys_openat(dfd: ffffff9c, filename: 9)\n"));
    BOOST_TEST(text(world, head(102) + bytes_of(std::uint64_t{257}) + words({~std::uint64_t{1}})) ==
               cat(kLine, "sys_openat -> 0xfffffffffffffffe\n"));
}

BOOST_AUTO_TEST_CASE(probes_print_their_place) {
    World world;
    const auto entry = [&](std::uint64_t ip, std::string_view name) {
        const auto loc = static_cast<std::uint32_t>(name.size() << 16 | 24);
        return text(world, cat(head(103), words({ip}), bytes_of(loc), bytes_of(7), name));
    };
    const std::string_view name("card0\0\0\0", 8);
    BOOST_TEST(entry(0xffffffffc0300012, name) ==
               cat(kLine, "entry: (open+0x12/0x20 [drm]) name=\"card0\" n=7\n"));
    BOOST_TEST(entry(0x5612340010, name) ==
               cat(kLine, "entry: (0x5612340010) name=\"card0\" n=7\n"));
    BOOST_TEST(entry(0x5612340010, "") == cat(kLine, "entry: (0x5612340010) name=(fault) n=7\n"));
    const auto back = [&](std::uint64_t func, std::uint64_t to) {
        return text(world, head(104) + words({func, to}) + bytes_of(-2));
    };
    BOOST_TEST(back(0xffffffffc0300000, 0xffffffff81000010) ==
               cat(kLine, "back: (schedule+0x10/0xd0 <- open) ret=-2\n"));
    // A print fmt may lack the values that its text has.
    BOOST_TEST(text(world, head(106) + words({0x401000})) == cat(kLine, "bare: (0x401000) here\n"));
    BOOST_TEST(back(0x401000, 0x402000) == cat(kLine, "back: (0x402000 <- 0x401000) ret=-2\n"));
}

BOOST_AUTO_TEST_CASE(synthetic_events_separate_fields_by_spaces) {
    World world;
    BOOST_TEST(text(world, head(105) + bytes_of(9) + std::string(4, '\0') + words({12})) ==
               cat(kLine, "latency: pid=9 us=12\n"));
}

BOOST_AUTO_TEST_CASE(stacks_print_function_by_function) {
    World world;
    const std::string stack =
        head(world.id("kernel_stack")) + bytes_of(std::uint64_t{4}) +
        words({0xffffffff81000012, 0xffffffffc0300001, 0x7fffffff, 0xffffffff82000000, 0x1234,
               ~std::uint64_t{0}, 0xffffffff81000012});
    BOOST_TEST(text(world, stack) == cat(kLine,
                                         "<stack trace>\n => schedule\n => open\n"
                                         " => [FTRACE TRAMPOLINE]\n => [unknown/kretprobe'd]\n"
                                         " => 0x00001234\n"));
    world.context.options.sym_offset = world.context.options.sym_addr = true;
    BOOST_TEST(text(world, stack.substr(0, 32)) ==
               cat(kLine,
                   "<stack trace>\n => schedule+0x12/0xd0 <ffffffff81000012>\n"
                   " => open+0x1/0x20 [drm] <ffffffffc0300001>\n"));
    const std::string user = head(world.id("user_stack")) + bytes_of(std::uint64_t{5217}) +
                             words({0x7ffa6c57421d, 0x401000, 0, 0, 0, 0, 0, 0});
    BOOST_TEST(text(world, user) == cat(kLine,
                                        "<user stack trace>\n =>  <00007ffa6c57421d>\n"
                                        " =>  <0000000000401000>\n"));
}

BOOST_AUTO_TEST_CASE(the_tracers_own_events_print_as_the_kernel_prints_them) {
    World world;
    const std::string at = words({0xffffffff81000012});
    BOOST_TEST(text(world, head(world.id("print")) + at + "hello\n" + std::string(2, '\0')) ==
               cat(kLine, "schedule: hello\n"));
    BOOST_TEST(text(world, head(world.id("bprint")) + at + words({0x1234}) + bytes_of(42)) ==
               cat(kLine, "schedule: n=42\n"));
    BOOST_TEST(text(world, head(world.id("bprint")) + at + words({0x9999}) + bytes_of(42)) ==
               cat(kLine, "schedule: (format string not known)\n"));
    BOOST_TEST(text(world, head(world.id("bputs")) + at + words({0x1234})) ==
               cat(kLine, "schedule: n=%d\n"));
    BOOST_TEST(text(world, head(world.id("function")) + at + words({0xffffffffc0300000})) ==
               cat(kLine, "schedule <-open\n"));
    world.context.options.print_parent = false;
    BOOST_TEST(text(world, head(world.id("function")) + at + words({0xffffffffc0300000})) ==
               cat(kLine, "schedule\n"));
    BOOST_TEST(text(world, head(world.id("raw_data")) + bytes_of(0x42) + "\x01\xff") ==
               cat(kLine, "# 42 buf: 01 ff\n"));
}

BOOST_AUTO_TEST_CASE(cut_records_are_no_danger) {
    World world;
    const std::string whole = head(world.id("kernel_stack")) + words({4, 0xffffffff81000012});
    for (const int id :
         {100, 101, 102, 103, 104, 105, world.id("print"), world.id("bprint"), world.id("function"),
          world.id("kernel_stack"), world.id("user_stack"), world.id("raw_data"), 999}) {
        const std::string record = head(id) + words({1, 2, 3, 4});
        for (std::size_t length = 0; length <= record.size(); ++length) {
            const auto exact = std::make_unique<char[]>(length);
            std::copy_n(record.begin(), length, exact.get());
            std::string out;
            KernelText text_view(world.context);
            TraceJson json_view(world.context);
            const TraceRecord cut{kTime, 1, {}, test::as_record({exact.get(), length})};
            text_view.print(cut, out);
            json_view.print(cut, out);
            BOOST_TEST(!out.empty());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(trace_json)

constexpr std::string_view kStart =
    R"({"time":220.941431456,"cpu":1,"comm":"python3","tid":5217,"event":)";

BOOST_AUTO_TEST_CASE(a_record_is_one_line_of_json) {
    World world;
    BOOST_TEST(json(world, plain_record()) ==
               cat(kStart, R"("test:plain","fields":{"n":-5,"text":"ab\"c","list":[1,65535],)",
                   R"("big":18446744073709551615},"flags":"d..2."})", '\n'));
    BOOST_TEST(json(world, head(999) + "ab") ==
               R"({"time":220.941431456,"cpu":1,"comm":"python3","tid":5217,"id":999,)"
               R"("data":[231,3,1,2,97,20,0,0,97,98],"flags":"d..2."})"
               "\n");
}

BOOST_AUTO_TEST_CASE(losses_are_lines_of_their_own) {
    World world;
    BOOST_TEST(json(world, plain_record(), Loss::exactly(5))
                   .starts_with("{\"lost\":5,\"cpu\":1}\n{\"time\":"));
    BOOST_TEST(json(world, plain_record(), Loss::at_least(1))
                   .starts_with("{\"lost\":1,\"lost_most\":null,\"cpu\":1}\n{\"time\":"));
}

BOOST_AUTO_TEST_CASE(any_comm_makes_valid_json) {
    World world;
    BOOST_TEST(json(world, plain_record(7)).find(R"("comm":"b\ufffd\"\\")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(options_show_in_json) {
    World world;
    world.context.options.clock_is_ns = false;
    world.context.options.record_tgid = true;
    BOOST_TEST(
        json(world, plain_record())
            .starts_with(
                R"({"time":220941431456,"cpu":1,"comm":"python3","tid":5217,"pid":0,"event":"test:plain")"));
}

BOOST_AUTO_TEST_CASE(stacks_are_arrays_of_names) {
    World world;
    const std::string stack = head(world.id("kernel_stack")) + words({2, 0xffffffff81000012, 0x99});
    BOOST_TEST(json(world, stack) ==
               cat(kStart, R"("ftrace:kernel_stack","stack":["schedule","0x00000099"],)",
                   R"("flags":"d..2."})", '\n'));
    const std::string user =
        head(world.id("user_stack")) + words({5217, 0x7ffa6c57421d, 0, 0, 0, 0, 0, 0, 0});
    BOOST_TEST(
        json(world, user) ==
        cat(kStart, R"("ftrace:user_stack","stack":["0x7ffa6c57421d"],"flags":"d..2."})", '\n'));
}

BOOST_AUTO_TEST_CASE(what_a_marker_wrote_is_text) {
    World world;
    const std::string marker =
        head(world.id("print")) + words({0xffffffff81000012}) + "hello\n" + std::string(2, '\0');
    BOOST_TEST(json(world, marker) ==
               cat(kStart,
                   R"("ftrace:print","fields":{"ip":18446744071578845202,"buf":"hello\n"},)",
                   R"("flags":"d..2."})", '\n'));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
