// Programs over the recordings of tests/data/trace_dat, whose truth is what trace-cmd says of them.

#include "engine/monitor/replay.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <optional>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/results/map_contents.h"
#include "support/assemble_text.h"
#include "support/page_times.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

const std::string kFolder = "tests/data/trace_dat/";
const std::string kSched = kFolder + "sched-6.18.dat", kMono = kFolder + "mono-6.18.dat";

// A program over one of the recordings, to its end.
class Run {
public:
    Run(const std::string& path, Program program, PreparedProgram::Choice choice = {})
        : file_(path), replay_(std::move(program), std::move(choice), file_) {
        const VisitRecord take = [&](const RecordLayout&, std::span<const std::byte> record) {
            records_.emplace_back(record.begin(), record.end());
        };
        while (replay_.advance()) replay_.run(take);
        replay_.run_end(take);
    }
    Run(const std::string& path, const std::string& text, PreparedProgram::Choice choice = {})
        : Run(path, assemble({"t.bpf", text}, {}), std::move(choice)) {}

    Replay& replay() { return replay_; }
    std::size_t records() const { return records_.size(); }
    // A member of a record, as it lies there.
    template <class T>
    T value(std::size_t record, std::string_view member) const {
        T value{};
        const auto& bytes = records_.at(record);
        const Member* at = replay_.program().records.at(0).layout.find(member);
        std::memcpy(&value, bytes.data() + at->offset, sizeof value);
        return value;
    }
    std::string text(std::size_t record, std::string_view member) const {
        const Member* at = replay_.program().records.at(0).layout.find(member);
        return reinterpret_cast<const char*>(records_.at(record).data()) + at->offset;
    }
    // All entries of a map, added up.
    std::uint64_t sum(std::string_view map) {
        std::uint64_t all = 0;
        for (const MapEntry& entry : MapReader(replay_).read(map)) all += entry.words[0];
        return all;
    }

private:
    TraceFile file_;
    Replay replay_;
    std::vector<std::vector<std::byte>> records_;
};

// The lines of what trace-cmd says that have this in them.
std::vector<std::string> lines_with(const std::string& name, std::string_view what) {
    const std::string text = read_file(cat(kFolder, name, ".txt"));
    std::vector<std::string> found;
    for (const std::string_view line : lines_of(text))
        if (line.find(what) != line.npos) found.emplace_back(line);
    return found;
}

// A program that counts an event, and its probe's line.
std::string counting(const std::string& probe) {
    return cat(".map n array value count, max 1\n.prog p ", probe,
               "\n  r1 = map[n][0]\n  r2 = 1\n  lock *(u64 *)(r1 + 0) += r2\n  r0 = 0\n  exit\n");
}

// Sends the moment and the running task of each event.
std::string telling(const std::string& probe) {
    return cat(
        ".map r ringbuf max 4096\n.record seen { t u64, ids u64, cpu u32, comm str16 }\n"
        ".stack v { out seen }\n.prog p ",
        probe,
        "\n  *(u32 *)(r10 + v.out.id) = record(seen)\n  call ktime_get_ns\n"
        "  *(u64 *)(r10 + v.out.t) = r0\n  call get_current_pid_tgid\n"
        "  *(u64 *)(r10 + v.out.ids) = r0\n  call get_smp_processor_id\n"
        "  *(u32 *)(r10 + v.out.cpu) = w0\n  r1 = r10\n  r1 += v.out.comm\n  r2 = 16\n"
        "  call get_current_comm\n  r1 = map[r]\n  r2 = r10\n  r2 += v.out\n  r3 = sizeof(seen)\n"
        "  r4 = 0\n  call ringbuf_output\n  r0 = 0\n  exit\n");
}

