// What keys and conditions of the ad-hoc commands know of functions, texts, files and tasks.

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <utility>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/adhoc/adhoc_support.h"
#include "programs/long_symbol.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
#include "support/workloads.h"
#include "view/json.h"

namespace ut = boost::unit_test;

// Probed below.
extern "C" {
[[gnu::noinline, gnu::used]] int gpufs_cli_probed_one(int number) {
    __asm__ volatile("" : "+r"(number));
    return number;
}
[[gnu::noinline, gnu::used]] const char* gpufs_cli_probed_text(const char* text) {
    __asm__ volatile("" : "+r"(text));
    return text;
}
}

namespace gpufs {
namespace {

using test::call_getppid;
using test::count_behind;
using test::Ended;
using test::has;
using test::in_thread;
using test::kOurs;
using test::slot;
using test::trace;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(adhoc_keys)

BOOST_AUTO_TEST_SUITE(files, *ut::precondition(test::has_file{"uprobe_events"}))

std::string probed(const std::string& kind, const std::string& pattern) {
    return cat(kind, ':', std::filesystem::read_symlink("/proc/self/exe").string(),
               ":gpufs_cli_probed_", pattern);
}

void call_probed() {
    in_thread("gp-ours", [] {
        for (int i = 0; i < 30; ++i) gpufs_cli_probed_one(i);
        for (int i = 0; i < 20; ++i) gpufs_cli_probed_text(i < 15 ? "first" : "second");
    });
}

BOOST_AUTO_TEST_CASE(functions_of_a_pattern_are_told_apart) {
    for (const char* kind : {"uprobe", "uretprobe"}) {
        const Ended ran = trace(
            {"count", probed(kind, "*"), "by", "func,comm", "--if", kOurs, "--json", "--strict"},
            call_probed);
        BOOST_TEST(ran.status == 0, ran.err);
        for (const auto& [function, count] : {std::pair{"one", 30}, {"text", 20}})
            BOOST_TEST(count_behind(ran.out, cat("{\"func\":\"gpufs_cli_probed_", function,
                                                 "\",\"comm\":\"gp-ours\"}")) == count,
                       ran.out);
    }
    const Ended one = trace(
        {"count", probed("uprobe", "one"), "by", "func", "--if", kOurs, "--json"}, call_probed);
    BOOST_TEST(count_behind(one.out, "{\"func\":\"gpufs_cli_probed_one\"}") == 30, one.err);
}

BOOST_AUTO_TEST_CASE(calls_of_several_functions_are_paired_by_function) {
    const Ended ran = trace({"latency", probed("uprobe", "*"), probed("uretprobe", "*"), "--key",
                             "tid,func", "by", "func", "--if", kOurs, "--json", "--strict"},
                            call_probed);
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(count_behind(ran.out, "{\"func\":\"gpufs_cli_probed_text\"}") == 20, ran.out);
}

BOOST_AUTO_TEST_CASE(texts_behind_arguments_and_results_are_keys) {
    const Ended argument = trace(
        {"count", probed("uprobe", "text"), "by", "str(arg0)", "--if", kOurs, "--json", "--strict"},
        call_probed);
    const Ended result = trace({"count", probed("uretprobe", "text"), "by", "str(retval)", "--if",
                                kOurs, "--json", "--strict"},
                               call_probed);
    for (const auto& [ran, key] : {std::pair{&argument, "arg0"}, {&result, "retval"}}) {
        BOOST_TEST(ran->status == 0, ran->err);
        BOOST_TEST(count_behind(ran->out, cat("{\"str(", key, ")\":\"first\"}")) == 15, ran->out);
        BOOST_TEST(count_behind(ran->out, cat("{\"str(", key, ")\":\"second\"}")) == 5, ran->out);
    }
}

BOOST_AUTO_TEST_CASE(a_library_is_found_by_its_name) {
    for (const char* library : {"libc", "libc.so.6", "libc.so*"}) {
        const Ended ran = trace({"count", cat("uprobe:", library, ":getppid"), "by", "func", "--if",
                                 kOurs, "--json", "--strict"},
                                [] {
                                    in_thread("gp-ours", [] {
                                        for (int i = 0; i < 7; ++i) ::getppid();
                                    });
                                });
        BOOST_TEST(ran.status == 0, ran.err);
        BOOST_TEST(count_behind(ran.out, "{\"func\":\"getppid\"}") == 7, ran.out);
    }
    BOOST_TEST(
        test::gpufs({"count", "uprobe:lib-of-nobody:getppid"}).err ==
        "gpufs: count:1:8: error: no program 'lib-of-nobody' is in $PATH, and no such library "
        "where the dynamic loader looks\n"
        "uprobe:lib-of-nobody:getppid\n"
        "       ^~~~~~~~~~~~~~~~~~~~~\n"
        "hint: write the whole path\n");
    BOOST_TEST(test::gpufs({"count", "uprobe:lib-of-nobody*:getppid"}).err ==
               "gpufs: count:1:8: error: no library 'lib-of-nobody*' is where the dynamic loader "
               "looks, and no process has one mapped\n"
               "uprobe:lib-of-nobody*:getppid\n"
               "       ^~~~~~~~~~~~~~~~~~~~~~\n");
}

// As the tracers' tutorials ask: which functions of a file, and how long do they take?
BOOST_AUTO_TEST_CASE(functions_of_a_file_need_no_kind_and_no_end) {
    const auto work = [] {
        in_thread("gp-ours", [] {
            for (int i = 0; i < 7; ++i) ::getppid();
            for (int i = 0; i < 3; ++i) ::getpgid(0);
        });
    };
    const Ended counted = trace(
        {"count", "-x", "libc", "getppid,getpgid", "by", "func", "--if", kOurs, "--json"}, work);
    BOOST_TEST(count_behind(counted.out, "{\"func\":\"getppid\"}") == 7, counted.out);
    BOOST_TEST(count_behind(counted.out, "{\"func\":\"getpgid\"}") == 3, counted.out);
    const Ended overlapping = trace(
        {"count", "-x", "libc", "getppid,getpp*", "by", "func", "--if", kOurs, "--json"}, work);
    BOOST_TEST(count_behind(overlapping.out, "{\"func\":\"getppid\"}") == 7, overlapping.out);
    const Ended took = trace({"latency", "-x", "libc", "getppid", "--if", kOurs, "--json"}, work);
    BOOST_TEST(has(took.out, "\"title\":\"uprobe:libc:getppid uretprobe:libc:getppid\""), took.out);
    BOOST_TEST(count_behind(took.out, "{\"key\":{}") == 7, took.out);
    const Ended called = trace({"latency", "sys_enter_getppid", "--if", kOurs, "--json"}, work);
    BOOST_TEST(count_behind(called.out, "{\"key\":{}") == 7, called.out);
    BOOST_TEST(test::gpufs({"latency", "sched:sched_switch"}).err ==
               "gpufs: latency needs a START and an END\nhint: 'gpufs latency --help' shows how\n");
}

BOOST_AUTO_TEST_CASE(braces_in_a_functions_name_are_alternatives) {
    const Ended ran = trace({"count", "uprobe:libc.so*:get{ppid,pgid,nothing}", "by", "func",
                             "--if", kOurs, "--json", "--strict"},
                            [] {
                                in_thread("gp-ours", [] {
                                    for (int i = 0; i < 7; ++i) ::getppid();
                                    for (int i = 0; i < 5; ++i) ::getpgid(0);
                                });
                            });
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(count_behind(ran.out, "{\"func\":\"getppid\"}") == 7, ran.out);
    BOOST_TEST(count_behind(ran.out, "{\"func\":\"getpgid\"}") == 5, ran.out);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(arguments_of_commands_are_keys) {
    const Ended ran = test::gpufs({"count", "syscalls:sys_enter_execve", "by",
                                   "str(argv[0]),str(argv[2])", "--json", "--strict", "--", "sh",
                                   "-c", "for i in 1 2 3; do /bin/echo one two; done"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(
        count_behind(ran.out, "{\"str(argv[0])\":\"/bin/echo\",\"str(argv[2])\":\"two\"}") == 3,
        ran.out);
}

// A descriptor, how often it is read from, and what /proc calls it.
struct ReadFile {
    int fd;
    int times;
    std::string name() const {
        return std::filesystem::read_symlink(cat("/proc/self/fd/", fd)).string();
    }
};

BOOST_AUTO_TEST_CASE(descriptors_are_told_by_their_paths_as_proc_has_them) {
    const test::TempFolder folder;
    const std::string top = folder.path().string(), deep = top + "/a/very long name of a folder/b";
    std::filesystem::create_directories(deep);
    const auto made = [&](const std::string& path) {
        return ReadFile{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), 2};
    };
    int pipe_ends[2];
    BOOST_TEST_REQUIRE(::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) == 0);
    std::vector<ReadFile> files{
        made(deep + "/one"),
        made(deep + "/two\x1b[31m"),
        made(top + "/gone"),
        {::open("/dev/null", O_RDONLY | O_CLOEXEC), 3},
        {::open("/proc/self/status", O_RDONLY | O_CLOEXEC), 4},
        {pipe_ends[0], 5},
        {::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), 6},
        {::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), 7},
        {::memfd_create("in memory", MFD_CLOEXEC), 8}};
    std::filesystem::remove(top + "/gone");
    const Ended ended = trace(
        {"count", "syscalls:sys_enter_read", "by", "comm,file(fd)", "--json", "--strict"}, [&] {
            in_thread("gp-ours", [&] {
                for (const ReadFile& file : files)
                    for (int i = 0; i < file.times; ++i) ::syscall(SYS_read, file.fd, nullptr, 0);
                ::syscall(SYS_read, 1000, nullptr, 0);
            });
        });
    BOOST_TEST(ended.status == 0, ended.err);
    const auto key = [](const std::string& path) {
        std::string text;
        append_json_quoted(text, path);
        return cat("{\"comm\":\"gp-ours\",\"file(fd)\":", text, "}");
    };
    for (const ReadFile& file : files)
        BOOST_TEST(count_behind(ended.out, key(file.name())) == file.times, ended.out);
    BOOST_TEST(count_behind(ended.out, key("")) == 1, ended.out);
    for (const ReadFile& file : files) ::close(file.fd);
    ::close(pipe_ends[1]);
}

// A file that is made anew is the same path, also in a folder that is.
BOOST_AUTO_TEST_CASE(one_path_is_one_key) {
    const test::TempFolder folder;
    const std::string within = (folder / "within").string();
    std::string words;
    for (int i = 0; i < 3; ++i)
        words += cat("mkdir ", within, "; echo abcde > ", within, "/file; dd if=", within,
                     "/file bs=1 count=5 of=/dev/null status=none; rm -r ", within, "; ");
    const Ended ended = test::gpufs({"count", "syscalls:sys_enter_read", "by", "comm,file(fd)",
                                     "--json", "--strict", "--", "sh", "-c", words});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(
        count_behind(ended.out, cat("{\"comm\":\"dd\",\"file(fd)\":\"", within, "/file\"}")) == 15,
        ended.out);
}

BOOST_AUTO_TEST_CASE(flags_are_told_by_their_names) {
    const test::TempFile file("abcdef");
    const Ended flags =
        test::gpufs({"count", "syscalls:sys_enter_openat", "by", "comm,flags", "--json", "--strict",
                     "--", "sh", "-c", cat("for i in 1 2 3; do : >> ", file.path(), "; done")});
    BOOST_TEST(flags.status == 0, flags.err);
    BOOST_TEST(
        count_behind(flags.out, "{\"comm\":\"sh\",\"flags\":\"O_WRONLY|O_CREAT|O_APPEND\"}") == 3,
        flags.out);
}

BOOST_AUTO_TEST_CASE(conditions_know_the_running_task_also_where_fields_have_its_names) {
    const auto counted = [](const std::string& condition) {
        return trace({"count", "syscalls:sys_enter_getppid", "--if", kOurs + condition, "--json"},
                     [] { in_thread("gp-ours", [] { call_getppid(10); }); });
    };
    const Ended user = counted(cat(" && uid == ", ::getuid(), " && cgroup > 0"));
    BOOST_TEST(count_behind(user.out, "\"entries\":[{") == 10, user.out + user.err);
    const Ended other = counted(cat(" && uid != ", ::getuid()));
    BOOST_TEST(count_behind(other.out, "\"entries\":[{") == -1, other.out + other.err);
    const Ended woken =
        test::gpufs({"count", "sched:sched_wakeup", "--if",
                     "pid == 1 && comm == x && PID == 2 && COMM == y && CPU == 0", "--dry-run"});
    BOOST_TEST(woken.status == 0, woken.err);
}

// Functions can be probed where the kernel has kprobes.
BOOST_AUTO_TEST_SUITE(functions, *ut::precondition(test::has_file{"kprobe_events"}))

const std::string kGetppid = test::getppid_function();

std::string listed_getppid() {
    const std::string all = read_file("/sys/kernel/tracing/available_filter_functions");
    for (const std::string_view line : lines_of(all))
        if (line.ends_with("_sys_getppid")) return std::string(line);
    return kGetppid;
}

BOOST_AUTO_TEST_CASE(hits_arguments_results_and_the_time_between_are_exact) {
    const auto work = [] {
        in_thread(
            "gp-ours", [] { call_getppid(1000); }, 0);
    };
    const Ended count = trace({"count", cat("kprobe:", kGetppid), "by", "comm,probe", "--if", kOurs,
                               "--json", "--strict"},
                              work);
    BOOST_TEST(count_behind(count.out, cat("{\"comm\":\"gp-ours\",\"probe\":\"kprobe:", kGetppid,
                                           "\"}")) == 1000,
               count.out + count.err);
    // Of several names of one function the kernel lists one.
    const std::string listed = listed_getppid();
    const Ended pattern = trace({"count", cat("kprobe:", listed.substr(0, listed.size() - 1), "*"),
                                 "by", "func", "--if", kOurs, "--json", "--strict"},
                                work);
    BOOST_TEST(count_behind(pattern.out, cat("{\"func\":\"", listed, "\"}")) == 1000,
               pattern.out + pattern.err);
    const Ended result = trace({"count", cat("kretprobe:", kGetppid), "by", "retval", "--if",
                                cat(kOurs, " && retval == ", ::getppid()), "--json"},
                               work);
    BOOST_TEST(count_behind(result.out, cat("{\"retval\":", ::getppid(), "}")) == 1000,
               result.out + result.err);
    const Ended latency = trace({"latency", cat("kprobe:", kGetppid), cat("kretprobe:", kGetppid),
                                 "by", "comm", "--unit", "ns", "--if", kOurs, "--json", "--strict"},
                                work);
    BOOST_TEST(count_behind(latency.out, "{\"comm\":\"gp-ours\"}") == 1000,
               latency.out + latency.err);
    const Ended argument = trace({"hist", "kprobe:vfs_write", "arg2", "by", "comm", "--if",
                                  kOurs + " && arg2 == 100", "--json"},
                                 [] {
                                     in_thread("gp-ours", [] {
                                         const char bytes[100] = {};
                                         const int fd = ::open("/dev/null", O_WRONLY);
                                         for (int i = 0; i < 50; ++i)
                                             if (::write(fd, bytes, sizeof bytes) != 100) return;
                                         ::close(fd);
                                     });
                                 });
    BOOST_TEST(has(argument.out, slot(64, 128, 50)), argument.out + argument.err);
}

BOOST_AUTO_TEST_SUITE_END()

// A traced program chooses what its functions are called.
BOOST_AUTO_TEST_CASE(a_symbol_that_repeats_itself_without_end_stays) {
    const Ended ended =
        test::shell(cat("timeout 60 $GPUFS count syscalls:sys_enter_getppid by ustack -- ",
                        test::Nest::build_file("gpufs-work"), " long-symbol 3"));
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, LONG_SYMBOL), ended.out);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
