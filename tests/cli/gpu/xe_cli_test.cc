#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitor xe, held against what a driver without a device was told to do.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::kGame;
using test::only;
using test::Told;

constexpr const char* kDevice = "0000:03:00.0";

// EVENT FIELDS..., on the device.
std::string event(const std::string& name, const std::string& fields) {
    return cat("xe_", name, " dev=", kDevice, ' ', fields, '\n');
}
std::string sleep_us(int us) {
    return cat("sleep ", us, '\n');
}

// Two queues of the same number on two GTs. On one, three jobs whose fences are signalled; on the
// other one that is freed without that.
std::string finished_jobs() {
    const std::string render = "class=0 gt_id=0 guc_id=5", video = "class=1 gt_id=1 guc_id=5";
    std::string lines = event("exec_queue_create", render) + event("exec_queue_create", video) +
                        event("exec_queue_register", render);
    for (int job = 1; job <= 3; ++job) {
        const std::string of = cat("guc_id=5 seqno=", job, " fence=0x10", job, '0');
        lines += event("sched_job_exec", of) + sleep_us(20'000) + event("sched_job_run", of);
        if (job == 1)
            lines += event("exec_queue_scheduling_enable", render) + sleep_us(5'000) +
                     event("exec_queue_scheduling_done", render);
        else
            lines += event("exec_queue_submit", render);
        lines += sleep_us(30'000) +
                 event("hw_fence_signal", cat("ctx=77 seqno=", job, " fence=0x10", job, '0')) +
                 event("sched_job_free", of);
    }
    const std::string of = "guc_id=5 seqno=1 fence=0x2010";
    return lines + event("sched_job_exec", of) + event("sched_job_run", of) +
           event("exec_queue_submit", video) + sleep_us(10'000) +
           event("hw_fence_signal", "fence=0x7777") + event("sched_job_free", of);
}

// One job each that is given up, that is queued and that is at the GPU at the end; one that takes
// too long, and one of before.
std::string other_jobs() {
    const std::string compute = "class=5 gt_id=0 guc_id=6";
    const std::string late = "guc_id=6 seqno=4 fence=0x3040";
    return event("sched_job_exec", "guc_id=6 seqno=1 fence=0x3010") +
           event("sched_job_free", "guc_id=6 seqno=1 fence=0x3010") +
           event("sched_job_exec", "guc_id=6 seqno=2 fence=0x3020") +
           event("sched_job_exec", "guc_id=6 seqno=3 fence=0x3030") +
           event("sched_job_run", "guc_id=6 seqno=3 fence=0x3030") +
           event("exec_queue_submit", compute) + event("sched_job_exec", late) +
           event("sched_job_run", late) + event("exec_queue_submit", compute) +
           event("sched_job_timedout", late) + event("sched_job_set_error", late + " error=-62") +
           event("hw_fence_signal", "fence=0x3040") +
           event("sched_job_ban", "guc_id=9 seqno=8 fence=0x9990");
}

// What becomes of queues: the one with videos is destroyed, one was there before.
std::string queue_states() {
    const std::string render = "class=0 gt_id=0 guc_id=5", video = "class=1 gt_id=1 guc_id=5";
    return event("exec_queue_stop", render) + event("exec_queue_resubmit", render) +
           event("exec_queue_reset", render) + event("exec_queue_kill", video) +
           event("exec_queue_scheduling_disable", video) + sleep_us(5'000) +
           event("exec_queue_scheduling_done", video) + event("exec_queue_deregister", video) +
           event("exec_queue_deregister_done", video) + event("exec_queue_destroy", video) +
           event("exec_queue_kill", video) +
           event("exec_queue_memory_cat_error", "class=3 gt_id=0 guc_id=77");
}

void check_xe_jobs(const Told& told) {
    const auto took = [&](const char* engine, const char* gt, const char* step,
                          const char* column) {
        return told.sum("took", {{"dev", kDevice}, {"gt", gt}, {"class", engine}, {"step", step}},
                        column);
    };
    for (const char* step : {"exec to run", "run to signalled", "exec to signalled"})
        BOOST_TEST(took("render", "0", step, "count") == 3, step);
    BOOST_TEST(took("render", "0", "exec to run", "min") >= 20'000);
    BOOST_TEST(took("render", "0", "run to signalled", "min") >= 30'000);
    BOOST_TEST(took("render", "0", "exec to signalled", "min") >= 50'000);
    for (const char* step : {"exec to run", "run to freed", "exec to freed"})
        BOOST_TEST(took("video", "1", step, "count") == 1, step);
    BOOST_TEST(took("video", "1", "run to freed", "min") >= 10'000);
    for (const char* step : {"exec to run", "run to signalled", "exec to signalled"})
        BOOST_TEST(took("compute", "0", step, "count") == 1, step);
    BOOST_TEST(told.sum("took", {{"comm", kGame}}, "count") == 9 + 3 + 3);
    const auto left = [&](const char* engine, const char* state) {
        return told.sum("left", {{"comm", kGame}, {"class", engine}, {"state", state}}, "count");
    };
    BOOST_TEST(left("-", "given up") == 1);
    BOOST_TEST(left("-", "queued") == 1);
    BOOST_TEST(left("compute", "at the GPU") == 1);
    BOOST_TEST(told.rows("left", {}).size() == 3u);
    const auto failed = [&](const char* comm, const char* engine, const char* what,
                            const char* error) {
        return told.sum("failed",
                        {{"comm", comm}, {"class", engine}, {"what", what}, {"error", error}},
                        "count");
    };
    BOOST_TEST(failed(kGame, "compute", "TIMEOUT", "0") == 1);
    BOOST_TEST(failed(kGame, "compute", "ERROR", "ETIME") == 1);
    BOOST_TEST(failed("-", "-", "BANNED", "0") == 1);
    BOOST_TEST(told.rows("failed", {}).size() == 3u);
    BOOST_TEST(told.records("event", {{"what", "TIMEOUT"}, {"seqno", "4"}}).size() == 1u);
    BOOST_TEST(told.records("event", {{"what", "BANNED"}, {"guc_id", "9"}}).size() == 1u);
}

void check_queues(const Told& told) {
    const auto lives = [&](const char* comm, const char* engine, const char* what) {
        return told.sum("lives", {{"comm", comm}, {"class", engine}, {"what", what}}, "count");
    };
    for (const char* what : {"created", "registered", "enabled", "stopped", "resubmitted", "RESET",
                             "alive at the end"})
        BOOST_TEST(lives(kGame, "render", what) == 1, what);
    for (const char* what : {"created", "disabled", "killed", "destroyed"})
        BOOST_TEST(lives(kGame, "video", what) == 1, what);
    BOOST_TEST(lives("-", "video", "killed") == 1);  // by then it is another's, or nobody's
    BOOST_TEST(lives("-", "copy", "MEMORY ERROR") == 1);
    BOOST_TEST(
        told.records("trouble", {{"what", "RESET"}, {"comm", kGame}, {"class", "render"}}).size() ==
        1u);
    BOOST_TEST(told.records("trouble", {{"what", "MEMORY ERROR"}, {"guc_id", "77"}}).size() == 1u);
    const auto answers = [&](const char* gt, const char* what, const char* column) {
        return told.sum("answers", {{"dev", kDevice}, {"gt", gt}, {"what", what}}, column);
    };
    BOOST_TEST(answers("0", "enable", "count") == 1);
    BOOST_TEST(answers("0", "enable", "min") >= 5'000);
    BOOST_TEST(answers("1", "disable", "min") >= 5'000);
    BOOST_TEST(answers("1", "deregister", "count") == 1);
}

// The second address space is whose who binds there first.
std::string memory() {
    const auto vma = [](const char* what, int space, int pages) {
        return event(cat("vma_", what),
                     cat("asid=", space, " start=65536 end=", 65535 + pages * 4096));
    };
    const std::string moved = cat(" bo=0x1 device_id=", kDevice, ' ');
    return event("vm_create", "vm=0x10 asid=7") + event("vm_create", "vm=0x20 asid=0") +
           vma("bind", 7, 16) + vma("bind", 8, 4) + vma("bind", 8, 2) + vma("unbind", 7, 16) +
           vma("pagefault", 7, 1) + vma("pf_bind", 7, 1) + vma("rebind_exec", 8, 2) +
           vma("rebind_worker", 8, 3) + vma("evict", 8, 5) + vma("evict", 9, 6) +
           vma("invalidate", 8, 7) + vma("userptr_invalidate", 8, 8) +
           event("vm_free", "vm=0x20 asid=8") + vma("evict", 8, 9) +
           event("vm_kill", "vm=0x10 asid=7") + event("vm_ops_fail", "vm=0x10 asid=7") +
           "xe_bo_move" + moved +
           "size=1048576 new_placement_name=gtt old_placement_name=vram0\n"
           "xe_bo_move" +
           moved +
           "size=4096 new_placement_name=vram0 old_placement_name=system move_lacks_source=1\n" +
           event("bo_cpu_fault", "size=4096") + event("bo_cpu_fault", "size=8192");
}

void check_xe_memory(const Told& told) {
    const auto pages = [&](const char* owner, const char* what) {
        return told.sum("bindings", {{"comm", kGame}, {"owner", owner}, {"what", what}}, "sum") /
               4096;
    };
    BOOST_TEST(pages(kGame, "bind") == 22);
    BOOST_TEST(pages(kGame, "unbind") == 16);
    BOOST_TEST(pages(kGame, "GPU page fault") == 1);
    BOOST_TEST(pages(kGame, "bound for a fault") == 1);
    BOOST_TEST(pages(kGame, "bound again for a job") == 2);
    BOOST_TEST(pages(kGame, "bound again by a worker") == 3);
    BOOST_TEST(pages(kGame, "evicted") == 5);
    BOOST_TEST(pages("-", "evicted") == 6 + 9);
    BOOST_TEST(pages(kGame, "invalidated") == 7);
    BOOST_TEST(pages(kGame, "invalidated: memory of the process") == 8);
    const auto vms = [&](const char* what) {
        return told.sum("vms", {{"comm", kGame}, {"what", what}}, "count");
    };
    BOOST_TEST(vms("created") == 2);
    BOOST_TEST(vms("killed") == 1);
    BOOST_TEST(vms("bind failed") == 1);
    const auto moved = [&](const char* from, const char* to) {
        return told.sum("moved", {{"comm", kGame}, {"from", from}, {"to", to}}, "sum");
    };
    BOOST_TEST(moved("vram0", "gtt") == 1048576);
    BOOST_TEST(moved("-", "vram0") == 4096);
    BOOST_TEST(told.sum("faults", {{"comm", kGame}}, "count") == 2);
}

// What the kernel calls TLB invalidations, by its series, and what only the new one has.
bool is_new(const std::string& series) {
    return series == "7.3";
}

std::string guc(const std::string& series) {
    const std::string tlb = is_new(series) ? "tlb_inval_fence_" : "gt_tlb_invalidation_fence_";
    return event(tlb + "send", "fence=0x5000 seqno=3") + sleep_us(10'000) +
           event(tlb + "signal", "fence=0x5000 seqno=3") +
           event(tlb + "send", "fence=0x5010 seqno=4") +
           event(tlb + "timeout", "fence=0x5010 seqno=4") +
           event(tlb + "signal", "fence=0x5010 seqno=4") +
           event("guc_ctb_h2g", "gt_id=1 action=0x1000 len=3") +
           event("guc_ctb_h2g", "gt_id=1 action=0x1000 len=4") +
           event("guc_ctb_g2h", "gt_id=1 action=0x1002 len=2") +
           event("guc_ctb_g2h", "gt_id=0 action=0x1234 len=1") +
           event("guc_ct_h2g_flow_control", "size=100 space=1 len=3");
}

void check_guc(const Told& told) {
    const auto flushes = [&](const char* what, const char* column) {
        return told.sum("flushes", {{"dev", kDevice}, {"what", what}}, column);
    };
    BOOST_TEST(flushes("done", "count") == 1);
    BOOST_TEST(flushes("done", "min") >= 10'000);
    BOOST_TEST(flushes("timed out", "count") == 1);
    BOOST_TEST(told.records("timeout", {{"dev", kDevice}, {"seqno", "4"}}).size() == 1u);
    const auto bytes = [&](const char* gt, const char* way, const char* action) {
        return told.sum("messages", {{"gt", gt}, {"way", way}, {"action", action}}, "sum");
    };
    BOOST_TEST(bytes("1", "to the GuC", "work in a queue") == 28);
    BOOST_TEST(bytes("1", "from the GuC", "scheduling is on or off") == 8);
    BOOST_TEST(bytes("0", "from the GuC", "4660") == 4);
    BOOST_TEST(told.sum("waits", {{"way", "to the GuC"}}, "count") == 1);
}

// Groups of queues and the creation of buffers, which Linux 6.12 does not tell.
std::string news(const std::string& series) {
    if (!is_new(series)) return {};
    return event("exec_queue_create_multi_queue", "class=5 gt_id=0 guc_id=70000 primary=6") +
           event("exec_queue_cgp_context_error", "class=5 gt_id=0 guc_id=8") +
           event("guc_uncorrectable_error", "class=5 gt_id=0 guc_id=8") +
           event("bo_create", "size=8192 flags=0x1005") + event("bo_create", "size=4096 flags=7");
}

void check_news(const Told& told, const std::string& series) {
    if (!is_new(series)) return;
    const auto lives = [&](const char* comm, const char* what) {
        return told.sum("lives", {{"comm", comm}, {"class", "compute"}, {"what", what}}, "count");
    };
    BOOST_TEST(lives(kGame, "created") == 1);
    BOOST_TEST(lives(kGame, "alive at the end") == 1);
    BOOST_TEST(lives("-", "GROUP ERROR") == 1);
    BOOST_TEST(lives("-", "UNCORRECTABLE ERROR") == 1);
    const auto created = [&](const char* asked) {
        return told.sum("created", {{"comm", kGame}, {"asked", asked}}, "sum");
    };
    BOOST_TEST(created("VRAM") == 8192);
    BOOST_TEST(created("VRAM or system") == 4096);
}

boost::test_tools::assertion_result has_xe_events(ut::test_unit_id unit) {
    auto found = test::has_toy_driver(unit);
    if (!found || file_exists("/sys/kernel/tracing/events/xe")) return found;
    boost::test_tools::assertion_result none(false);
    none.message() << "needs a kernel with the driver xe";
    return none;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(xe, *ut::precondition(has_xe_events))

BOOST_AUTO_TEST_CASE(xe_tells_what_the_driver_did) {
    const std::string series = test::kernel_series();
    const Told told({"xe", "lines=1", "guc=1", "min_us=60s"},
                    test::driver_work({finished_jobs(), other_jobs(), queue_states(), memory(),
                                       guc(series), news(series)}));
    check_xe_jobs(told);
    check_queues(told);
    check_xe_memory(told);
    check_guc(told);
    check_news(told, series);
    BOOST_TEST(told.records("event", {{"what", "EXEC"}}).size() == 8u);
    for (const char* what : {"RUN", "DONE"})
        BOOST_TEST(told.records("event", {{"what", what}, {"class", "render"}}).size() == 3u, what);
    BOOST_TEST(told.records("moves", {{"from", "vram0"}, {"to", "gtt"}}).size() == 1u);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// The same, recorded in guests.
BOOST_AUTO_TEST_SUITE(recorded_xe, *ut::label("pure"))

Told watch_recording(const std::string& series, std::vector<std::string> words) {
    words.insert(words.begin(), {"watch", "xe"});
    words.insert(words.end(), {"--json", "-i", cat("tests/data/trace_dat/xe-", series, ".dat")});
    return Told(test::gpufs(words));
}

const std::vector<std::string> kSeries = {"6.12", "7.3"};

BOOST_DATA_TEST_CASE(xe_over_a_recording_tells_what_the_driver_did, ut::data::make(kSeries),
                     series) {
    const Told told = watch_recording(series, {"guc=1", "min_us=60s"});
    check_xe_jobs(told);
    check_queues(told);
    check_xe_memory(told);
    check_guc(told);
    check_news(told, series);
    // Which GT a job is for that was not run, jobs tell since a later kernel.
    const char* gt = is_new(series) ? "0" : "-";
    BOOST_TEST(told.sum("left", {{"gt", gt}, {"state", "queued"}}, "count") == 1);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(xe_tells_in_each_line_of_a_job_what_is_known_of_its_times) {
    const Told told = watch_recording("7.3", {"lines=1", "min_us=60s"});
    const std::vector<Json> runs = told.records("event", {{"what", "RUN"}, {"class", "render"}});
    BOOST_TEST(runs.size() == 3u);
    for (const Json& run : runs) {
        BOOST_TEST(run["wait_us"].number() >= 20'000);
        BOOST_TEST(run["run_us"].number() == 0);
    }
    const Json late = only(told.records("event", {{"what", "TIMEOUT"}}));
    BOOST_TEST(late["wait_us"].number() > 0);
    BOOST_TEST(late["run_us"].number() > 0);
}

BOOST_AUTO_TEST_CASE(xe_tells_of_slow_jobs_and_counts_messages_only_where_asked) {
    const Told told = watch_recording("7.3", {"min_us=45000"});
    BOOST_TEST(told.records("event", {{"what", "SLOW"}, {"class", "render"}}).size() == 3u);
    BOOST_TEST(told.records("event", {{"what", "SLOW"}}).size() == 3u);
    BOOST_TEST(told.records("event", {{"what", "DONE"}}).empty());
    BOOST_TEST(told.records("moves", {}).empty());
    BOOST_TEST(told.rows("messages", {}).empty());
}

BOOST_AUTO_TEST_CASE(xe_asks_a_condition_where_a_process_pushes_a_job) {
    const Told told = watch_recording("7.3", {"--if", "guc_id == 5"});
    BOOST_TEST(told.sum("took", {{"comm", kGame}}, "count") == 9 + 3);
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.rows("failed", {}).empty());
    BOOST_TEST(told.sum("lives", {{"comm", kGame}, {"class", "render"}}, "count") == 7);
}

BOOST_AUTO_TEST_CASE(a_condition_without_its_field_names_the_event_of_jobs) {
    const std::map<std::string, std::string> events = {
        {"amdgpu", "amdgpu_cs_ioctl"}, {"i915", "i915_request_add"}, {"xe", "xe_sched_job_exec"}};
    for (const auto& [monitor, name] : events) {
        const Ended ran = test::gpufs({"watch", monitor, "--if", "nofield > 1", "-i",
                                       cat("tests/data/trace_dat/", monitor, "-7.3.dat")});
        BOOST_TEST(ran.status == 2);
        const std::string said = ran.err.substr(0, ran.err.find('\n'));
        BOOST_TEST(said ==
                   cat("gpufs: --if:1:1: error: ", monitor, ":", name, " has no field 'nofield'"));
    }
}

BOOST_AUTO_TEST_CASE(xe_looks_at_one_process_only) {
    const Told told = watch_recording("7.3", {"pid=1", "lines=1"});
    for (const char* map :
         {"took", "left", "failed", "lives", "bindings", "vms", "created", "moved", "faults"})
        BOOST_TEST(told.rows(map, {}).empty(), map);
    for (const char* record : {"event", "trouble", "moves"})
        BOOST_TEST(told.records(record, {}).empty(), record);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
