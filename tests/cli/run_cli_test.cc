#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "kernel/bpf/preemption.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;
using test::TempFile;

Ended run(std::vector<std::string> args) {
    args.insert(args.begin(), "run");
    return test::gpufs(args);
}

using test::has;

constexpr const char* kCountGetppid =
    ".map   n  percpu_hash key u32, value count, max 16\n"
    ".param which = 7 \"the key\"\n"
    ".stack v  { k u32, one u64 }\n"
    ".prog  p  tracepoint syscalls:sys_enter_getppid\n"
    "       r1 = which ll\n"
    "       *(u32 *)(r10 + v.k) = w1\n"
    "       r1 = map[n]\n"
    "       r2 = r10\n"
    "       r2 += v.k\n"
    "       call map_lookup_elem\n"
    "       if r0 == 0 goto first\n"
    "       r1 = *(u64 *)(r0 + 0)\n"
    "       r1 += 1\n"
    "       *(u64 *)(r0 + 0) = r1\n"
    "       goto out\n"
    "first: *(u64 *)(r10 + v.one) = 1\n"
    "       r1 = map[n]\n"
    "       r2 = r10\n"
    "       r2 += v.k\n"
    "       r3 = r10\n"
    "       r3 += v.one\n"
    "       r4 = 0\n"
    "       call map_update_elem\n"
    "out:   r0 = 0\n"
    "       exit\n";

const std::vector<std::string> kCallGetppid = {test::work_binary(), "calls", "100", "0"};

