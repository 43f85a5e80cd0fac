#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <ctime>
#include <optional>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/told.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

// `gpufs watch --why`, held against work whose truth is known. Bounds do not depend on how busy the
// machine is: what sleeps at least so long is blocked at least so long.
namespace gpufs {
namespace {

using test::Ended;
using test::gpu_work;
using test::has;
using test::Json;
using test::kGpuWork;

constexpr long long kMs = 1'000'000;

// Empty for null.
std::string text_of(const Json& value) {
    return value.kind == Json::Kind::null ? "" : value.text;
}

// What it told of the only process, or of one of several intervals.
class Why {
public:
    explicit Why(Json told) : told_(std::move(told)) {
        long long sum = 0;
        for (const Json& part : parts()) sum += part["ns"].number();
        BOOST_TEST(sum == ns());
    }
    long long ns() const { return told_["ns"].number(); }
    long long during_ns() const { return told_["during_ns"].number(); }
    long long threads() const { return told_["threads"].number(); }
    const std::vector<Json>& parts() const { return told_["parts"].items; }

    // Of the parts of this kind with these values.
    long long of(const std::string& kind,
                 const std::map<std::string, std::string>& wanted = {}) const {
        long long sum = 0;
        for (const Json& part : parts()) {
            bool fits = part["part"].text == kind;
            for (const auto& [name, value] : wanted) fits = fits && text_of(part[name]) == value;
            if (fits) sum += part["ns"].number();
        }
        return sum;
    }

private:
    Json told_;
};

std::vector<Why> whys_of(const Ended& ended) {
    BOOST_TEST(ended.status == 0, ended.err);
    std::vector<Why> found;
    for (const Json& line : test::parse_json_lines(ended.out))
        if (line.members.contains("why")) found.emplace_back(line);
    BOOST_TEST_REQUIRE(!found.empty());
    return found;
}

Why why_of(const std::vector<std::string>& command) {
    std::vector<std::string> words{"watch", "--why", "--json", "--"};
    words.insert(words.end(), command.begin(), command.end());
    const Why told = whys_of(test::gpufs(words)).front();
    BOOST_TEST(told.ns() <= told.threads() * told.during_ns());
    return told;
}

std::vector<std::string> why_work(std::vector<std::string> words) {
    words.insert(words.begin(), test::work_binary());
    return words;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(why)

BOOST_AUTO_TEST_CASE(what_a_command_slept_it_was_blocked) {
    const Why told = why_of(why_work({"sleeps", "4", "30"}));
    BOOST_TEST(told.threads() == 1);
    BOOST_TEST(told.of("blocked") >= 4 * 30 * kMs);
    BOOST_TEST(told.of("cpu") > 0);
    long long slept = 0;
    for (const Json& part : told.parts()) {
        const Json& where = part["where"];
        if (!where.items.empty() && where.items.front().text == "do_nanosleep")
            slept += part["ns"].number();
    }
    BOOST_TEST(slept >= 4 * 30 * kMs);
}

// 100 ms of CPU time in each of two processes, a little of which goes before the exec.
BOOST_AUTO_TEST_CASE(what_a_command_worked_it_was_on_a_cpu) {
    const Why told = why_of(why_work({"spin", "100", "2"}));
    BOOST_TEST(told.threads() == 2);
    BOOST_TEST(told.of("cpu") >= 150 * kMs);
}

BOOST_AUTO_TEST_CASE(all_that_a_command_starts_is_one_account) {
    const Why told = why_of({"sh", "-c", "sleep 0.2 & sleep 0.2 & sleep 0.2; wait"});
    BOOST_TEST(told.threads() == 4);
    BOOST_TEST(told.of("blocked") >= 3 * 200 * kMs);
}

// The account begins when it is first looked at, also of threads that never run meanwhile.
BOOST_AUTO_TEST_CASE(a_process_that_only_sleeps_was_blocked_all_the_time) {
    const test::Worker sleeper([] {
        ::pause();
        return 0;
    });
    BOOST_TEST_REQUIRE(sleeper.reaches_state('S'));
    const Ended ended =
        test::gpufs({"watch", "--why", "-p", cat(sleeper.pid()), "--duration", "300ms", "--json"});
    const Why told = whys_of(ended).front();
    BOOST_TEST(told.threads() == 1);
    BOOST_TEST(told.ns() >= 300 * kMs);
    BOOST_TEST(told.ns() <= told.during_ns());
    BOOST_TEST(told.of("blocked") == told.ns());
}

BOOST_AUTO_TEST_CASE(a_thread_that_has_ended_is_not_in_the_account, *ut::label("pure")) {
    test::Worker worker(test::end_first_thread);
    worker.start();
    BOOST_TEST_REQUIRE(worker.reaches_state('Z'));
    const Why told = whys_of(test::gpufs({"watch", "--why", "-p", cat(worker.pid()), "--duration",
                                          "50ms", "--json"}))
                         .front();
    BOOST_TEST(told.threads() == 1);
    BOOST_TEST(told.ns() <= told.during_ns());
}

bool has_bpf_map_or_ended(int pid) {
    constexpr int kMostFds = 256;
    for (int fd = 0; fd < kMostFds; ++fd)
        if (proc::file_of(pid, fd) == "anon_inode:bpf-map") return true;
    const auto stat = proc::stat(pid);
    return !stat || stat->has_ended();
}

// The process is killed when gpufs has found it, and has begun to load its program; in the rare
// case that this is loaded by then, the process was seen.
BOOST_AUTO_TEST_CASE(a_process_that_ends_before_it_is_watched_has_no_account, *ut::label("pure")) {
    constexpr int kTries = 50;
    bool is_told = false;
    for (int i = 0; i < kTries && !is_told; ++i) {
        std::optional<test::Worker> sleeper(std::in_place, [] {
            ::pause();
            return 0;
        });
        const int pid = sleeper->pid();
        test::Child child(
            {{test::gpufs_binary(), "watch", "--why", "-p", cat(pid)}, {}, false, false, {}});
        while (!has_bpf_map_or_ended(child.pid())) ::usleep(100);
        sleeper.reset();
        const Ended ended = child.wait();
        is_told = has(ended.err, cat(pid, " ended before it could be watched\n"));
        BOOST_TEST(ended.status == (is_told ? 1 : 0), ended.err);
        BOOST_TEST(has(ended.out, cat("-", pid, ": 1 thread, ")) == !is_told, ended.out);
        BOOST_TEST(!has(ended.out, ": 0 threads"), ended.out);
    }
    BOOST_TEST(is_told);
}

BOOST_AUTO_TEST_CASE(intervals_are_told_one_by_one, *ut::label("pure")) {
    test::Worker sleeper([] {
        for (;;) {
            const timespec time{0, 20 * kMs};
            ::nanosleep(&time, nullptr);
        }
        return 0;
    });
    sleeper.start();
    const Ended ended = test::gpufs({"watch", "--why", "-p", cat(sleeper.pid()), "--interval",
                                     "100ms", "--duration", "450ms", "--json"});
    const std::vector<Why> all = whys_of(ended);
    BOOST_TEST(all.size() >= 2u);
    long long sum = 0, during = 0;
    for (const Why& told : all) {
        sum += told.ns();
        during += told.during_ns();
    }
    BOOST_TEST(sum >= 450 * kMs);
    BOOST_TEST(sum <= during);
}

BOOST_AUTO_TEST_CASE(each_of_several_processes_has_lines_of_its_own, *ut::label("pure")) {
    const auto sleeps = [] {
        ::pause();
        return 0;
    };
    const test::Worker one(sleeps), other(sleeps);
    const Ended ended = test::gpufs(
        {"watch", "--why", "-p", cat(one.pid()), "-p", cat(other.pid()), "--duration", "50ms"});
    BOOST_TEST(ended.status == 0, ended.err);
    for (const int pid : {one.pid(), other.pid()})
        BOOST_TEST(has(ended.out, cat("-", pid, ": 1 thread, ")), ended.out);
}

BOOST_AUTO_TEST_CASE(it_ends_with_the_last_process, *ut::label("pure")) {
    std::optional<test::Worker> sleeper(std::in_place, [] {
        ::pause();
        return 0;
    });
    test::Child gpufs(
        {{test::gpufs_binary(), "watch", "--why", "-p", cat(sleeper->pid()), "--interval", "20ms"},
         {},
         false,
         false,
         {}});
    BOOST_TEST(gpufs.wait_for_output(": 1 thread, ", std::chrono::minutes(1)));
    sleeper.reset();
    BOOST_TEST(gpufs.wait().status == 0);
}

BOOST_AUTO_TEST_CASE(what_does_not_go_with_it_is_said, *ut::label("pure")) {
    const auto refusal = [](std::vector<std::string> words) {
        words.insert(words.begin(), {"watch", "--why"});
        const Ended ended = test::gpufs(words);
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.out == "");
        return ended.err;
    };
    BOOST_TEST(refusal({}) ==
               "gpufs: --why needs processes to tell of\nhint: -p PID, or -- COMMAND\n");
    BOOST_TEST(refusal({"drm", "-p", "1"}) ==
               "gpufs: 'drm' is one word too many\nhint: --why takes no monitor: it looks at "
               "processes, -p PID or -- COMMAND\n");
    BOOST_TEST(refusal({"--top", "-p", "1"}) == "gpufs: --why does not go with --top\n");
    BOOST_TEST(refusal({"-p", "1", "--", "true"}) == "gpufs: -p does not go with a COMMAND\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(why_gpu, *ut::precondition(test::has_toy_gpu))

// The ring works at least so long on each job, and each is waited for from its begin.
BOOST_AUTO_TEST_CASE(a_wait_for_its_own_jobs_is_time_on_their_ring) {
    const Why told = why_of(gpu_work({"waits", "4", "50000"}));
    const long long on_ring = told.of("runs", {{"timeline", "compute"}, {"comm", kGpuWork}});
    BOOST_TEST(on_ring > 0);
    BOOST_TEST(on_ring + told.of("queued", {{"timeline", "compute"}}) <= told.ns());
    BOOST_TEST(told.of("runs") == on_ring);
}

BOOST_AUTO_TEST_CASE(a_job_behind_those_of_another_process_says_so) {
    const Why told = why_of(gpu_work({"behind", "40000"}));
    const long long queued = told.of("queued", {{"timeline", "gfx"}});
    BOOST_TEST(queued > 0);
    BOOST_TEST(told.of("queued", {{"timeline", "gfx"}, {"comm", kGpuWork}}) == queued);
    BOOST_TEST(told.of("runs", {{"timeline", "gfx"}, {"comm", kGpuWork}}) > 0);
}

BOOST_AUTO_TEST_CASE(a_job_that_depends_on_another_is_behind_none) {
    const Why told = why_of(gpu_work({"chain", "2", "50000"}));
    const long long queued = told.of("queued", {{"timeline", "sdma"}});
    BOOST_TEST(queued > 0);
    BOOST_TEST(told.of("queued", {{"timeline", "sdma"}, {"comm", ""}}) == queued);
}

BOOST_AUTO_TEST_CASE(a_move_of_a_buffer_is_one_with_its_job) {
    const Why told = why_of(gpu_work({"moves", "3", "30000"}));
    BOOST_TEST(told.of("moves", {{"timeline", ""}}) >= 3 * 30 * kMs);
    BOOST_TEST(told.of("moves", {{"timeline", "sdma"}}) > 0);
    BOOST_TEST(told.of("runs") + told.of("queued") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(why_drm, *ut::precondition(test::has_vgem_and_virtio))

BOOST_AUTO_TEST_CASE(a_fence_that_is_no_jobs_is_told_with_its_driver) {
    const Why told = why_of(test::drm_work({"vgem", "3", "50000"}));
    BOOST_TEST(told.of("fence", {{"driver", "vgem"}, {"comm", test::kDrmWork}}) > 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(recorded_why, *ut::label("pure"))

// A shell's `sleep 0.002`, of whose records each is known: its first is its switch off a CPU, at
// 37376.755320125; it ends at .758811948.
BOOST_AUTO_TEST_CASE(a_recorded_process_is_told_to_the_nanosecond) {
    const Ended ended = test::gpufs(
        {"watch", "--why", "--json", "-i", "tests/data/trace_dat/sched-6.18.dat", "-p", "13502"});
    const Why told = whys_of(ended).front();
    BOOST_TEST(told.threads() == 1);
    BOOST_TEST(told.ns() == 758'811'948 - 755'320'125);
    BOOST_TEST(told.of("ready") == (755'368'478 - 755'320'125) + (758'782'493 - 758'769'438));
    BOOST_TEST(told.of("cpu") == (756'703'978 - 755'368'478) + (758'811'948 - 758'782'493));
    BOOST_TEST(told.of("blocked") == 758'769'438 - 756'703'978);
    BOOST_TEST(has(ended.err, "no events of fences here: waits for GPUs are told as blocked\n"),
               ended.err);
    BOOST_TEST(has(ended.err, "a thread is told from its first event on\n"), ended.err);
    BOOST_TEST(!has(ended.err, "dma_fence_init"), ended.err);  // one line for all of fences
    BOOST_TEST(!has(ended.err, "left out"), ended.err);
}

const std::vector<std::string> kBehind = {
    "watch", "--why", "--json", "-i", "tests/data/trace_dat/why-6.12.dat", "-p", "186"};

// Blocked at 18.807217626, behind process 187's last job, which ended at .989577158; its own ended
// at 19.009707381, and it was woken at .762343.
BOOST_AUTO_TEST_CASE(a_process_that_was_not_recorded_is_told) {
    const auto ran = [](const std::string& pids) {
        return test::gpufs(
            {"watch", "--why", "-i", "tests/data/trace_dat/sched-6.18.dat", "-p", pids});
    };
    const std::string note = "no record here is of process 99999\n";
    BOOST_TEST(has(ran("13502,99999").err, note));
    BOOST_TEST(!has(ran("13502").err, "no record here"));
}

// perf records names as processes get them.
BOOST_AUTO_TEST_CASE(a_process_of_a_perf_data_has_its_name) {
    const auto told = [](const std::string& pid) {
        return test::gpufs({"watch", "--why", "-i", "tests/data/perf_data/small.data", "-p", pid})
            .out;
    };
    BOOST_TEST(told("6784").starts_with("true-6784: 1 thread, "), told("6784"));
    BOOST_TEST(told("99999") == "");
}

BOOST_AUTO_TEST_CASE(a_recorded_wait_for_a_job_is_split_by_what_the_ring_did) {
    const Why told = whys_of(test::gpufs(kBehind)).front();
    const long long queued = 989'577'158 - 807'217'626;
    BOOST_TEST(told.of("queued", {{"timeline", "gfx"}, {"pid", "187"}}) == queued);
    BOOST_TEST(told.of("queued") == queued);
    const long long runs = 1'009'707'381 - 989'577'158;
    BOOST_TEST(told.of("runs", {{"timeline", "gfx"}, {"pid", "186"}}) == runs);
    BOOST_TEST(told.of("runs") == runs);
    BOOST_TEST(told.of("fence", {{"pid", "186"}}) == 762'343 - 707'381);
    // The device's own times: the job was worked on no longer than from its turn to its end.
    const auto jobs = test::gpu_jobs(read_file("tests/data/trace_dat/why-6.12.truth"));
    BOOST_TEST_REQUIRE(jobs.size() == 1u);
    BOOST_TEST(runs <= static_cast<long long>(jobs[0].ended_ns - jobs[0].began_ns) + kMs);
}

// What is under way when an interval ends is told as far as it went.
BOOST_AUTO_TEST_CASE(recorded_intervals_add_up_to_the_whole) {
    const Why whole = whys_of(test::gpufs(kBehind)).front();
    std::vector<std::string> words = kBehind;
    words.insert(words.end(), {"--interval", "50ms"});
    const std::vector<Why> all = whys_of(test::gpufs(words));
    BOOST_TEST(all.size() > 10u);
    for (const char* part : {"cpu", "ready", "blocked", "fence", "queued", "runs"}) {
        long long sum = 0;
        for (const Why& told : all) sum += told.of(part);
        BOOST_TEST(sum == whole.of(part), part);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
