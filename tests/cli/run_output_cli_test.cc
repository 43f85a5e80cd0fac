#define BOOST_TEST_DYN_LINK
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <set>

#include "base/cat.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Child;
using test::Ended;

using test::has;
using test::Json;
using test::TempFile;

Ended run(const TempFile& monitor, const std::vector<std::string>& options,
          const std::vector<std::string>& command = {}) {
    std::vector<std::string> args{"run", monitor.path()};
    args.insert(args.end(), options.begin(), options.end());
    if (!command.empty()) args.emplace_back("--");
    args.insert(args.end(), command.begin(), command.end());
    return test::gpufs(args);
}

// Writes of 7 bytes, and their number.
constexpr int kWrites = 1000;
const std::vector<std::string> kWriter = {"dd", "if=/dev/zero", "of=/dev/null", "bs=7",
                                          cat("count=", kWrites)};
const std::string kOfWriter = "comm == \"dd\" && count == 7";

// A record for each write, and their number in an array.
constexpr const char* kWritten =
    ".licence \"GPL\"\n"
    ".map    events  ringbuf max 1 << 20\n"
    ".map    writes  percpu_array value count, max 1, report \"Writes\"\n"
    ".lost   full    \"records, the ring is full\"\n"
    ".record written { pid pid, comm str16, bytes u64 }\n"
    ".stack  v       { zero u32, out written }\n"
    ".prog   write   tracepoint syscalls:sys_enter_write\n"
    "        r1 = @count(r1)\n"
    "        *(u64 *)(r10 + v.out.bytes) = r1\n"
    "        *(u32 *)(r10 + v.out.id) = record(written)\n"
    "        call get_current_pid_tgid\n"
    "        r0 >>= 32\n"
    "        *(u32 *)(r10 + v.out.pid) = w0\n"
    "        r1 = r10\n"
    "        r1 += v.out.comm\n"
    "        r2 = 16\n"
    "        call get_current_comm\n"
    "        r1 = map[events]\n"
    "        r2 = r10\n"
    "        r2 += v.out\n"
    "        r3 = sizeof(written)\n"
    "        r4 = 0\n"
    "        call ringbuf_output\n"
    "        if r0 == 0 goto sent\n"
    "        r1 = map[full][0]\n"
    "        r2 = 1\n"
    "        lock *(u64 *)(r1 + 0) += r2\n"
    "sent:   *(u32 *)(r10 + v.zero) = 0\n"
    "        r1 = map[writes]\n"
    "        r2 = r10\n"
    "        r2 += v.zero\n"
    "        call map_lookup_elem\n"
    "        if r0 == 0 goto out\n"
    "        r1 = 1\n"
    "        lock *(u64 *)(r0 + 0) += r1\n"
    "out:    r0 = 0\n"
    "        exit\n";