std::vector<std::string> with_command(std::vector<std::string> args,
                                      const std::vector<std::string>& more) {
    args.emplace_back("--");
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(run_command)

BOOST_AUTO_TEST_CASE(without_a_name_it_lists_the_shipped_monitors_and_their_parameters,
                     *ut::label("pure")) {
    const Ended list = run({});
    BOOST_TEST(list.status == 0);
    BOOST_TEST(has(list.out, "opens "));
    BOOST_TEST(has(list.out, "  min_us=10000 us  tell of waits"));
    BOOST_TEST(!has(list.out, "log2 "));
}

BOOST_AUTO_TEST_CASE(a_shipped_monitor_tells_what_a_command_opens) {
    const Ended ran = run(with_command({"opens", "--if", "filename.ustring == \"/etc/hostname\""},
                                       {"cat", "/etc/hostname"}));
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(has(ran.out, " /etc/hostname\n"), ran.out);
    BOOST_TEST(has(ran.err, "1 record, 0 lost\n"), ran.err);
    BOOST_TEST(has(ran.err, "cat ended with exit status 0\n"), ran.err);
}

// What not every machine has, by the monitor that needs it. Libraries are where the loader finds
// them.
struct Needed {
    std::string file, refusal;
    bool is_here(const Ended& ran) const {
        return file.empty() ? ran.status == 0 : std::filesystem::exists(file);
    }
};
const std::map<std::string, Needed> kNeeds = {
    {"cuda",
     {"",
      "gpufs: no library 'libcuda.so*' is where the dynamic loader looks, and no process has one "
      "mapped: 'cuda' cannot run here\n"
      "hint: '-- COMMAND' waits until COMMAND loads one\n"}},
    {"hip",
     {"",
      "gpufs: no library 'libamdhip64.so*' is where the dynamic loader looks, and no process has "
      "one mapped: 'hip' cannot run here\n"
      "hint: '-- COMMAND' waits until COMMAND loads one\n"}},
    {"ze",
     {"",
      "gpufs: no library 'libze_loader.so*' is where the dynamic loader looks, and no process has "
      "one mapped: 'ze' cannot run here\n"
      "hint: '-- COMMAND' waits until COMMAND loads one\n"}},
    {"vulkan",
     {"",
      "gpufs: no library 'libvulkan.so*' is where the dynamic loader looks, and no process has "
      "one mapped: 'vulkan' cannot run here\n"
      "hint: '-- COMMAND' waits until COMMAND loads one\n"}},
    {"amdgpu",
     {"/sys/kernel/tracing/events/amdgpu/amdgpu_cs_ioctl",
      "gpufs: this kernel has no event 'amdgpu:amdgpu_cs_ioctl': 'amdgpu' cannot run here\n"
      "hint: load the driver of the GPU; 'gpufs list --gpu' has its events\n"}},
    {"i915",
     {"/sys/kernel/tracing/events/i915/i915_request_add",
      "gpufs: this kernel has no event 'i915:i915_request_add': 'i915' cannot run here\n"
      "hint: load the driver of the GPU; 'gpufs list --gpu' has its events\n"}},
    {"xe",
     {"/sys/kernel/tracing/events/xe/xe_sched_job_exec",
      "gpufs: this kernel has no event 'xe:xe_sched_job_exec': 'xe' cannot run here\n"
      "hint: load the driver of the GPU; 'gpufs list --gpu' has its events\n"}},
    {"npu",
     {"/sys/kernel/tracing/events/vpu/job",
      "gpufs: this kernel has no event 'vpu:job': 'npu' cannot run here\n"
      "hint: load the driver of the GPU; 'gpufs list --gpu' has its events\n"}},
    {"nvidia",
     {"/sys/module/nvidia",
      "gpufs: this needs the module 'nvidia', which is not loaded\n"
      "hint: 'modprobe nvidia' loads it\n"}},
    {"vblank",
     {"/sys/kernel/tracing/events/drm/drm_vblank_event",
      "gpufs: this kernel has no event 'drm:drm_vblank_event': 'vblank' cannot run here\n"
      "hint: load the driver of the GPU; 'gpufs list --gpu' has its events\n"}},
    {"locks",
     {"/sys/kernel/tracing/events/lock/contention_begin",
      "gpufs: this kernel has no event 'lock:contention_begin': 'locks' cannot run here\n"}}};

BOOST_AUTO_TEST_CASE(every_shipped_monitor_passes_this_kernels_verifier) {
    for (const auto& file : std::filesystem::directory_iterator("bpf_asm")) {
        if (file.path().extension() != ".bpf") continue;
        // Libraries that not every machine has lie beside gpufs.
        test::Child::Setup setup;
        setup.argv = {test::gpufs_binary(), "run", file.path().stem().string(), "--dry-run"};
        const auto folder = std::filesystem::path(test::gpufs_binary()).parent_path();
        setup.environment = {cat("LD_LIBRARY_PATH=", (folder / "services").string())};
        const Ended ran = test::Child(setup).wait();
        // Its events are a module's, or came later, and nothing else is to be wrong.
        const auto needs = kNeeds.find(file.path().stem());
        if (needs != kNeeds.end() && !needs->second.is_here(ran)) {
            BOOST_TEST(ran.err == needs->second.refusal);
            BOOST_TEST(ran.status == 3);
            continue;
        }
        BOOST_TEST(ran.status == 0, file.path().string() + ran.err);
        BOOST_TEST(has(ran.out, " instructions"), ran.out);
    }
}

BOOST_AUTO_TEST_CASE(json_lines_hold_records_maps_and_the_summary) {
    const Ended ran =
        run(with_command({"opens", "--json", "--if", "filename.ustring == \"/etc/hostname\""},
                         {"cat", "/etc/hostname"}));
    BOOST_TEST(has(ran.out, "{\"record\":\"opened\",\"values\":{\"pid\":"), ran.out);
    BOOST_TEST(has(ran.out, "{\"summary\":{\"records\":1,\"lost\":0,"), ran.out);
}

BOOST_AUTO_TEST_CASE(parameters_reach_the_program_and_counts_come_at_the_end) {
    const TempFile monitor(kCountGetppid);
    const Ended ran = run(with_command({monitor.path(), "which=4711"}, kCallGetppid));
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.out.starts_with("n\n KEY  "), ran.out);
    BOOST_TEST(has(ran.out, "\n4711  "), ran.out);
    const Ended wrong = run({monitor.path(), "wich=1"});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(wrong.err ==
               "gpufs: this program has no parameter 'wich'\n"
               "hint: did you mean 'which'?\n");
    BOOST_TEST(run({"syscalls", "entries=4000000000", "--dry-run"}).err ==
               "gpufs: entries=4000000000 is no size for map 'inside'\n"
               "hint: a number of entries, 1 to 134217728\n");
    const Ended text = run({monitor.path(), "which=x"});
    BOOST_TEST(text.status == 2);
    BOOST_TEST(text.err ==
               "gpufs: which takes a number, not 'x'\n"
               "hint: decimal, or hexadecimal as in 0x1f\n");
}

