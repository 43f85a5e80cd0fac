#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/pieces.h"
#include "base/text.h"
#include "kernel/host/kallsyms.h"
#include "kernel/host/kernel_version.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/symbols/kernel_functions.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

// The tools of Debian's bpftrace 0.17, unmodified: each runs, or is refused for what this kernel
// lacks. tests/guests/fetch-bt-tools.sh gets them.
namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;

constexpr const char* kBtTools = "build/vm/bt-tools/";

std::string tool_path(std::string_view name) {
    return cat(kBtTools, name, ".bt");
}

boost::test_tools::assertion_result has_tools(ut::test_unit_id) {
    boost::test_tools::assertion_result yes(file_exists(tool_path("vfsstat")));
    yes.message() << "needs bpftrace's tools: tests/guests/fetch-bt-tools.sh";
    return yes;
}

struct Tool {
    const char* name;
    // The kernel's functions that it probes, "a|b": a block with these targets; the blocks with
    // blanks between.
    const char* functions = "";
    // What kernels before a version lack of what it reads.
    const char* field = "";  // "struct bio bi_bdev"
    KernelVersion since{};
};
std::ostream& operator<<(std::ostream& out, const Tool& tool) {
    return out << tool.name;
}
// Those that ask for what kernels differ in, and those that do not.
const Tool kKernelTools[] = {
    {"loads"},
    {"runqlen"},
    {"biolatency",
     "blk_account_io_start|__blk_account_io_start "
     "blk_account_io_done|__blk_account_io_done"},
    {"biosnoop",
     "blk_account_io_start|__blk_account_io_start "
     "blk_account_io_done|__blk_account_io_done",
     "struct request_queue disk",
     {5, 15, 0}},
    {"biostacks",
     "blk_account_io_start|__blk_account_io_start "
     "blk_start_request|blk_mq_start_request"},
    {"capable", "cap_capable"},
    {"dcsnoop", "lookup_fast|lookup_fast.constprop.* d_lookup"},
    {"mdflush", "md_flush_request", "struct bio bi_bdev", {5, 12, 0}},
    {"oomkill", "oom_kill_process"},
    {"swapin", "swap_readpage"},
    {"tcpaccept", "inet_csk_accept"},
    {"tcpconnect", "tcp_connect"},
    {"tcplife", "tcp_set_state"},
    {"tcpretrans", "tcp_retransmit_skb"},
    {"tcpsynbl", "tcp_v4_syn_recv_sock|tcp_v6_syn_recv_sock"},
    {"undump", "unix_stream_read_actor"},
    {"vfscount", "vfs_read"},
    {"vfsstat", "vfs_read|vfs_readv vfs_write|vfs_writev vfs_open"},
    {"xfsdist", "xfs_file_read_iter|xfs_file_write_iter|xfs_file_open|xfs_file_fsync"},
};
const Tool kOtherTools[] = {
    {"bashreadline"}, {"bitesize"},   {"cpuwalk"},     {"execsnoop"}, {"gethostlatency"},
    {"killsnoop"},    {"naptime"},    {"opensnoop"},   {"pidpersec"}, {"runqlat"},
    {"setuids"},      {"ssllatency"}, {"sslsnoop"},    {"statsnoop"}, {"syncsnoop"},
    {"syscount"},     {"tcpdrop"},    {"threadsnoop"}, {"writeback"},
};

bool has_kprobes() {
    return test::top().has("kprobe_events");
}

// What the kernel lets be probed.
const std::set<std::string, std::less<>>& functions() {
    static const auto all = [] {
        std::set<std::string, std::less<>> names;
        const std::string text = test::top().read("available_filter_functions");
        for (const std::string_view line : lines_of(text))
            names.emplace(line.substr(0, line.find_first_of(" \t")));
        return names;
    }();
    return all;
}

// What is said of a block that has none of its functions; empty where each has one.
std::string refusal(const Tool& tool) {
    for (const std::string& block : split(tool.functions, ' ')) {
        const std::vector<std::string> names = split(block, '|');
        if (std::ranges::any_of(names, [](auto& name) { return functions().contains(name); }))
            continue;
        return cat("error: this kernel has no function '", names.front(), "'\n");
    }
    return {};
}

bool has_symbol(std::string_view name) {
    bool found = false;
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        found = found || (symbol && symbol->name == name);
    });
    return found;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_tools, *ut::precondition(has_tools))