// Sends one record at the beginning; `layout` is what follows ".record go": x, and so many bytes
// behind it.
std::string sends_once(const std::string& layout, const std::string& before = {}, int more = 0) {
    std::string zeroes;
    for (int at = 8; at < 8 + more; at += 8)
        zeroes += cat("  *(u64 *)(r10 + v.out + ", at, ") = 0\n");
    return cat(
        ".licence \"GPL\"\n"
        ".map    events ringbuf max 4096\n"
        ".map    n      array value count, max 1\n"
        ".record go     ",
        layout, "\n.stack v { out go }\n", before, ".prog first begin\n", zeroes,
        "  r1 = map[n][0]\n  r2 = 3\n  lock *(u64 *)(r1 + 0) += r2\n"
        "  *(u32 *)(r10 + v.out.id) = record(go)\n"
        "  *(u32 *)(r10 + v.out.x) = 42\n"
        "  r1 = map[events]\n  r2 = r10\n  r2 += v.out\n  r3 = sizeof(go)\n  r4 = 0\n"
        "  call ringbuf_output\n"
        "  r0 = 0\n  exit\n");
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(run_output)

BOOST_AUTO_TEST_CASE(each_event_is_a_line_and_counted) {
    const TempFile monitor(kWritten);
    const Ended ran = run(monitor, {"--if", kOfWriter}, kWriter);
    BOOST_TEST(ran.status == 0, ran.err);
    const auto lines = lines_of(ran.out);
    BOOST_TEST_REQUIRE(lines.size() == kWrites + 3u);  // names, records, a blank line, the report
    BOOST_TEST(lines[0] == "    PID  COMM                    BYTES");
    BOOST_TEST(lines[1].ends_with("  dd                          7"), lines[1]);
    BOOST_TEST(lines[kWrites + 1] == "");
    BOOST_TEST(lines[kWrites + 2] == "Writes: 1000");
    BOOST_TEST(ran.err.find("1000 records, 0 lost\n") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(a_reader_of_records_runs_before_other_work) {
    const TempFile monitor(kWritten);
    // The policy of /proc/PID/stat: SCHED_FIFO is 1.
    const Ended ran = run(monitor, {}, {"sh", "-c", "cut -d' ' -f41 /proc/$PPID/stat >&2"});
    BOOST_TEST(ran.err.starts_with("1\n"), ran.err);
}

BOOST_AUTO_TEST_CASE(json_has_the_same_with_numbers_as_numbers, *ut::label("pure")) {
    const TempFile monitor(kWritten);
    const Ended ran = run(monitor, {"--json", "--if", kOfWriter}, kWriter);
    BOOST_TEST(ran.status == 0, ran.err);
    const std::vector<Json> lines = test::parse_json_lines(ran.out);
    BOOST_TEST_REQUIRE(lines.size() == kWrites + 2u);
    for (int i = 0; i < kWrites; ++i) {
        const Json& record = lines[static_cast<std::size_t>(i)];
        BOOST_TEST(record["record"].text == "written");
        BOOST_TEST(record["values"]["comm"].text == "dd");
        BOOST_TEST(record["values"]["bytes"].number() == 7);
        BOOST_TEST(record["values"]["pid"].number() == lines[0]["values"]["pid"].number());
    }
    const Json& map = lines[kWrites];
    BOOST_TEST(map["map"].text == "writes");
    BOOST_TEST(map["title"].text == "Writes");
    BOOST_TEST(map["entries"].items.at(0)["count"].number() == kWrites);
    const Json& summary = lines[kWrites + 1]["summary"];
    BOOST_TEST(summary["records"].number() == kWrites);
    BOOST_TEST(summary["lost"].number() == 0);
    for (const Json& loss : summary["losses"].items) BOOST_TEST(loss["count"].number() == 0);
    BOOST_TEST(summary["losses"].items.back()["what"].text == "stacks, their place was taken");
}

BOOST_AUTO_TEST_CASE(intervals_of_arrays_add_up_to_all, *ut::label("pure")) {
    const TempFile monitor(kWritten);
    const Ended ran =
        run(monitor, {"--json", "--interval", "20ms", "--if", kOfWriter},
            {"sh", "-c", "w='dd if=/dev/zero of=/dev/null bs=7 count=500'; $w; sleep 0.1; $w"});
    BOOST_TEST(ran.status == 0, ran.err);
    long long count = 0, intervals = 0;
    for (const Json& line : test::parse_json_lines(ran.out)) {
        intervals += line.members.contains("interval") ? 1 : 0;
        if (!line.members.contains("map")) continue;
        for (const Json& entry : line["entries"].items) count += entry["count"].number();
    }
    BOOST_TEST(count == kWrites);
    BOOST_TEST(intervals > 0);
}

// The innermost frames of the kernel's stacks at a probe, while a program writes. None where this
// kernel has no such probe.
std::set<std::string> innermost_at(const std::string& probe,
                                   const std::vector<std::string>& options) {
    const TempFile monitor(
        cat(".licence \"GPL\"\n"
            ".map    stacks stacks max 1024\n"
            ".map    n      percpu_hash key { at kstack(stacks) }, value count, max 1024\n"
            ".stack  v      { at u32 }\n"
            ".prog   p      ",
            probe,
            "\n"
            "        call get_stackid(r1, map[stacks], 0)\n"
            "        *(u32 *)(r10 + v.at) = w0\n"
            "        add n[&v.at]\n"
            "        r0 = 0\n  exit\n"));
    std::vector<std::string> all{"--folded"};
    all.insert(all.end(), options.begin(), options.end());
    const Ended ran = run(monitor, all, kWriter);
    if (ran.status == 3) return {};
    BOOST_TEST(ran.status == 0, cat(probe, ": ", ran.err));
    std::set<std::string> frames;
    for (std::string_view line : lines_of(ran.out)) {
        line = line.substr(0, line.rfind(' '));
        line = line.substr(line.rfind(';') + 1);
        frames.emplace(line.substr(0, line.find(' ')));
    }
    BOOST_TEST(!frames.empty(), probe);
    return frames;
}

BOOST_AUTO_TEST_CASE(a_kernel_stack_begins_where_the_probe_is) {
    using Names = std::vector<std::string_view>;
    const Names scheduler{"__schedule"}, entry{"syscall_", "do_syscall", "__do_", "trace_syscall"},
        write{"vfs_write"};
    const std::vector<std::pair<std::string, Names>> probes = {
        {"tracepoint sched:sched_switch", scheduler},
        {"raw_tracepoint sched:sched_switch", scheduler},
        {"tracepoint raw_syscalls:sys_enter", entry},
        {"raw_tracepoint raw_syscalls:sys_enter", entry},
        {"tracepoint syscalls:sys_enter_write", entry},
        {"kprobe vfs_write", write},
        {"fentry vfs_write", write}};
    for (const auto& [probe, names] : probes) {
        for (const std::string& frame : innermost_at(probe, {}))
            BOOST_TEST(
                std::ranges::any_of(names, [&](auto name) { return frame.starts_with(name); }),
                cat(probe, ": ", frame));
    }
    const auto all = innermost_at("raw_tracepoint sched:sched_switch", {"--probe-frames"});
    BOOST_TEST(std::ranges::all_of(
        all, [](const std::string& frame) { return frame.starts_with("bpf_"); }));
}

BOOST_AUTO_TEST_CASE(calls_of_gpufs_itself_are_not_told) {
    // By its number: other processes of that name may write meanwhile.
    const auto is_told = [](std::vector<std::string> options) {
        test::Child::Setup setup;
        setup.argv = {test::gpufs_binary(), "count", "syscalls:sys_enter_write", "by", "pid"};
        setup.argv.insert(setup.argv.end(), options.begin(), options.end());
        setup.argv.insert(setup.argv.end(),
                          {"--json", "--interval", "100ms", "--duration", "400ms"});
        test::Child child(setup);
        const int pid = child.pid();
        const Ended ran = child.wait();
        BOOST_TEST(ran.status == 0, ran.err);
        return has(ran.out, cat("\"pid\":", pid, "}"));
    };
    BOOST_TEST(!is_told({}));
    BOOST_TEST(is_told({"--self"}));
}

BOOST_AUTO_TEST_CASE(stacks_are_folded_for_a_flame_graph) {
    // It reads no field: at the raw tracepoint, where all kernels know the stack.
    const TempFile monitor(
        ".licence \"GPL\"\n"
        ".map    stacks stack_trace max 64\n"
        ".map    n      percpu_hash key { comm str16, at kstack(stacks) }, value count, max 16\n"
        ".stack  v      { key { comm str16, at u32, pad u32 }, one u64 }\n"
        ".prog   write  tracepoint syscalls:sys_enter_write\n"
        "        r6 = r1\n"
        "        *(u64 *)(r10 + v.key.comm) = 0\n"
        "        *(u64 *)(r10 + v.key.comm + 8) = 0\n"
        "        r1 = r10\n  r1 += v.key.comm\n  r2 = 16\n  call get_current_comm\n"
        "        r1 = r6\n  r2 = map[stacks]\n  r3 = 0\n  call get_stackid\n"
        "        *(u32 *)(r10 + v.key.at) = w0\n"
        "        *(u64 *)(r10 + v.one) = 1\n"
        "        r1 = map[n]\n  r2 = r10\n  r2 += v.key\n  call map_lookup_elem\n"
        "        if r0 == 0 goto first\n"
        "        r1 = 1\n  lock *(u64 *)(r0 + 0) += r1\n  goto out\n"
        "first:  r1 = map[n]\n  r2 = r10\n  r2 += v.key\n  r3 = r10\n  r3 += v.one\n  r4 = 0\n"
        "        call map_update_elem\n"
        "out:    r0 = 0\n  exit\n");
    const Ended ran = run(monitor, {"--folded", "--if", "comm == \"dd\""}, kWriter);
    BOOST_TEST(ran.status == 0, ran.err);
    long long count = 0;
    for (const std::string_view line : lines_of(ran.out)) {
        BOOST_TEST(line.starts_with("dd;"), ran.out);
        BOOST_TEST(split(line, ';').size() > 2, ran.out);
        count += std::stoll(std::string(line.substr(line.rfind(' ') + 1)));
    }
    // dd says a line or three at its end, too.
    constexpr int kSaid = 10;
    BOOST_TEST(count >= kWrites);
    BOOST_TEST(count <= kWrites + kSaid);
    const TempFile other(sends_once("{ x u32 }"));
    const Ended without = run(other, {"--folded"});
    BOOST_TEST(without.status == 2);
    BOOST_TEST(without.err ==
               "gpufs: --folded shows stacks that maps counted: no map of this has any\n"
               "hint: stacks are in a map's key, as kstack(MAP) or ustack(MAP)\n");
}

BOOST_AUTO_TEST_CASE(actions_are_carried_out_in_order) {
    const TempFile monitor(sends_once(
        "\"GO\" { x u32 } then { print \"x={x:4}\", print n, clear n, print n, exit 5 }"));
    const Ended ran = run(monitor, {});
    BOOST_TEST(ran.status == 5);
    BOOST_TEST(ran.out == "GO x=  42\n\nn: 3\n");
    BOOST_TEST(ran.err == "1 record, 0 lost\n");
}

BOOST_AUTO_TEST_CASE(a_loss_is_told_and_under_strict_an_error) {
    const std::string lost =
        ".lost gone \"things, gone\"\n"
        ".prog loses begin\n  r1 = map[gone][0]\n  r2 = 2\n  lock *(u64 *)(r1 + 0) += r2\n"
        "  r0 = 0\n  exit\n";
    const TempFile monitor(sends_once("{ x u32 } then { exit }", lost));
    const Ended lax = run(monitor, {});
    BOOST_TEST(lax.status == 0);
    BOOST_TEST(lax.err == "1 record, 2 lost: 2 things, gone\n");
    BOOST_TEST(run(monitor, {"--strict"}).status == 4);
    const TempFile whole(sends_once("{ x u32 } then { exit }"));
    BOOST_TEST(run(whole, {"--strict"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_map_that_is_full_is_named_where_nobody_counts) {
    const std::string fills =
        ".map   m  hash key u32, value u64, max 1\n"
        ".stack w  { key u32, value u64 }\n"
        ".prog  fill begin\n"
        "  *(u32 *)(r10 + w.key) = 1\n  *(u64 *)(r10 + w.value) = 1\n"
        "  r1 = map[m]\n  r2 = r10\n  r2 += w.key\n  r3 = r10\n  r3 += w.value\n  r4 = 0\n"
        "  call map_update_elem\n"
        "  r0 = 0\n  exit\n";
    const TempFile monitor(sends_once("{ x u32 } then { exit }", fills));
    const Ended ran = run(monitor, {"--strict"});
    BOOST_TEST(ran.status == 4);
    BOOST_TEST(ran.err == "1 record, 0 or more lost: 0 or more keys: map 'm' is full\n");
}

BOOST_AUTO_TEST_CASE(a_closed_pipe_ends_it_without_a_word, *ut::label("pure")) {
    const TempFile monitor(sends_once("{ x u32 }"));
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", monitor.path()};
    setup.close_stdout_early = true;
    Child child(setup);
    const Ended ended = child.wait();
    BOOST_TEST(ended.signal == SIGPIPE);
    BOOST_TEST(ended.err == "");
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error, *ut::label("pure")) {
    const TempFile monitor(sends_once("{ x u32 }"));
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", monitor.path()};
    setup.stdout_file = "/dev/full";
    Child child(setup);
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == "gpufs: cannot write to 'stdout': No space left on device\n");
}

// What gpufs writes to a terminal of 40 columns.
std::string on_terminal(const TempFile& monitor, const std::vector<std::string>& options) {
    int master = -1, slave = -1;
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 40;
    BOOST_TEST_REQUIRE(::openpty(&master, &slave, nullptr, nullptr, &size) == 0);
    const Fd ours(master), theirs(slave);
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", monitor.path()};
    setup.argv.insert(setup.argv.end(), options.begin(), options.end());
    setup.stdout_file = ::ttyname(slave);
    Child child(setup);
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0, ended.err);
    char text[4096];
    const ssize_t n = ::read(master, text, sizeof text);
    return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
}

BOOST_AUTO_TEST_CASE(columns_end_at_the_edge_of_a_terminal_and_not_in_a_pipe, *ut::label("pure")) {
    const TempFile wide(sends_once("{ x u32, name str32, some str32, more str32 }", {}, 96));
    BOOST_TEST(
        run(wide, {"--duration", "100ms"})
            .out.starts_with(
                "       X  NAME                      SOME                      MORE\n      42"));
    BOOST_TEST(on_terminal(wide, {"--duration", "100ms"})
                   .starts_with("       X  NAME                      SOME\r\n      42"));
}

// Writes by their bytes, for --freeze-on alone.
std::string writes_to_freeze_on() {
    std::string text = kWritten;
    const std::string_view before = "bytes u64 }";
    text.replace(text.find(before), before.size(), "bytes u64 } then { freeze }");
    return text;
}

BOOST_AUTO_TEST_CASE(what_freeze_on_says_stops_a_session_of_its_own, *ut::label("pure")) {
    const test::TempSession session;
    const Ended ended =
        run(TempFile(writes_to_freeze_on()),
            {"--freeze-on", "bytes == 7 && comm == \"dd\"", "--session", session.name(), "--json"},
            {"sh", "-c", "dd if=/dev/zero of=/dev/null bs=7 count=3; sleep 5"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "\"frozen\":true"), ended.out);
    BOOST_TEST(!has(ended.out, "\"written\""), ended.out);
    BOOST_TEST(has(ended.err, cat("session '", session.name(), "' stopped when ")), ended.err);
    BOOST_TEST(session.read("tracing_on") == "0\n");
    BOOST_TEST(session.read("set_event") == "");
    const Ended shown = test::gpufs({"show", "--session", session.name()});
    BOOST_TEST(has(shown.out, "sys_write(fd: "), shown.out);
    BOOST_TEST(has(shown.out, "<stack trace>"), shown.out);
    BOOST_TEST(!has(shown.out, "gpufs-"), shown.out);  // which told of what led to it
    BOOST_TEST(session.read("events/syscalls/sys_enter_write/filter") == "none\n");
    BOOST_TEST(test::gpufs({"reset", "--session", session.name()}).status == 0);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(freeze_on_takes_a_session_that_records_as_it_is, *ut::label("pure")) {
    const test::TempSession session;
    test::gpufs(
        {"filter", "-e", "sched:sched_process_fork", "child_pid > 0", "--session", session.name()});
    const TempFile monitor(writes_to_freeze_on());
    const Ended never =
        run(monitor, {"--freeze-on", "bytes == 123456789", "--session", session.name()}, {"true"});
    BOOST_TEST(never.status == 0, never.err);
    BOOST_TEST(has(never.err, "nothing to freeze for: 'bytes == 123456789' never held\n"),
               never.err);
    BOOST_TEST(session.read("tracing_on") == "1\n");
    const Ended ended =
        run(monitor, {"--freeze-on", "bytes == 7", "--session", session.name()}, kWriter);
    BOOST_TEST(has(ended.err, "' lets it record again\n"), ended.err);
    BOOST_TEST(session.read("tracing_on") == "0\n");
    BOOST_TEST(session.read("set_event") == "sched:sched_process_fork\n");
    const Ended again =
        run(monitor, {"--freeze-on", "bytes == 7", "--session", session.name()}, {"true"});
    BOOST_TEST(again.status == 1);
    BOOST_TEST(has(again.err, "' is stopped already\nhint: 'gpufs start --session "), again.err);
    test::gpufs({"reset", "--session", session.name()});
}

BOOST_AUTO_TEST_CASE(freeze_on_leaves_nothing_where_it_has_nothing_to_look_at, *ut::label("pure")) {
    const test::TempSession session;
    const TempFile monitor(writes_to_freeze_on());
    const auto refused = [&](const TempFile& file, std::vector<std::string> options) {
        options.insert(options.end(), {"--session", session.name()});
        const Ended ended = run(file, options, {"true"});
        BOOST_TEST(ended.status == 2, ended.err);
        BOOST_TEST(!file_exists(session.directory()));
        return ended.err;
    };
    BOOST_TEST(has(refused(monitor, {"--freeze-on", "byte > 1"}), "has no field 'byte'"));
    BOOST_TEST(has(refused(monitor, {"--freeze-on", "bytes >"}), "--freeze-on:1:"));
    BOOST_TEST(has(refused(monitor, {}), "--session goes with --freeze-on"));
    const Ended replayed =
        test::gpufs({"run", monitor.path(), "-i", "tests/data/trace_dat/sched-6.18.dat",
                     "--freeze-on", "bytes > 1"});
    BOOST_TEST(replayed.status == 2);
    BOOST_TEST(has(replayed.err, "not with -i"), replayed.err);
    const TempFile plain(kWritten);
    BOOST_TEST(has(refused(plain, {"--freeze-on", "bytes > 1"}),
                   "sends nothing that --freeze-on could look at"));
}

// A CPU that is offline, until this or somebody else ends it.
class OfflineCpu {
public:
    OfflineCpu() { std::ofstream(kFile) << 0; }
    ~OfflineCpu() { std::ofstream(kFile) << 1; }

    static constexpr const char* kFile = "/sys/devices/system/cpu/cpu1/online";
};

BOOST_AUTO_TEST_CASE(samples_of_a_cpu_that_came_online_are_told_as_missing,
                     *ut::precondition(test::owns_the_machine)) {
    const OfflineCpu one;
    const std::vector<std::string> profile = {"run", "profile", "--", "sh", "-c"};
    const auto profiled = [&](const std::string& script) {
        std::vector<std::string> args = profile;
        args.push_back(script);
        return test::gpufs(args);
    };
    const Ended as_it_was = profiled("true");
    BOOST_TEST(!has(as_it_was.err, "online"), as_it_was.err);
    const Ended ended = profiled(cat("echo 1 >", OfflineCpu::kFile));
    BOOST_TEST(has(ended.err, "0 or more hits on CPUs that came online"), ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
