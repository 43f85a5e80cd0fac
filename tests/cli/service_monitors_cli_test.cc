#include <fcntl.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/cat.h"
#include "base/fd.h"
#include "support/needs.h"
#include "support/temp_folder.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitors of the C library, of TLS and of databases, over a program that says how often it
// calls what, with libraries of our own.
namespace gpufs {
namespace {

using test::Child;
using test::Json;
using test::only;
using test::Told;

std::string folder() {
    const std::string binary = test::gpufs_binary();
    return binary.substr(0, binary.rfind('/') + 1);
}

std::string work() {
    return folder() + "gpufs-services-work";
}

// Its libraries are found where the loader looks.
Told told_of_work(const std::vector<std::string>& monitor, const std::vector<std::string>& words) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run"};
    setup.argv.insert(setup.argv.end(), monitor.begin(), monitor.end());
    for (const char* word : {"--json", "--strict", "--"}) setup.argv.emplace_back(word);
    setup.argv.push_back(work());
    setup.argv.insert(setup.argv.end(), words.begin(), words.end());
    setup.environment = {cat("LD_LIBRARY_PATH=", folder(), "services")};
    return Told(Child(setup).wait());
}

// The same of work that runs already, and waits to be asked. COMMAND begins when all is attached:
// it asks, and waits until the work has ended. It opens the pipe for the end first, or that may be
// gone before. Whose process is named has unwind tables from the begin on.
Told told_of_running_work(std::vector<std::string> monitor, const std::string& task,
                          bool is_named) {
    const test::TempFolder place;
    const std::string ask = place / "ask", end = place / "end";
    Child::Setup setup;
    setup.argv = {"/bin/sh", "-c",
                  cat("mkfifo ", ask, " ", end, "; exec 3<>", end, "; exec ", work(), " ", task,
                      " 0<>", ask)};
    setup.environment = {cat("LD_LIBRARY_PATH=", folder(), "services")};
    Child working(setup);
    BOOST_TEST_REQUIRE(working.wait_for_output("ready", std::chrono::minutes(5)));
    monitor.emplace_back("--all");
    if (is_named) monitor.push_back(cat("pid=", working.pid()));
    Told told(monitor, {"/bin/sh", "-c", cat("exec 3<", end, "; echo >", ask, "; cat <&3")});
    // For work that closed the pipe, and waits again.
    const Fd again{::open(ask.c_str(), O_RDWR | O_CLOEXEC)};
    BOOST_TEST(::write(again.get(), "\n", 1) == 1);
    BOOST_TEST(working.wait().status == 0);
    return told;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(service_monitors, *ut::precondition(test::has_file{"uprobe_events"}))

// What was not freed of what `function` of the program asked for: how often, and bytes.
struct Left {
    long long count = 0, bytes = 0;
    bool operator==(const Left&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Left& left) {
    return out << left.count << " of " << left.bytes << " bytes";
}

bool has_frame(const Json& stack, const std::string& function) {
    return std::ranges::any_of(stack.items, [&](const Json& frame) {
        return frame.text.find(function) != std::string::npos;
    });
}

// What is left that has the function in its stack.
std::vector<Json> rows_by(const Told& told, const std::string& function) {
    std::vector<Json> rows = told.rows("left", {});
    std::erase_if(rows, [&](const Json& row) { return !has_frame(row["key"]["user"], function); });
    return rows;
}

Left left_by(const Told& told, const std::string& function) {
    Left left;
    for (const Json& row : rows_by(told, function)) {
        left.count += row["count"].number();
        left.bytes += row["sum"].number();
    }
    return left;
}

BOOST_AUTO_TEST_CASE(leaks_tells_what_is_not_freed_by_stack) {
    const Told told = told_of_work({"leaks"}, {"allocate", "40"});
    BOOST_TEST(left_by(told, "::keeps ") == (Left{80, 80 * 100}));  // of two threads
    BOOST_TEST(left_by(told, "operator new ") == (Left{80, 80 * 24}));
    BOOST_TEST(left_by(told, "::frees ") == Left{});
    BOOST_TEST(left_by(told, "::grows ") == (Left{1, 5000}));
    BOOST_TEST(left_by(told, "::shrinks_to_nothing ") == Left{});
    BOOST_TEST(left_by(told, "::cannot_grow ") == (Left{1, 130}));
    BOOST_TEST(left_by(told, "::aligns ") == (Left{1, 333}));
    BOOST_TEST(left_by(told, "::maps_and_unmaps ") == Left{});
    BOOST_TEST(left_by(told, "mremap ") == (Left{1, 2 << 20}));
}

BOOST_AUTO_TEST_CASE(leaks_knows_mappings_that_are_given_back_in_parts) {
    const Told told = told_of_work({"leaks"}, {"unmap"});
    BOOST_TEST(left_by(told, "::aligns_a_mapping ") == (Left{1, 4 << 20}));
    BOOST_TEST(left_by(told, "::gives_a_tail_back ") == (Left{1, 4096}));
    BOOST_TEST(left_by(told, "::gives_neighbours_back_at_once ") == Left{});
    BOOST_TEST(left_by(told, "::gives_parts_of_neighbours_back_at_once ") == (Left{2, 2 << 20}));
    BOOST_TEST(left_by(told, "::moves_a_part ") == (Left{2, 5 << 20}));
    BOOST_TEST(left_by(told, "::cannot_move_a_part ") == (Left{2, 4 << 20}));
    BOOST_TEST(left_by(told, "::maps_over_another ") == (Left{1, 1 << 20}));
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(leaks_tells_only_what_is_old_where_asked) {
    const Told told = told_of_work({"leaks", "older=1h"}, {"allocate", "1"});
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.rows("ages", {}).empty());
}

// A process that the command leaves has memory of the kernel's for a while.
BOOST_AUTO_TEST_CASE(leaks_tells_of_the_kernel_where_asked) {
    const Told told({"leaks", "kernel=1"}, {"sh", "-c", "sleep 1 >/dev/null 2>&1 & exit 0"});
    long long bytes = 0;
    for (const Json& row : told.rows("left_in", {})) bytes += row["sum"].number();
    BOOST_TEST(bytes > 0);
}

long long open_by(const Told& told, const std::string& function) {
    long long count = 0;
    for (const Json& row : rows_by(told, function)) count += row["count"].number();
    return count;
}

BOOST_AUTO_TEST_CASE(fds_tells_what_is_not_closed_by_stack) {
    const Told told = told_of_running_work({"fds"}, "descriptors 40", true);
    BOOST_TEST(open_by(told, "::opens_for_good ") == 40);
    BOOST_TEST(open_by(told, "::opens_and_closes ") == 0);
    BOOST_TEST(open_by(told, "::puts_one_over_another ") == 2);
    BOOST_TEST(open_by(told, "::copies_one ") == 2);
    BOOST_TEST(open_by(told, "::makes_pairs ") == 5);
    BOOST_TEST(open_by(told, "::makes_kinds ") == 6);
    BOOST_TEST(open_by(told, "::accepts ") == 1);
    BOOST_TEST(open_by(told, "::closes_a_range ") == 1);
    BOOST_TEST(open_by(told, "::opens_for_the_parent ") == 1);
    BOOST_TEST(open_by(told, "::opens ") == 40 + 1 + 1);  // none of the thread's
}

BOOST_AUTO_TEST_CASE(fds_tells_what_a_command_does_not_close_by_call) {
    const Told told({"fds"}, {"/bin/sh", "-c", cat("exec ", work(), " descriptors 40 </dev/null")});
    const auto count = [&](const char* call) {
        return told.sum("left", {{"comm", "gpufs-services-"}, {"call", call}}, "count");
    };
    BOOST_TEST(count("openat") == 40 + 1 + 2 + 1);
    BOOST_TEST(count("memfd_create") == 1);
    BOOST_TEST(count("timerfd_create") == 1);
    BOOST_TEST(count("socketpair") == 1);
    BOOST_TEST(count("fcntl") == 1);
    BOOST_TEST(count("socket") == 0);
    BOOST_TEST(told.sum("ages", {{"call", "memfd_create"}}, "min") > 0);
}

BOOST_AUTO_TEST_CASE(fds_tells_only_what_is_open_for_long_where_asked) {
    const Told told({"fds", "older=1h"},
                    {"/bin/sh", "-c", cat("exec ", work(), " descriptors 2 </dev/null")});
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.rows("ages", {}).empty());
}

BOOST_AUTO_TEST_CASE(futex_tells_who_held_each_kind_of_mutex_and_where_it_was_given_back) {
    const Told told = told_of_running_work({"futex", "over=0"}, "fight 3", true);
    for (const char* kind : {"mutex", "PI mutex", "robust mutex"}) {
        const auto waits = told.records("slow", {{"comm", "waiter"}, {"kind", kind}});
        BOOST_TEST_REQUIRE(waits.size() == 3u);
        for (const Json& wait : waits) {
            BOOST_TEST(wait["owner"].text == wait["pid"].text);  // the first thread
            BOOST_TEST(wait["waker_tid"].text == wait["pid"].text);
            BOOST_TEST(wait["waker"].text == "keeper");
            BOOST_TEST(wait["tid"].text != wait["pid"].text);
            BOOST_TEST(wait["waited"].number() > 0);
            BOOST_TEST(has_frame(wait["user"], "::takes_lock "));
            BOOST_TEST(has_frame(wait["waker_user"], "::gives_lock_back "));
        }
        BOOST_TEST(told.sum("waited", {{"comm", "waiter"}, {"kind", kind}}, "count") == 3);
    }
    const Json other = only(told.records("slow", {{"comm", "sleeper"}}));
    BOOST_TEST(other["kind"].text == "other");
    BOOST_TEST(other["owner"].number() == 0);
    BOOST_TEST(has_frame(other["user"], "pthread_cond_wait"));
    BOOST_TEST(has_frame(other["waker_user"], "::signals_condition "));
}

BOOST_AUTO_TEST_CASE(futex_tells_only_of_mutexes_where_asked) {
    const Told told({"futex", "locks=1"},
                    {"/bin/sh", "-c", cat("exec ", work(), " fight 2 </dev/null")});
    BOOST_TEST(told.sum("waited", {{"comm", "waiter"}}, "count") == 3 * 2);
    BOOST_TEST(told.rows("waited", {{"kind", "other"}}).empty());
    BOOST_TEST(told.rows("waited", {{"comm", "sleeper"}}).empty());
}

BOOST_AUTO_TEST_CASE(futex_tells_who_has_what_threads_wait_for_that_never_get_it) {
    const auto check = [](const Told& told, const std::string& map) {
        const Json keeper = only(told.rows(map, {{"comm", "keeper"}, {"kind", "mutex"}}));
        const Json stuck = only(told.rows(map, {{"comm", "stuck"}, {"kind", "mutex"}}));
        BOOST_TEST(keeper["key"]["owner"].text == stuck["key"]["tid"].text);
        BOOST_TEST(stuck["key"]["owner"].text == keeper["key"]["tid"].text);
        BOOST_TEST(stuck["min"].number() > 0);
    };
    check(told_of_running_work({"futex"}, "deadlock 3", true), "left");
    check(Told({"futex"}, {"/bin/sh", "-c", cat("exec ", work(), " deadlock 0 </dev/null")}),
          "stuck");
}

BOOST_AUTO_TEST_CASE(dns_tells_each_name_and_what_came_of_it) {
    const Told told = told_of_work({"dns"}, {"look-up"});
    BOOST_TEST(told.records("lookup", {{"name", "localhost"}, {"answer", "found"}}).size() == 1u);
    BOOST_TEST(told.records("lookup", {{"name", "no number"}, {"answer", "no such name"}}).size() ==
               3u);
    BOOST_TEST(only(told.rows("took_us", {{"answer", "no such name"}}))["count"].number() == 3);
}

BOOST_AUTO_TEST_CASE(tls_adds_up_plain_text_by_library_and_tells_handshakes) {
    const Told told = told_of_work({"tls", "min_us=1500"}, {"encrypt"});
    const auto bytes = [&](const char* library, const char* what) {
        return told.sum("texts", {{"library", library}, {"what", what}}, "sum");
    };
    BOOST_TEST(bytes("OpenSSL", "received") == 5 * 700 + 500);
    BOOST_TEST(bytes("OpenSSL", "sent") == 300 + 40);
    BOOST_TEST(bytes("GnuTLS", "received") == 10);
    BOOST_TEST(bytes("GnuTLS", "sent") == 2 * 90);
    const auto handshakes = [&](const char* library, const char* outcome) {
        return told.sum("shakes", {{"library", library}, {"outcome", outcome}}, "count");
    };
    BOOST_TEST(handshakes("OpenSSL", "goes on or failed") == 2);
    BOOST_TEST(handshakes("OpenSSL", "done") == 2);
    BOOST_TEST(handshakes("GnuTLS", "failed") == 1);
    // The two that took 2 ms; a busy machine may add others.
    BOOST_TEST(told.records("slow", {{"library", "OpenSSL"}}).size() >= 2u);
}

BOOST_AUTO_TEST_CASE(sql_tells_slow_queries_of_clients) {
    const Told told = told_of_work({"sql"}, {"query"});
    BOOST_TEST(told.records("slow", {{"query", "slow query"}, {"end", "client"}}).size() == 3u);
    BOOST_TEST(told.records("slow", {{"query", "slow with $1"}, {"end", "client"}}).size() == 1u);
    BOOST_TEST(told.sum("took_us", {{"end", "client"}}, "count") == 24);
}

BOOST_AUTO_TEST_CASE(sql_tells_queries_of_a_server_that_runs_already) {
    const Told told = told_of_running_work({"sql"}, "serve", false);
    for (const char* query : {"UPDATE t SET a = 1", "SELECT 1", "SELECT 2"})
        BOOST_TEST(told.records("slow", {{"query", query}, {"end", "server"}}).size() == 1u);
    BOOST_TEST(told.sum("took_us", {{"end", "server"}}, "count") == 3);
}

BOOST_AUTO_TEST_CASE(vfs_counts_operations_by_kind) {
    const Told told({"vfs"}, {"dd", "if=/dev/zero", "of=/dev/null", "bs=1k", "count=500"});
    BOOST_TEST(told.sum("calls", {{"kind", "read"}, {"comm", "dd"}}, "count") >= 500);
    BOOST_TEST(told.sum("calls", {{"kind", "write"}, {"comm", "dd"}}, "count") >= 500);
    BOOST_TEST(told.sum("calls", {{"kind", "rename"}}, "count") == 0);
}

// Runs a command in it; its end must be good.
void run_there(const test::TempFolder& folder, const std::string& command) {
    Child::Setup setup;
    setup.argv = {"sh", "-c", cat("cd ", folder.path().string(), " && ", command)};
    const test::Ended ended = Child(setup).wait();
    BOOST_TEST_REQUIRE(ended.status == 0, command << ": " << ended.err);
}

// What dd asks of its two files, told alike by functions and by system calls.
void check_copy(const std::filesystem::path& folder, const std::string& way) {
    std::ofstream(folder / "in") << std::string(10'000, 'x');
    const Told told(
        {"fs-slow", "min_us=0", "--explain"},
        {"dd", cat("if=", (folder / "in").string()), cat("of=", (folder / "out").string()),
         "bs=1000", "skip=2", "count=3", "conv=fsync"});
    BOOST_TEST(told.err().find(way) != std::string::npos, told.err());
    const auto of = [&](const char* operation, const std::string& file, const char* offset,
                        const char* bytes) {
        long long found = 0;
        for (const Json& one : told.records("slow", {{"comm", "dd"},
                                                     {"op", operation},
                                                     {"offset", offset},
                                                     {"bytes", bytes},
                                                     {"error", "0"}}))
            found += one["file"].text.ends_with(file) ? 1 : 0;
        return found;
    };
    for (const char* offset : {"2000", "3000", "4000"})
        BOOST_TEST(of("read", "in", offset, "1000") == 1, offset);
    for (const char* offset : {"0", "1000", "2000"})
        BOOST_TEST(of("write", "out", offset, "1000") == 1, offset);
    BOOST_TEST(of("open", "in", "0", "0") == 1);
    BOOST_TEST(of("open", "out", "0", "0") == 1);
    BOOST_TEST(of("sync", "out", "0", "0") == 1);
    BOOST_TEST(told.sum("took_us", {{"comm", "dd"}, {"op", "sync"}}, "count") == 1);
}

BOOST_AUTO_TEST_CASE(fs_slow_tells_operations_by_system_calls_where_there_are_no_kprobes,
                     *ut::precondition(test::lacks_file{"kprobe_events"})) {
    const test::TempFolder folder;
    check_copy(folder.path(), "c_reads: tracepoint syscalls:sys_enter_read,");
}

// Two of the program's own: a pipe is no file, and what is not there is told with its error.
BOOST_AUTO_TEST_CASE(fs_slow_leaves_pipes_out_and_tells_what_is_not_there,
                     *ut::precondition(test::lacks_file{"kprobe_events"})) {
    const Told told({"fs-slow", "min_us=0"},
                    {"sh", "-c", "echo through | dd of=/dev/null; dd if=/no/such; true"});
    BOOST_TEST(told.records("slow", {{"comm", "dd"}, {"op", "write"}}).empty());
    BOOST_TEST(
        told.records("slow", {{"comm", "dd"}, {"file", "/no/such"}, {"error", "ENOENT"}}).size() ==
        1);
}

// Nobody writes to the pipe, so its open lasts.
BOOST_AUTO_TEST_CASE(fs_slow_tells_operations_that_have_not_ended,
                     *ut::precondition(test::lacks_file{"kprobe_events"})) {
    const test::TempFolder folder;
    const std::vector<std::string> work = {
        "sh", "-c",
        cat("cd ", folder.path().string(),
            " && { [ -p pipe ] || mkfifo pipe; }; timeout 5 cat pipe >/dev/null 2>&1 & sleep 1")};
    const Told told({"fs-slow"}, work);
    const Json open = only(told.rows("left", {}));
    BOOST_TEST(open["key"]["comm"].text == "cat");
    BOOST_TEST(open["key"]["op"].text == "open");
    BOOST_TEST(open["max"].number() >= 300'000);
    const Told long_ones({"fs-slow", "min_us=1h"}, work);
    BOOST_TEST(long_ones.rows("left", {}).empty());
}

BOOST_AUTO_TEST_CASE(fs_slow_tells_operations_by_the_functions_of_a_file_system,
                     *ut::precondition(test::has_file{"kprobe_events"})) {
    struct Row {
        const char *name, *bytes;  // of the smallest that can be made
    };
    for (const Row& fs : {Row{"ext4", "16M"}, Row{"xfs", "320M"}, Row{"btrfs", "128M"}}) {
        BOOST_TEST_CONTEXT(fs.name) {
            const test::TempFolder folder;
            run_there(folder, cat("modprobe loop && modprobe ", fs.name, " && truncate -s ",
                                  fs.bytes, " image && mkfs.", fs.name,
                                  " -q image && mkdir fs && mount -o loop image fs"));
            check_copy(folder / "fs", cat("reads: kprobe ", fs.name, "_file_read_iter,"));
            run_there(folder, "umount fs");
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