BOOST_AUTO_TEST_CASE(monitors_are_listed_and_shown, *ut::label("pure")) {
    const Ended list = run({"--list"});
    BOOST_TEST(list.status == 0);
    BOOST_TEST(list.out == run({}).out);
    BOOST_TEST(list.out == run({"--all"}).out);
    const test::TempFile file;
    BOOST_TEST(run({"--all", "-o", file.path()}).out == "");
    BOOST_TEST(read_file(file.path()) == list.out);
    BOOST_TEST(has(list.out, "\n  min_us=100000 us  "), list.out);
    const Ended json = run({"--list", "--json"});
    BOOST_TEST(has(json.out,
                   "{\"monitor\":\"block-io\",\"summary\":\"latency of block devices\","
                   "\"parameters\":[{\"name\":\"min_us\",\"default\":100000,\"unit\":\"us\","),
               json.out);
    BOOST_TEST(json.out == run({"--json"}).out);
    BOOST_TEST(run({"execs", "--show"}).out == read_file("bpf_asm/execs.bpf"));
    const Ended nothing = run({"--duration", "1s"});
    BOOST_TEST(nothing.status == 2);
    BOOST_TEST(nothing.err ==
               "gpufs: run needs a monitor\nhint: 'gpufs run --list' has their names\n");
}

BOOST_AUTO_TEST_CASE(a_pid_is_that_of_a_process, *ut::label("pure")) {
    BOOST_TEST(run({"off-cpu", "-p", "99999999999"}).err ==
               "gpufs: --pid: no process has the number 99999999999\n");
    std::atomic<int> tid = 0;
    std::atomic<bool> is_over = false;
    std::thread other([&] {
        tid = static_cast<int>(::syscall(SYS_gettid));
        while (!is_over) ::usleep(1000);
    });
    while (tid == 0) ::usleep(1000);
    const Ended ran = run({"off-cpu", "-p", cat(tid.load())});
    is_over = true;
    other.join();
    BOOST_TEST(ran.status == 2);
    BOOST_TEST(ran.err == cat("gpufs: ", tid.load(), " is a thread of process ", ::getpid(),
                              "\nhint: a monitor watches whole processes: -p ", ::getpid(), "\n"));
}

BOOST_AUTO_TEST_CASE(a_process_is_the_monitors_own_parameter) {
    const TempFile monitor(
        ".param pid = 0\n"
        ".map n percpu_hash key u32, value count\n"
        ".lost full \"keys\"\n"
        ".stack v { key u32, one u64 }\n"
        ".prog p end\n"
        "  r1 = pid ll\n  *(u32 *)(r10 + v.key) = w1\n  *(u64 *)(r10 + v.one) = 1\n"
        "  r1 = map[n]\n  r2 = r10\n  r2 += v.key\n  r3 = r10\n  r3 += v.one\n  r4 = 0\n"
        "  call map_update_elem\n  r0 = 0\n  exit\n");
    const std::string pid = std::to_string(::getpid());
    const Ended ran = run({monitor.path(), "-p", pid, "--duration", "1ms"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.out ==
               cat("n\n", std::string(pid.size() - 3, ' '), "KEY  COUNT\n", pid, "      1\n"));
    const Ended none = run({"irqs", "-p", "1"});
    BOOST_TEST(none.status == 2);
    BOOST_TEST(none.err ==
               "gpufs: monitor 'irqs' has no parameter 'pid' for -p to set\n"
               "hint: --if 'pid == N' compares an event's own field pid where it has one, else the "
               "process that runs\n");
    BOOST_TEST(run({monitor.path(), "pid=1", "-p", "2"}).err ==
               "gpufs: a monitor watches one process, or all: give one PID\n");
}

BOOST_AUTO_TEST_CASE(a_condition_holds_back_what_it_excludes) {
    const TempFile monitor(kCountGetppid);
    const Ended ran =
        run(with_command({monitor.path(), "--if", "comm == \"nobody\""}, kCallGetppid));
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.out == "nothing counted\n");
    const Ended wrong = run({monitor.path(), "--if", "cpu == 1 && kmm == 2"});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(has(wrong.err, "has no field 'kmm'"), wrong.err);
    BOOST_TEST(has(wrong.err, "cpu == 1 && kmm == 2\n            ^~~\n"), wrong.err);
}