Program shipped(const std::string& name) {
    return assemble_file(cat("bpf_asm/", name, ".bpf"));
}

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& e) {
        return e.hint().empty() ? std::string(e.what()) : cat(e.what(), "\nhint: ", e.hint());
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(replay)

BOOST_AUTO_TEST_CASE(a_program_runs_once_for_each_record_of_its_events) {
    BOOST_TEST(Run(kSched, counting("tracepoint sched:sched_switch")).sum("n") ==
               lines_with("sched-6.18", "sched_switch:").size());
    BOOST_TEST(
        Run(kSched, counting("tracepoint sched:sched_wakeup, sched:sched_wakeup_new")).sum("n") ==
        lines_with("sched-6.18", "sched_wakeup").size());
    BOOST_TEST(Run(kMono, counting("tracepoint syscalls:sys_enter_*")).sum("n") ==
               lines_with("mono-6.18", "sys_enter_").size());
    // What reads nothing of its tracepoint needs nothing of it.
    BOOST_TEST(Run(kSched, counting("raw_tracepoint sched:sched_switch")).sum("n") == 14u);
}

BOOST_AUTO_TEST_CASE(time_cpu_and_task_are_the_records) {
    const Run run(kSched, telling("tracepoint sched:sched_switch"));
    const auto lines = lines_with("sched-6.18", "sched_switch:");
    BOOST_TEST_REQUIRE(run.records() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        char prev[32] = {};
        int pid = 0, cpu = 0;
        unsigned long s = 0, us = 0;
        const std::string& line = lines[i];
        BOOST_TEST_REQUIRE(
            std::sscanf(line.c_str() + line.find(" ["), " [%d] %lu.%lu:", &cpu, &s, &us) == 3);
        BOOST_TEST_REQUIRE(std::sscanf(line.c_str() + line.find("sched_switch:"),
                                       "sched_switch: %31[^:]:%d", prev, &pid) == 2);
        BOOST_TEST(run.value<std::uint32_t>(i, "cpu") == static_cast<std::uint32_t>(cpu));
        BOOST_TEST(static_cast<int>(run.value<std::uint64_t>(i, "ids")) == pid, line);
        BOOST_TEST(run.text(i, "comm") == prev, line);
        BOOST_TEST((run.value<std::uint64_t>(i, "t") + 500) / 1000 == s * 1'000'000 + us, line);
    }
}

BOOST_AUTO_TEST_CASE(a_task_has_the_name_that_it_had_then) {
    const Run before(kSched, telling("tracepoint sched:sched_prepare_exec"));
    BOOST_TEST_REQUIRE(before.records() == 3u);
    BOOST_TEST(before.text(0, "comm") == "trace-cmd");
    BOOST_TEST(before.text(1, "comm") == "sh");
    const Run after(kSched, telling("tracepoint sched:sched_process_exec"));
    BOOST_TEST(after.text(0, "comm") == "sh");
    BOOST_TEST(after.text(1, "comm") == "sleep");
    BOOST_TEST(after.text(2, "comm") == "cat");
    // Who execs is its process.
    BOOST_TEST(after.value<std::uint64_t>(1, "ids") == (std::uint64_t{13502} << 32 | 13502));
}

BOOST_AUTO_TEST_CASE(begin_and_end_run_once_at_the_first_and_the_last_record) {
    const std::string other = ".prog q tracepoint sched:sched_switch\n  r0 = 0\n  exit\n";
    const Run begin(kSched, telling("begin") + other);
    const Run end(kSched, telling("end") + other);
    BOOST_TEST_REQUIRE(begin.records() == 1u);
    BOOST_TEST_REQUIRE(end.records() == 1u);
    BOOST_TEST(begin.value<std::uint64_t>(0, "t") / 1000 == 37376'753188u);
    BOOST_TEST(end.value<std::uint64_t>(0, "t") >= begin.value<std::uint64_t>(0, "t"));
}

// Counts an event by the CPU; at the end, adds up the counts and how many keys there were.
constexpr const char* kByCpu = R"(
.struct  key  { tag u32, cpu u32, rest u16 }
.map     n    hash   key key, value u64, max 64
.map     keys array  value count, max 1
.map     all  array  value sum, max 1
.stack   v    { key, one u64 }
.prog    p    tracepoint sched:sched_switch
         zero v.key
         *(u32 *)(r10 + v.key.tag) = 7
         call get_smp_processor_id
         *(u32 *)(r10 + v.key.cpu) = w0
         *(u64 *)(r10 + v.one) = 1
         call map_lookup_elem(map[n], &v.key) else first
         r1 = *(u64 *)(r0 + 0)
         r1 += 1
         *(u64 *)(r0 + 0) = r1
         exit 0
first:   call map_update_elem(map[n], &v.key, &v.one, 0)
         exit 0
.prog    e    each n
         r7 = *(u32 *)(r1 + key.tag)
         copy v.key, key(r1)
         call map_lookup_elem(map[n], &v.key) else out
         r8 = *(u64 *)(r0 + 0)
         add keys[0]
         if r7 != 7 goto out
         add all[0] r8
out:     exit 0
)";

BOOST_AUTO_TEST_CASE(a_program_is_given_each_key_of_a_map_at_the_end) {
    Run run(kSched, kByCpu);
    BOOST_TEST(run.sum("keys") >= 2u);
    BOOST_TEST(run.sum("all") == lines_with("sched-6.18", "sched_switch:").size());
}

BOOST_AUTO_TEST_CASE(a_program_for_recordings_runs_over_them_and_knows_it) {
    BOOST_TEST(Run(kSched,
                   ".map n array value count, max 1\n"
                   ".prog p recorded sched:sched_switch\n"
                   "  .if recorded\n  add n[0]\n  .endif\n  exit 0\n")
                   .sum("n") == lines_with("sched-6.18", "sched_switch:").size());
}

BOOST_AUTO_TEST_CASE(intervals_pass_in_the_recordings_time) {
    const Run run(kSched, telling("interval 2ms") +
                              ".prog q tracepoint sched:sched_switch\n  r0 = 0\n  exit\n");
    BOOST_TEST_REQUIRE(run.records() == 4u);  // it is 8.2 ms long
    for (std::size_t i = 0; i < run.records(); ++i)
        BOOST_TEST(run.value<std::uint64_t>(i, "t") / 1000 == 37376'753188u + 2000 * (i + 1));
}

BOOST_AUTO_TEST_CASE(intervals_jump_over_the_gap_to_a_damaged_time) {
    // The first record is at the end of time, and what follows is a little later.
    constexpr std::uint64_t kLate = ~std::uint64_t{0} - 100'000'000;
    const test::TempFile late(test::with_page_times(kSched, {{0, kLate}, {1, kLate}}));
    const std::string other = ".prog q tracepoint sched:sched_switch\n  r0 = 0\n  exit\n";
    Run run(late.path(), telling("interval 1s") + other);
    BOOST_TEST(run.records() == 0u);
    Run often(late.path(), telling("interval 2ms") + other);
    BOOST_TEST(often.records() == 4u);
    // One CPU's records are at the beginning of time, the other's at the end.
    const test::TempFile gap(test::with_page_times(kSched, {{0, 1}, {1, kLate}}));
    Run jump(gap.path(), telling("interval 1s") + other);
    BOOST_TEST(jump.records() == 10'000u);
    BOOST_TEST(jump.replay().losses().kinds().at(2).loss.least == 18'446'744'073u - 10'000u);
}

BOOST_AUTO_TEST_CASE(the_arguments_of_a_raw_tracepoint_are_not_recorded) {
    BOOST_TEST(
        refusal([&] {
            Run(kSched,
                ".prog p raw_tracepoint sched:sched_switch\n  r0 = *(u64 *)(r1 + 8)\n  exit\n");
        }) ==
        "t.bpf:1:24: error: a recording has the fields of sched:sched_switch, not the "
        "arguments of its tracepoint\n"
        ".prog p raw_tracepoint sched:sched_switch\n"
        "                       ^~~~~~~~~~~~~~~~~~\n"
        "hint: tracepoint sched:sched_switch has the fields");
}

BOOST_AUTO_TEST_CASE(a_condition_holds_over_a_recording_as_it_does_live) {
    PreparedProgram::Choice choice;
    choice.condition = parse_expression({"--if", "next_comm == \"swapper/0\" && cpu == 0"});
    Run run(kSched, counting("tracepoint sched:sched_switch"), choice);
    BOOST_TEST(run.sum("n") == lines_with("sched-6.18", "==> swapper/0:0").size());
    choice.condition = parse_expression({"--if", "next_com == \"sh\""});
    BOOST_TEST(refusal([&] { Run(kSched, counting("tracepoint sched:sched_switch"), choice); }) ==
               "--if:1:1: error: sched:sched_switch has no field 'next_com'\n"
               "next_com == \"sh\"\n"
               "^~~~~~~~\n"
               "hint: did you mean 'next_comm'?");
}

BOOST_AUTO_TEST_CASE(what_is_not_recorded_is_told) {
    Run run(kSched, counting("tracepoint sched:sched_switch") +
                        ".prog q tracepoint block:block_rq_issue\n  r0 = 0\n  exit\n"
                        ".prog k kprobe vfs_read\n  r0 = 0\n  exit\n"
                        ".prog w tracepoint sched:sched_migrate_task\n  r0 = 0\n  exit\n");
    const std::vector<std::string> expected{
        "q: left out, because this recording has no event 'block:block_rq_issue'",
        "k: left out, because a recording has no kprobe",
        "w: the recording has no record of sched:sched_migrate_task"};
    BOOST_TEST(run.replay().notes() == expected, boost::test_tools::per_element());
    BOOST_TEST(run.sum("n") == 14u);

    // An alternative is none that is missed.
    Run raw(kSched, counting("raw_tracepoint sched:sched_switch | tracepoint sched:sched_switch"));
    BOOST_TEST(raw.replay().notes().empty());
    BOOST_TEST(raw.sum("n") == 14u);

    const std::string nothing =
        ".prog p tracepoint syscalls:sys_enter_read\n  r0 = 0\n  exit\n"
        ".prog q profile 99hz\n  r0 = 0\n  exit\n";
    BOOST_TEST(refusal([&] { Run(kSched, nothing); }) ==
               "this recording has nothing of what 't' looks at: "
               "syscalls:sys_enter_read, profile\n"
               "hint: 'gpufs record -e syscalls:sys_enter_read' records it");
}

BOOST_AUTO_TEST_CASE(what_a_recording_cannot_answer_is_told_once_with_how_often) {
    Run run(kMono,
            ".prog p tracepoint syscalls:sys_enter_openat\n  r3 = @filename(r1)\n  r1 = r10\n"
            "  r1 += -8\n  r2 = 8\n  call probe_read_user_str\n  r0 = 0\n  exit\n");
    const std::vector<std::string> expected{
        "the memory of processes is not recorded, so texts and values in it are empty: "
        "asked 71 times"};
    BOOST_TEST(run.replay().notes() == expected, boost::test_tools::per_element());
    BOOST_TEST(refusal([] {
                   Run(kSched, ".prog p tracepoint sched:sched_switch\n  call jiffies64\n  exit\n");
               }) ==
               "t.bpf:2:3: error: a recording cannot answer jiffies64\n"
               "  call jiffies64\n"
               "  ^~~~~~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(what_the_verifier_would_refuse_is_shown_in_the_text) {
    BOOST_TEST(refusal([] {
                   Run(kSched,
                       ".prog p tracepoint sched:sched_switch\n  r1 = 0\n  r0 = *(u64 *)(r1 + 0)\n"
                       "  exit\n");
               }) ==
               "t.bpf:3:3: error: reads 8 bytes where it may not\n"
               "  r0 = *(u64 *)(r1 + 0)\n"
               "  ^~~~~~~~~~~~~~~~~~~~~");
}

BOOST_AUTO_TEST_CASE(shipped_monitors_count_what_the_recording_has) {
    Run irqs(kSched, shipped("irqs"));
    BOOST_TEST(irqs.sum("hard_ns") == lines_with("sched-6.18", "irq_handler_entry:").size());
    BOOST_TEST(irqs.sum("soft_ns") == lines_with("sched-6.18", "softirq_entry:").size());
    BOOST_TEST(irqs.replay().losses().is_complete());
    Run wakeups(kSched, shipped("wakeups"));
    BOOST_TEST(wakeups.sum("wakes") == lines_with("sched-6.18", "sched_waking:").size());
    // Each exec has a record, and each process that ends.
    Run execs(kSched, shipped("execs"));
    BOOST_TEST(execs.records() == 6u);
    BOOST_TEST(execs.text(1, "comm") == "sleep");
    BOOST_TEST(execs.text(1, "args") == "/usr/bin/sleep");
    BOOST_TEST(refusal([] { Run(kMono, shipped("syscalls")); }) ==
               "this recording has nothing of what 'syscalls' looks at: raw_syscalls:sys_enter, "
               "raw_syscalls:sys_exit, sched:sched_process_exit\n"
               "hint: 'gpufs record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit "
               "-e sched:sched_process_exit' records it");
    BOOST_TEST(refusal([] { Run(kMono, shipped("xe")); }) ==
               "this recording has nothing of what 'xe' looks at: events of xe\n"
               "hint: 'gpufs record -e xe' records it");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