BOOST_DATA_TEST_CASE(each_runs_or_is_refused_for_what_this_kernel_lacks,
                     ut::data::make(kKernelTools), tool) {
    const std::string path = tool_path(tool.name), name = tool.name;
    const Ended ended = test::gpufs({"run", path, "--duration", "1ms"});
    const bool has_functions = *tool.functions != '\0';
    std::string missing;
    if (has_functions && !has_kprobes()) {
        BOOST_TEST(ended.status == 3);
        BOOST_TEST(ended.out == "");
        BOOST_TEST(test::has(ended.err, cat("gpufs: ", path, ":")), ended.err);
        BOOST_TEST(test::has(ended.err, ": error: this kernel has no kprobe_events in tracefs\n"),
                   ended.err);
        BOOST_TEST(ended.err.ends_with("~\nhint: a kernel with CONFIG_KPROBE_EVENTS=y\n"),
                   ended.err);
    } else if (running_kernel() < tool.since) {
        const std::string field = tool.field;
        const std::size_t blank = field.rfind(' ');
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(test::has(ended.err, cat("error: Struct/union of type '", field.substr(0, blank),
                                            "' does not contain a field named '",
                                            field.substr(blank + 1), "'\n")),
                   ended.err);
    } else if (has_functions && !(missing = refusal(tool)).empty()) {
        BOOST_TEST(ended.status != 0);
        BOOST_TEST(ended.out == "");
        BOOST_TEST(test::has(ended.err, missing), ended.err);
    } else if (name == "loads" && !has_symbol("avenrun")) {
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.err ==
                   cat("gpufs: ", path, ":31:13: error: Failed to resolve kernel symbol: avenrun\n",
                       "\t$avenrun = kaddr(\"avenrun\");\n\t           ^~~~~~~~~~~~~~~~\n"
                       "hint: /proc/kallsyms does not have it: variables are there where "
                       "CONFIG_KALLSYMS_ALL is set\n"));
    } else if (name == "runqlen" && ended.status != 0) {  // Linux 6.16 renamed the field
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.err == cat("gpufs: ", path,
                                    ":37:9: error: Struct/union of type 'struct cfs_rq' does not "
                                    "contain a field named 'nr_running'\n"
                                    "\t$len = $my_q->nr_running;\n\t       ^~~~~~~~~~~~~~~~~\n"));
    } else {
        BOOST_TEST(ended.status == 0, ended.err);
        BOOST_TEST(ended.out.ends_with("\n"), ended.err);
    }
}

BOOST_AUTO_TEST_SUITE(without_functions_of_the_kernel, *ut::label("pure"))

BOOST_DATA_TEST_CASE(each_runs, ut::data::make(kOtherTools), tool) {
    const Ended ended = test::gpufs({"run", tool_path(tool.name), "--duration", "1ms"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out.ends_with("\n"), ended.err);
}

BOOST_AUTO_TEST_SUITE_END()

// What a tool printed of this process, without the times.
struct Work {
    const char* tool;
    const char* ready;  // the end of what it begins with
    void (*work)();
    const char* printed;  // PID stands for this process
};
std::ostream& operator<<(std::ostream& out, const Work& work) {
    return out << work.tool;
}

void send_nothing() {
    ::kill(::getpid(), 0);
}
void open_nothing() {
    ::open("/no/such/file", O_RDONLY);
}
void sleep_a_little() {
    const timespec time{0, 12'000'000};
    ::syscall(SYS_nanosleep, &time, nullptr);
}
void sync_nothing() {
    const int pipe = ::open("/dev/null", O_RDONLY);
    ::fdatasync(pipe);
    ::close(pipe);
}
void talk_to_itself() {
    int ends[2];
    char text[8] = {};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
    BOOST_TEST(::write(ends[0],
                       "a\x01"
                       "b",
                       3) == 3);
    BOOST_TEST(::read(ends[1], text, sizeof text) == 3);
    ::close(ends[0]);
    ::close(ends[1]);
}
const Work kWork[] = {
    {"killsnoop", "RESULT\n", send_nothing, "PID gpufs-test 0 PID 0"},
    {"opensnoop", "PATH\n", open_nothing, "PID gpufs-test -1 2 /no/such/file"},
    {"naptime", "SECONDS\n", sleep_a_little, "PID gpufs-test 0.012"},
    {"syncsnoop", "EVENT\n", sync_nothing,
     "PID gpufs-test tracepoint:syscalls:sys_enter_fdatasync"},
};
const Work kKernelWork[] = {
    {"undump", "DATA\n", talk_to_itself, "gpufs-test PID 3 a\\x01b"},
};

// The words of a line, one blank between.
std::string squeezed(std::string_view line) {
    std::string text;
    for (const std::string& word : split(line, ' '))
        if (!word.empty()) text += cat(text.empty() ? "" : " ", word);
    return text;
}

std::string with_pid(std::string text) {
    for (auto at = text.find("PID"); at != text.npos; at = text.find("PID", at))
        text.replace(at, 3, std::to_string(::getpid()));
    return text;
}

void check_work(const Work& one) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "run", tool_path(one.tool)};
    Child tool(setup);
    BOOST_TEST_REQUIRE(tool.wait_for_output(one.ready, 60s));
    one.work();
    tool.send(SIGINT);
    const Ended ended = tool.wait();
    BOOST_TEST(ended.signal == SIGINT, ended.err);
    std::vector<std::string> lines;
    for (const std::string_view line : lines_of(ended.out)) lines.push_back(squeezed(line));
    const std::string wanted = with_pid(one.printed);
    BOOST_TEST(std::ranges::count_if(
                   lines, [&](const std::string& line) { return line.ends_with(wanted); }) == 1,
               wanted << "\n"
                      << ended.out << ended.err);
}

BOOST_AUTO_TEST_SUITE(without_functions_of_the_kernel, *ut::label("pure"))

BOOST_DATA_TEST_CASE(what_is_printed_is_what_was_done, ut::data::make(kWork), one) {
    check_work(one);
}

BOOST_AUTO_TEST_SUITE_END()

struct kernel_probes {
    boost::test_tools::assertion_result operator()(ut::test_unit_id) const {
        boost::test_tools::assertion_result yes(has_kprobes());
        yes.message() << "needs kprobes";
        return yes;
    }
};
BOOST_AUTO_TEST_SUITE(with_kprobes, *ut::precondition(kernel_probes{}))

BOOST_DATA_TEST_CASE(what_is_printed_is_what_was_done, ut::data::make(kKernelWork), one) {
    check_work(one);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