BOOST_AUTO_TEST_CASE(explain_says_how_and_which_alternative) {
    const TempFile monitor(
        ".prog a tracepoint sched:no_such | sched:sched_switch\n"
        "  r0 = 0\n  exit\n"
        ".prog b optional tracepoint drm:no_such\n"
        "  r0 = 0\n  exit\n"
        ".prog c begin\n"
        "  r0 = 0\n  exit\n");
    const Ended ran = run({monitor.path(), "--dry-run"});
    const std::string way =
        preempts_raw_tracepoints() ? "" : ", as raw tracepoint sched_switch: it reads no field";
    BOOST_TEST(
        ran.out ==
        cat("a: tracepoint sched:sched_switch", way,
            ", 2 instructions\n"
            "c: begin, 2 instructions\n"
            "a: took 'sched:sched_switch', because this kernel has no event 'sched:no_such'\n"
            "b: left out, because this kernel has no event 'drm:no_such'\n"));
}

BOOST_AUTO_TEST_CASE(functions_have_alternatives_too) {
    const TempFile monitor(
        ".prog a kprobe no_such_function | vfs_read\n"
        "  r0 = 0\n  exit\n"
        ".prog b optional kprobe no_such_function\n"
        "  r0 = 0\n  exit\n");
    const Ended ran = run({monitor.path(), "--dry-run"});
    if (!std::filesystem::exists("/sys/kernel/tracing/kprobe_events")) {
        BOOST_TEST(has(ran.err, "this kernel has no kprobes, nor any of its alternatives\n"));
        return;
    }
    BOOST_TEST(ran.out ==
               "a: kprobe vfs_read, 2 instructions\n"
               "a: took 'vfs_read', because this kernel has no function 'no_such_function'\n"
               "b: left out, because this kernel has no function 'no_such_function'\n");
}

BOOST_AUTO_TEST_CASE(begin_end_and_interval_programs_run_and_texts_arrive) {
    const TempFile monitor(
        ".licence \"GPL\"\n"
        ".param  who = \"world\" \"whom to greet\"\n"
        ".map    events ringbuf max 4096\n"
        ".record hello  \"HELLO\" { who str16, from u32 }\n"
        ".stack  v { out hello }\n"
        ".prog first begin\n  r1 = 1\n  call say\n  r0 = 0\n  exit\n"
        ".prog last end\n  r1 = 2\n  call say\n  r0 = 0\n  exit\n"
        ".prog tick interval 20ms\n  r1 = 3\n  call say\n  r0 = 0\n  exit\n"
        ".func say\n"
        "  *(u32 *)(r10 + v.out.id) = record(hello)\n"
        "  *(u32 *)(r10 + v.out.from) = w1\n"
        "  r1 = r10\n  r1 += v.out.who\n  r2 = 16\n  r3 = who ll\n"
        "  call probe_read_kernel_str\n"
        "  r1 = map[events]\n  r2 = r10\n  r2 += v.out\n  r3 = sizeof(hello)\n  r4 = 0\n"
        "  call ringbuf_output\n  r0 = 0\n  exit\n");
    const Ended ran = run({monitor.path(), "who=gpu", "--duration", "500ms"});
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string name = "HELLO gpu              ";
    BOOST_TEST(ran.out.starts_with(cat("      WHO                  FROM\n", name, "       1\n",
                                       name, "       3\n")),
               ran.out);
    BOOST_TEST(ran.out.ends_with(cat(name, "       2\n")), ran.out);
}

