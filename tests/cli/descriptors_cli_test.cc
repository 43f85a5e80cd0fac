#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "base/cat.h"
#include "base/file.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

// Unusual descriptors: closed, pipes, of files that may not grow.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::shell;

const std::string kRecording = "tests/data/trace_dat/sched-6.18.dat";

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(descriptors)

BOOST_AUTO_TEST_CASE(closed_descriptors_are_not_given_to_files,
                     *ut::label("pure") * ut::precondition(test::can_trace)) {
    for (const std::string closed : {"0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"}) {
        const Ended ended = shell(cat("$GPUFS count sched:sched_switch --duration 10ms ", closed));
        BOOST_TEST(ended.status == (has(closed, "1>&-") ? 1 : 0), closed);
        const Ended stall = shell(cat("$GPUFS stall --over 1h ", closed, " -- true"));
        BOOST_TEST(stall.status == 0, closed);  // there is none, and nothing for stdout
        const test::TempFile file;
        const Ended record = shell(
            cat("$GPUFS record -e sched_process_exec -o ", file.path(), " ", closed, " -- true"));
        BOOST_TEST(record.status == 0, closed);
        BOOST_TEST(test::gpufs({"report", "-i", file.path(), "--stat"}).status == 0);
    }
}

BOOST_AUTO_TEST_CASE(data_for_a_closed_output_are_a_failure, *ut::label("pure")) {
    const Ended report = shell(cat("$GPUFS report -i ", kRecording, " >&-"));
    BOOST_TEST(report.status == 1);
    BOOST_TEST(report.err == "gpufs: cannot write to 'stdout': Bad file descriptor\n");
    BOOST_TEST(shell("$GPUFS --version >&-").status == 1);
    BOOST_TEST(shell(cat("$GPUFS export -i ", kRecording, " --chrome /dev/null >&-")).status == 0);
    BOOST_TEST(shell(cat("$GPUFS report -i ", kRecording, " 2>&-")).status == 0);
}

BOOST_AUTO_TEST_CASE(a_recording_is_read_from_stdin, *ut::label("pure")) {
    const std::string expected = test::gpufs({"report", "-i", kRecording}).out;
    BOOST_TEST(shell(cat("$GPUFS report -i - < ", kRecording)).out == expected);
    BOOST_TEST(shell(cat("cat ", kRecording, " | $GPUFS report -i -")).out == expected);
    const Ended counted = shell(cat("cat ", kRecording, " | $GPUFS count sched:sched_switch -i -"));
    BOOST_TEST(counted.out == "sched:sched_switch: 14\n");
}

BOOST_AUTO_TEST_CASE(a_pipe_without_a_writer_is_not_waited_for, *ut::label("pure")) {
    const std::string path = cat("/tmp/gpufs-test-fifo-", ::getpid());
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"report", "-i", path}, {"run", "irqs", "-i", path}}) {
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == 1);
        BOOST_TEST(ended.err == cat("gpufs: '", path,
                                    "' is a pipe, and nothing was written into "
                                    "it\nhint: such as: gpufs report -i - < FILE\n"));
    }
    ::unlink(path.c_str());
}

BOOST_AUTO_TEST_CASE(a_pipe_with_a_writer_is_read_to_its_end,
                     *ut::label("pure") * ut::precondition(test::has_program{"bash"})) {
    const Ended piped =
        test::Child({{"bash", "-c", cat("$GPUFS report -i <(cat ", kRecording, ")")},
                     {cat("GPUFS=", test::gpufs_binary())},
                     false,
                     false,
                     {}})
            .wait();
    BOOST_TEST(piped.status == 0, piped.err);
    BOOST_TEST(piped.out == test::gpufs({"report", "-i", kRecording}).out);
}

BOOST_AUTO_TEST_CASE(a_recording_is_written_to_stdout, *ut::precondition(test::can_trace)) {
    const Ended ended = shell(
        "$GPUFS record -e sched_process_exec -o - -- sh -c 'echo told; /bin/true' | "
        "$GPUFS report -i -");
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "sched_process_exec:"), ended.out);
    BOOST_TEST(has(ended.err, "told\n"), ended.err);
    BOOST_TEST(has(ended.err, " in stdout, "), ended.err);
    const Ended mixed = test::gpufs({"record", "-e", "sched_switch", "-o", "-", "--ring"});
    BOOST_TEST(mixed.status == 2);
    BOOST_TEST(mixed.err ==
               "gpufs: -o - does not go with --ring\n"
               "hint: a pipe takes one recording, once\n");
}

BOOST_AUTO_TEST_CASE(a_file_that_may_not_grow_is_told, *ut::precondition(test::can_trace)) {
    const test::TempFile file;
    // 4 MB, in blocks of 512 bytes; what is recorded is more.
    const Ended ended = shell(cat("ulimit -f 8192; $GPUFS record -e 'syscalls:*' -o ", file.path(),
                                  " --duration 20s -- dd if=/dev/zero of=/dev/null bs=1 "
                                  "count=200000"));
    BOOST_TEST(ended.status == 1, ended.err);
    BOOST_TEST(has(ended.err, cat("gpufs: '", file.path(),
                                  "' may not become larger here: it has what was recorded until "
                                  "then\n")),
               ended.err);
    BOOST_TEST(test::gpufs({"report", "-i", file.path(), "--stat"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_report_that_may_not_grow_fails, *ut::label("pure")) {
    const test::TempFile file;
    const Ended ended =
        shell(cat("ulimit -f 1; $GPUFS report -i ", kRecording, " > ", file.path()));
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == "gpufs: cannot write to 'stdout': File too large\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
