#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/text.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/skip.h"

namespace ut = boost::unit_test;

// Scripts at the events and functions of GPU drivers, held against what the devices saw.
namespace gpufs {
namespace {

using test::Ended;
using test::has;

// The whole machine is looked at: drivers work in threads of their own.
Ended run_script(const std::string& script, const std::vector<std::string>& work) {
    std::vector<std::string> words{"run", "--all", "-e", script, "--"};
    words.insert(words.end(), work.begin(), work.end());
    return test::gpufs(words);
}

std::size_t lines_like(const std::string& text, const std::string& begin) {
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_of(text), [&](std::string_view line) { return line.starts_with(begin); }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(driver_scripts)

// The names of events and fields before Linux 6.17.
BOOST_AUTO_TEST_CASE(a_script_tells_the_jobs_of_the_gpu_scheduler,
                     *ut::precondition(test::has_toy_gpu)) {
    if (test::scheduler_layouts().front())
        return test::skip("needs the scheduler's events of before Linux 6.17");
    const Ended ended = run_script(
        "tracepoint:gpu_scheduler:drm_run_job { @start[args->id] = nsecs; "
        "printf(\"%-8s %-10llu %s\\n\", \"RUN\", args->id, str(args->name)); "
        "@per_ring[str(args->name)] = count(); } "
        "tracepoint:gpu_scheduler:drm_sched_process_job { "
        "printf(\"%-8s %p\\n\", \"DONE\", args->fence); @done = count(); } "
        "tracepoint:gpu_scheduler:drm_sched_job_wait_dep { "
        "printf(\"%-8s %-10llu %s ctx=%llu seq=%u\\n\", \"WAIT\", args->id, str(args->name), "
        "args->ctx, args->seqno); @waits[str(args->name)] = count(); }",
        test::gpu_work({"chain", "4", "2000"}));
    const std::vector<test::GpuJob> jobs = test::gpu_jobs(ended.err);
    BOOST_TEST_REQUIRE(jobs.size() == 12u, ended.err);
    BOOST_TEST(lines_like(ended.out, "RUN ") == 12u, ended.out);
    BOOST_TEST(lines_like(ended.out, "DONE     0x") == 12u, ended.out);
    for (const char* ring : {"gfx", "compute", "sdma"})
        BOOST_TEST(has(ended.out, cat("@per_ring[", ring, "]: 4\n")), ended.out);
    BOOST_TEST(has(ended.out, "@done: 12\n"), ended.out);
    // Each of compute waits for one of gfx, each of sdma for one of compute.
    for (const test::GpuJob& job : jobs)
        if (job.ring == "sdma" || job.ring == "compute")
            BOOST_TEST(has(ended.out, cat(job.ring, " ctx=")), ended.out);
    BOOST_TEST(has(ended.out, "@waits[compute]: 4\n"), ended.out);
    BOOST_TEST(has(ended.out, "@waits[sdma]: 4\n"), ended.out);
}

// Also where something else of the kernel has the name of one of them: they have a driver_name().
BOOST_AUTO_TEST_CASE(all_functions_of_a_module_are_probed, *ut::precondition(test::has_toy_gpu)) {
    const Ended ended = run_script("kprobe:toy_gpu:* { @[func] = count() }",
                                   test::gpu_work({"chain", "4", "2000"}));
    BOOST_TEST(ended.status == 0, ended.err);
    for (const char* function : {"@[toy_open]: 1\n", "@[toy_release]: 1\n"})
        BOOST_TEST(has(ended.out, function), ended.out + ended.err);
}

BOOST_AUTO_TEST_CASE(a_script_at_nvidias_functions_tells_what_the_driver_did,
                     *ut::precondition(test::has_toy_driver)) {
    const test::NvidiaModules modules("nvidia");
    const Ended ended = run_script(
        "kprobe:nvidia_open { @opens[comm] = count(); @open_pids[pid] = 1; } "
        "kprobe:nvidia_close { @closes[comm] = count(); delete(@open_pids[pid]); } "
        "kprobe:nvidia_mmap { printf(\"MMAP %s %d\\n\", comm, pid == cpid); } "
        "kprobe:nvidia_fault { @faults[comm] = count(); } "
        "kprobe:nvidia_vma_release { @released = count(); } "
        "kprobe:nvidia_poll { @polls = count(); } "
        "kprobe:nvidia_p2p_get_pages { printf(\"PAGES 0x%lx %lu\\n\", arg2, arg3); } "
        "kprobe:nvidia_p2p_dma_map_pages { @maps = count(); }",
        test::nvidia_work({"memory", "3", "2", "2"}));
    const std::string comm = test::kNvidiaWork.substr(0, 15);
    BOOST_TEST(ended.out == cat("MMAP ", comm,
                                " 1\nPAGES 0x0 4096\nPAGES 0x1000 4096\n"
                                "\n\n@closes[",
                                comm, "]: 1\n@faults[", comm, "]: 3\n@maps: 1\n@opens[", comm,
                                "]: 1\n@polls: 2\n@released: 1\n"),
               ended.err);
}

// Interrupts and their threads, sleep, and mistakes, as the monitors of this driver in the bpftrace
// language tell them.
BOOST_AUTO_TEST_CASE(a_script_tells_nvidias_interrupts_sleep_and_mistakes,
                     *ut::precondition(test::has_toy_driver)) {
    const test::NvidiaModules modules("nvidia");
    std::string work;
    for (const std::vector<std::string>& part :
         {std::vector<std::string>{"interrupts", "5", "7"}, {"sleep", "20000"}, {"report", "79"}})
        work += cat(work.empty() ? "" : " && ", join(test::nvidia_work(part), " "));
    const Ended ended = run_script(
        "BEGIN { printf(\"%-8s %s\\n\", \"EVENT\", \"DETAILS\"); } "
        "kprobe:nvidia_isr { @isr = count(); @last = nsecs; } "
        "kprobe:nvidia_isr_msix { @msix = count(); } "
        "kprobe:nvidia_isr_kthread_bh { @bh = count(); "
        "if (@last > 0) { @late = lhist((nsecs - @last) / 1000, 0, 1000000, 1000000); } } "
        "kprobe:nvidia_suspend { @suspends = count(); @asleep = nsecs; } "
        "kprobe:nvidia_resume { @resumes = count(); if (@asleep > 0) { "
        "printf(\"%-8s %d\\n\", \"SLEPT\", (nsecs - @asleep) / 1000000 >= 20); @asleep = 0; } } "
        "tracepoint:nvidia:nvidia_dev_xid { $dev = str(args->dev); $xid = args->error_code; "
        "$msg = str(args->msg); printf(\"%-8s %s %u %s\\n\", \"XID\", $dev, $xid, $msg); "
        "@codes[$xid] = count(); } "
        "END { printf(\"interrupts:\\n\"); print(@isr); print(@codes); clear(@last); "
        "clear(@asleep); }",
        {"/bin/sh", "-c", work});
    BOOST_TEST(ended.out ==
                   "EVENT    DETAILS\nSLEPT    1\nSLEPT    0\n"
                   "XID      0000:01:00 79 pid=4321, name=toy, Ch 00000010\n"
                   "interrupts:\n@isr: 12\n@codes[79]: 1\n\n\n@bh: 7\n@codes[79]: 1\n@isr: 12\n"
                   "@late:\n[0, 1000000)           7 "
                   "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n"
                   "@msix: 5\n@resumes: 2\n@suspends: 2\n",
               ended.err);
}

// Functions of CUDA's runtime library and what they return.
BOOST_AUTO_TEST_CASE(a_script_at_cudas_functions_tells_what_the_program_did) {
    const std::string binary = test::gpufs_binary();
    const std::string folder = binary.substr(0, binary.rfind('/') + 1);
    const std::string work = folder + "gpufs-cuda-work", library = folder + "cuda/libcudart.so.12";
    const auto at = [&](const char* kind, const char* function, const std::string& block) {
        return cat(kind, ":", library, ":", function, " { ", block, " } ");
    };
    const Ended ended = test::gpufs(
        {"bt", "-q", "-c", cat(work, " runtime 2"), "-e",
         cat(at("uprobe", "cudaMalloc",
                "printf(\"%-12s size=%ld\\n\", \"cudaMalloc\", arg1); "
                "@bytes = sum(arg1)"),
             at("uretprobe", "cudaMalloc",
                "$ret = retval; printf(\"%-12s returned=%d (%s)\\n\", \"cudaMalloc\", $ret, "
                "$ret == 0 ? \"success\" : \"error\")"),
             at("uretprobe", "cudaSetDevice", "@devices[retval == 0] = count()"),
             at("uprobe", "cudaMemcpy", "@copied[arg3] = sum(arg2)"),
             at("uprobe", "cudaStreamSynchronize", "@start[tid] = nsecs"),
             at("uretprobe", "cudaStreamSynchronize", "@waits = count(); delete(@start[tid])"))});
    BOOST_TEST(ended.out ==
                   "cudaMalloc   size=1000\ncudaMalloc   returned=0 (success)\n"
                   "cudaMalloc   size=2000\ncudaMalloc   returned=0 (success)\n"
                   "\n\n@bytes: 3000\n@copied[1]: 1000\n@devices[false]: 2\n@devices[true]: 2\n"
                   "@waits: 2\n",
               ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