BOOST_AUTO_TEST_CASE(a_refused_program_shows_the_users_line_and_on_request_the_log) {
    const TempFile monitor(
        ".map  m hash key u32, value u64, max 8\n"
        ".stack v { k u32 }\n"
        ".prog p tracepoint sched:sched_switch\n"
        "  *(u32 *)(r10 + v.k) = 1\n"
        "  r1 = map[m]\n  r2 = r10\n  r2 += v.k\n"
        "  call map_lookup_elem\n"
        "  r1 = *(u64 *)(r0 + 0)\n"
        "  r0 = 0\n  exit\n");
    const Ended ran = run({monitor.path()});
    BOOST_TEST(ran.status == 1);
    BOOST_TEST(has(ran.err, cat("gpufs: ", monitor.path(),
                                ":9:3: error: the kernel's verifier refused this\n"
                                "  r1 = *(u64 *)(r0 + 0)\n  ^~~")),
               ran.err);
    BOOST_TEST(has(ran.err, "R0 invalid mem access 'map_value_or_null'"), ran.err);
    BOOST_TEST(!has(ran.err, "processed "), ran.err);
    BOOST_TEST(has(run({monitor.path(), "-v"}).err, "processed "));
}

BOOST_AUTO_TEST_CASE(mistakes_of_a_text_and_of_this_kernel_come_with_their_places) {
    const TempFile monitor(
        ".prog p tracepoint sched:sched_swich\n"
        "  r0 = 0\n  exit\n");
    const Ended ran = run({monitor.path()});
    BOOST_TEST(ran.status == 2);
    BOOST_TEST(ran.err == cat("gpufs: ", monitor.path(),
                              ":1:20: error: this kernel has no event 'sched:sched_swich'\n"
                              ".prog p tracepoint sched:sched_swich\n"
                              "                   ^~~~~~~~~~~~~~~~~\n"
                              "hint: did you mean 'sched:sched_switch'?\n"));
    BOOST_TEST(run({"opns"}).err ==
               "gpufs: there is no monitor 'opns'\nhint: did you mean 'opens'?\n");
}

BOOST_AUTO_TEST_CASE(root_runs_no_file_that_others_can_write, *ut::label("pure")) {
    const TempFile monitor(".prog p begin\n  r0 = 0\n  exit\n");
    ::chmod(monitor.path().c_str(), 0666);
    const Ended ran = run({monitor.path()});
    BOOST_TEST(ran.status == 1);
    BOOST_TEST(has(ran.err, "can be written by everybody"), ran.err);
}

BOOST_AUTO_TEST_CASE(who_may_not_trace_is_told_so, *ut::label("pure")) {
    const Ended ran = test::gpufs_as_nobody({"run", "opens"});
    BOOST_TEST(ran.status == 3, ran.err);
}

// `argv` runs the monitor with --explain.
void check_sigint_ends(std::vector<std::string> argv) {
    Child::Setup setup;
    setup.argv = std::move(argv);
    Child child(setup);
    BOOST_TEST(child.wait_for_error("instructions", 60s));
    child.send(SIGINT);
    const Ended ended = child.wait();
    BOOST_TEST(ended.signal == SIGINT);
    BOOST_TEST(has(ended.err, "0 lost"), ended.err);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_it_with_its_report) {
    const TempFile monitor(kCountGetppid);
    check_sigint_ends({test::gpufs_binary(), "run", "--explain", monitor.path()});
}

// As a shell without job control starts what is in the background.
BOOST_AUTO_TEST_CASE(sigint_ends_it_also_where_it_was_ignored) {
    const TempFile monitor(kCountGetppid);
    check_sigint_ends({"/bin/sh", "-c", "trap '' INT; exec \"$0\" run --explain \"$1\"",
                       test::gpufs_binary(), monitor.path()});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
