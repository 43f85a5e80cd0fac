#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/needs.h"
#include "support/page_times.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

// Monitors and questions over a recording; its truth is beside it, in trace-cmd's words.
namespace gpufs {
namespace {

using test::gpufs;

const std::string kSched = "tests/data/trace_dat/sched-6.18.dat";

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(replay, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(a_monitor_reports_what_was_recorded_without_asking_this_machine) {
    const test::Ended ran = test::gpufs_as_nobody({"run", "irqs", "-i", kSched});
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(ran.out ==
               "Hard interrupts\n"
               "IRQ  NAME           COUNT      SUM      AVG      MIN      MAX\n"
               " 36  virtio1-req.0      1  3.08 us  3.08 us  3.08 us  3.08 us\n"
               "\n"
               "Soft interrupts\n"
               "VEC    COUNT      SUM      AVG      MIN      MAX\n"
               "TIMER      1  8.96 us  8.96 us  8.96 us  8.96 us\n"
               "SCHED      2  3.31 us  1.65 us  1.48 us  1.83 us\n"
               "RCU        1  1.40 us  1.40 us  1.40 us  1.40 us\n");
    BOOST_TEST(ran.err == "0 lost\n");
}

BOOST_AUTO_TEST_CASE(records_have_the_recordings_time) {
    const test::TempFile file(
        ".map r ringbuf max 4096\n.record exec \"EXEC\" { at time, pid u32 }\n"
        ".stack v { out exec }\n"
        ".prog p tracepoint sched:sched_process_exec\n"
        "  w1 = *(u32 *)(r1 + @pid)\n  *(u32 *)(r10 + v.out.pid) = w1\n"
        "  *(u32 *)(r10 + v.out.id) = record(exec)\n  *(u32 *)(r10 + v.out + 4) = 0\n"
        "  call ktime_get_ns\n  *(u64 *)(r10 + v.out.at) = r0\n  r1 = map[r]\n  r2 = r10\n"
        "  r2 += v.out\n  r3 = sizeof(exec)\n  r4 = 0\n  call ringbuf_output\n  r0 = 0\n  exit\n");
    const test::Ended ran = gpufs({"run", file.path(), "-i", kSched});
    BOOST_TEST(ran.out ==
               "                  AT       PID\n"
               "EXEC    37376.753443     13501\n"
               "EXEC    37376.755645     13502\n"
               "EXEC    37376.759744     13503\n");
    BOOST_TEST(ran.err == "3 records, 0 lost\n");
    // --duration is of that time, too.
    BOOST_TEST(gpufs({"run", file.path(), "-i", kSched, "--duration", "3ms"}).err ==
               "2 records, 0 lost\n");
}

BOOST_AUTO_TEST_CASE(intervals_are_of_the_recordings_time) {
    const test::Ended ran =
        gpufs({"count", "sched:sched_switch", "-i", kSched, "--interval", "4ms"});
    BOOST_TEST(ran.out ==
               "\n37376.753188 to 37376.757188\nsched:sched_switch: 7, 1750.0/s\n"
               "\n37376.757188 to 37376.761188\nsched:sched_switch: 6, 1500.0/s\n"
               "\n37376.761188 to 37376.761408\nsched:sched_switch: 1, 4533.2/s\n");
}

// One CPU's records come last, and are earlier from the second on.
BOOST_AUTO_TEST_CASE(an_interval_says_that_nothing_came) {
    const Ended ran =
        gpufs({"run", "npu", "-i", "tests/data/trace_dat/npu-7.3.dat", "--interval", "20ms"});
    BOOST_TEST(ran.out.starts_with("\n28.863566 to 28.883566\n"
                                   "nothing counted in this interval\n"
                                   "\n28.883566 to 28.923566\n"
                                   "Jobs\n"),
               ran.out);
    const Ended json = gpufs(
        {"run", "npu", "-i", "tests/data/trace_dat/npu-7.3.dat", "--interval", "20ms", "--json"});
    BOOST_TEST(!has(json.out, "nothing"), json.out);
}

BOOST_AUTO_TEST_CASE(an_interval_does_not_end_before_it_began) {
    constexpr std::uint64_t kLate = ~std::uint64_t{0} - 3;
    const test::TempFile damaged(test::with_page_times(kSched, {{1, kLate}}));
    const test::Ended ran =
        gpufs({"count", "sched:sched_switch", "-i", damaged.path(), "--interval", "4ms"});
    BOOST_TEST(ran.out ==
               "\n37376.755368 to 37376.759368\nsched:sched_switch: 4, 1000.0/s\n"
               "\n37376.759368 to 37376.763368\nsched:sched_switch: 2, 500.0/s\n"
               "\n37376.763368 to 18446744073.709551\nsched:sched_switch: 8, 0.0/s\n");
}

BOOST_AUTO_TEST_CASE(questions_are_answered_from_a_recording) {
    const test::Ended ran = gpufs({"count", "sched:sched_switch", "by", "next_comm", "-i", kSched,
                                   "--if", "prev_comm == \"sh\""});
    BOOST_TEST(ran.out ==
               "sched:sched_switch by next_comm\n"
               "NEXT_COMM     COUNT\n"
               "migration/1       2\n"
               "sh                2\n"
               "ksoftirqd/1       1\n"
               "kworker/1:1H      1\n"
               "trace-cmd         1\n");
    BOOST_TEST(ran.err == "0 lost\n");
    const test::Ended mistaken = gpufs({"count", "sched:sched_swich", "-i", kSched});
    BOOST_TEST(mistaken.status == 2);
    BOOST_TEST(mistaken.err ==
               "gpufs: count:1:1: error: this recording has no event 'sched:sched_swich'\n"
               "sched:sched_swich\n"
               "^~~~~~~~~~~~~~~~~\n"
               "hint: did you mean 'sched:sched_switch'?\n");
}

BOOST_AUTO_TEST_CASE(what_the_recording_lacks_is_said) {
    const test::Ended stacks = gpufs({"run", "off-cpu", "-i", kSched});
    BOOST_TEST(stacks.status == 0);
    BOOST_TEST(test::has(stacks.err, "\nkernel stacks are not recorded here: asked "), stacks.err);
    const test::Ended nothing = gpufs({"run", "tcp", "-i", kSched});
    BOOST_TEST(nothing.status == 3);
    BOOST_TEST(nothing.err ==
               "gpufs: this recording has nothing of what 'tcp' looks at: "
               "sock:inet_sock_set_state, syscalls:sys_exit_accept, syscalls:sys_exit_accept4, "
               "tcp:tcp_retransmit_skb\n"
               "hint: 'gpufs record -e sock:inet_sock_set_state -e syscalls:sys_exit_accept -e "
               "syscalls:sys_exit_accept4 -e tcp:tcp_retransmit_skb' records it\n");
    BOOST_TEST(gpufs({"run", "irqs", "-i", kSched, "--", "true"}).err ==
               "gpufs: -i reads what was recorded: there is no COMMAND to run\n");
    BOOST_TEST(gpufs({"run", "irqs", "-i", "/no/such"}).err ==
               "gpufs: cannot open '/no/such': No such file or directory\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
