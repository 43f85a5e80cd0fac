#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <type_traits>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitors of single drivers, held against what a driver without a device was told to do.
namespace gpufs {
namespace {

using test::has;
using test::Json;
using test::kGame;
using test::only;
using test::Told;

// The lines that say which fields an event has, and where.
// The trees are x86-64's; whether a char has a sign depends on the machine.
std::vector<std::string> fields_of(const std::string& format) {
    std::vector<std::string> fields;
    for (const std::string_view line : lines_of(format)) {
        if (line.find("field:") == line.npos) continue;
        const bool is_char = line.find(" char[] ") != line.npos;
        const bool has_known_sign = std::is_signed_v<char> || !is_char;
        fields.emplace_back(has_known_sign ? line : line.substr(0, line.find("\tsigned:")));
    }
    return fields;
}

// Jobs on rings as a process submits them, and one that the driver has of its own.
std::string amdgpu_jobs() {
    std::string lines = "amdgpu_pasid_allocated pasid=32770\n";
    for (int job = 1; job <= 3; ++job) {
        const std::string of = cat("timeline=gfx ring=gfx context=77 seqno=", job, " num_ibs=2\n");
        lines +=
            cat("amdgpu_cs_ioctl ", of, "sleep 20000\n",
                "amdgpu_vm_grab_id pasid=32771 ring=gfx vmid=3 needs_flush=1\n",
                "amdgpu_sched_run_job ", of, "sleep 30000\nfence drm_sched gfx 77 ", job, "\n");
    }
    return lines +
           "amdgpu_sched_run_job timeline=sdma0 ring=sdma0 context=99 seqno=5\n"
           "sleep 10000\nfence drm_sched sdma0 99 5\n"
           "amdgpu_cs_ioctl timeline=comp ring=comp context=78 seqno=1\n"
           "amdgpu_cs_ioctl timeline=comp ring=comp context=78 seqno=2\n"
           "amdgpu_sched_run_job timeline=comp ring=comp context=78 seqno=2\n"
           "amdgpu_cs_ioctl timeline=comp ring=comp context=78 seqno=3\n"
           "fence drm_sched comp 78 3\n";
}

void check_jobs(const Told& told) {
    for (const char* step : {"submit to run", "run to done", "submit to done"})
        BOOST_TEST(told.sum("took", {{"comm", kGame}, {"ring", "gfx"}, {"step", step}}, "count") ==
                   3);
    const auto took = [&](const char* comm, const char* ring, const char* step) {
        return only(told.rows("took", {{"comm", comm}, {"ring", ring}, {"step", step}}));
    };
    BOOST_TEST(took(kGame, "gfx", "submit to run")["min"].number() >= 20'000);
    BOOST_TEST(took(kGame, "gfx", "run to done")["min"].number() >= 30'000);
    BOOST_TEST(took(kGame, "gfx", "submit to done")["min"].number() >= 50'000);
    const Json own = took("(driver)", "sdma0", "run to done");
    BOOST_TEST(own["count"].number() == 1);
    BOOST_TEST(own["min"].number() >= 10'000);
    for (const char* state : {"queued", "on the ring", "given up"})
        BOOST_TEST(
            told.sum("left", {{"comm", kGame}, {"ring", "comp"}, {"state", state}}, "count") == 1);
    BOOST_TEST(told.rows("left", {}).size() == 3u);
    BOOST_TEST(told.lost() == 0);
}

const std::string kAmdgpuMemory =
    "amdgpu_bo_create bo=0x1000 pages=256 type=2 prefer=4 allow=6\n"
    "amdgpu_bo_create bo=0x2000 pages=512 type=1 prefer=4 allow=6\n"
    "amdgpu_bo_create bo=0x3000 pages=1 type=1 prefer=2 allow=2\n"
    "amdgpu_bo_move bo=0x1000 bo_size=1048576 new_placement=1 old_placement=2\n"
    "amdgpu_bo_move bo=0x1000 bo_size=1048576 new_placement=2 old_placement=1\n"
    "amdgpu_bo_move bo=0x9000 bo_size=4096 new_placement=1 old_placement=2\n"
    "amdgpu_vm_bo_map bo=0x1000 start=256 last=511\n"
    "amdgpu_vm_bo_map bo=0x2000 start=512 last=1023\n"
    "amdgpu_vm_bo_update soffset=256 eoffset=512\n"
    "amdgpu_vm_set_ptes count=256\namdgpu_vm_set_ptes count=4\namdgpu_vm_copy_ptes count=3\n"
    "amdgpu_vm_bo_unmap bo=0x1000 start=256 last=511\n"
    "amdgpu_cs_bo_status total_bo=17 total_size=1000000\n"
    "amdgpu_cs_bo_status total_bo=3 total_size=24\n"
    "amdgpu_vm_flush ring=gfx vmid=3 vm_hub=0\namdgpu_vm_flush ring=gfx vmid=3 vm_hub=0\n"
    "amdgpu_vm_flush ring=sdma0 vmid=3 vm_hub=1\n";

void check_memory(const Told& told) {
    const auto sum = [&](const char* map, Told::Wanted wanted) {
        wanted["comm"] = kGame;
        return told.sum(map, wanted, "sum");
    };
    BOOST_TEST(sum("created", {{"asked", "VRAM"}, {"got", "VRAM"}}) == 1048576);
    BOOST_TEST(sum("created", {{"asked", "VRAM"}, {"got", "GTT"}}) == 2097152);
    BOOST_TEST(sum("created", {{"asked", "GTT"}, {"got", "GTT"}}) == 4096);
    BOOST_TEST(sum("moved", {{"owner", kGame}, {"from", "VRAM"}, {"to", "GTT"}}) == 1048576);
    BOOST_TEST(sum("moved", {{"owner", kGame}, {"from", "GTT"}, {"to", "VRAM"}}) == 1048576);
    BOOST_TEST(sum("moved", {{"owner", "-"}, {"from", "VRAM"}, {"to", "GTT"}}) == 4096);
    BOOST_TEST(sum("mapped", {{"what", "map"}}) == 768 * 4096);
    BOOST_TEST(sum("mapped", {{"what", "unmap"}}) == 256 * 4096);
    BOOST_TEST(sum("mapped", {{"what", "page tables"}}) == 256 * 4096);
    BOOST_TEST(sum("ptes", {{"how", "set"}}) == 260);
    BOOST_TEST(sum("ptes", {{"how", "copy"}}) == 3);
    BOOST_TEST(sum("lists", {}) == 20);
    BOOST_TEST(sum("needed", {}) == 1000024);
    BOOST_TEST(told.sum("flushes", {{"ring", "gfx"}, {"hub", "0"}}, "count") == 2);
    BOOST_TEST(told.sum("flushes", {{"ring", "sdma0"}, {"hub", "1"}}, "count") == 1);
    BOOST_TEST(told.lost() == 0);
}

const std::string kAmdgpuInterrupts =
    "amdgpu_pasid_allocated pasid=32770\n"
    "amdgpu_iv client_id=20 src_id=181\namdgpu_iv client_id=20 src_id=181\n"
    "amdgpu_iv client_id=0 src_id=181\namdgpu_iv client_id=8 src_id=224\n"
    "amdgpu_iv client_id=4 src_id=8\namdgpu_iv client_id=4 src_id=77\n"
    "amdgpu_iv client_id=18 src_id=0 vmid=3 pasid=32770 src_data=0x7f001\n"
    "amdgpu_iv client_id=18 src_id=0 vmid=3 pasid=32770 src_data=0x7f001\n"
    "amdgpu_iv client_id=27 src_id=0 vmid=4 pasid=1 src_data=0x7f002\n"
    "amdgpu_device_wreg did=29631 reg=16 value=1\namdgpu_device_rreg did=29631 reg=16 value=1\n";

void check_interrupts(const Told& told) {
    const auto irqs = [&](const char* client, const char* source) {
        return told.sum("irqs", {{"client", client}, {"source", source}}, "count");
    };
    BOOST_TEST(irqs("GRBM, CP", "end of pipe") == 2);
    BOOST_TEST(irqs("IH", "end of pipe") == 1);
    BOOST_TEST(irqs("SDMA0", "trap") == 1);
    BOOST_TEST(irqs("display, SDMA3", "page flip") == 1);
    BOOST_TEST(irqs("display, SDMA3", "77") == 1);
    BOOST_TEST(irqs("VMC", "VM fault") == 2);
    BOOST_TEST(
        told.sum("faults", {{"comm", kGame}, {"pasid", "32770"}, {"client", "VMC"}}, "count") == 2);
    // The same address again is not told again.
    const Json fault = only(told.records("fault", {{"comm", kGame}}));
    BOOST_TEST(fault["address"].number() == 0x7f001000);
    BOOST_TEST(fault["vmid"].number() == 3);
    BOOST_TEST(only(told.records("fault", {{"comm", "-"}}))["address"].number() == 0x7f002000);
    BOOST_TEST(told.lost() == 0);
}

// Requests that are signalled, or only retired, or neither; and waits.
const std::string kI915Requests =
    "i915_request_add dev=1 ctx=4294967373 class=0 instance=0 seqno=2\nsleep 20000\n"
    "fence i915 rcs0 77 2\ni915_request_retire dev=1 ctx=4294967373 seqno=2\n"
    "i915_request_add dev=1 ctx=77 class=0 instance=0 seqno=4\nsleep 10000\n"
    "i915_request_retire dev=1 ctx=77 seqno=4\nfence i915 rcs0 77 4\n"
    "i915_request_add ctx=78 class=2 instance=1 seqno=2\n"
    "i915_request_wait_begin ctx=78 class=2 instance=1 seqno=2\nsleep 30000\n"
    "fence i915 vcs1 78 2\ni915_request_wait_end ctx=78 class=2 instance=1 seqno=2\n"
    "i915_request_add ctx=79 class=3 seqno=2\nfence i915 vecs0 79 2\n"
    "i915_request_add ctx=80 class=4 seqno=2\nfence i915 ccs0 80 2\n"
    "i915_request_add ctx=81 class=65535 seqno=2\nfence i915 kernel 81 2\n"
    "i915_request_add ctx=82 class=1 instance=0 seqno=8\n"
    "i915_request_retire ctx=83 seqno=8\nfence i915 rcs0 82 9\n"
    "i915_request_wait_begin ctx=82 class=1 instance=0 seqno=8\n";

void check_requests(const Told& told) {
    const auto took = [&](const char* engine, const char* instance, const char* step) {
        return only(told.rows(
            "took", {{"comm", kGame}, {"class", engine}, {"instance", instance}, {"step", step}}));
    };
    const Json signalled = took("render", "0", "add to signalled");
    BOOST_TEST(signalled["count"].number() == 1);
    BOOST_TEST(signalled["min"].number() >= 20'000);
    const Json retired = took("render", "0", "add to retired");
    BOOST_TEST(retired["count"].number() == 1);
    BOOST_TEST(retired["min"].number() >= 10'000);
    BOOST_TEST(took("video", "1", "add to signalled")["min"].number() >= 30'000);
    for (const char* engine : {"video-enhance", "compute", "(driver)"})
        BOOST_TEST(took(engine, "0", "add to signalled")["count"].number() == 1, engine);
    BOOST_TEST(told.sum("took", {{"dev", "1"}}, "count") == 2);
    BOOST_TEST(only(told.rows("left", {{"class", "copy"}}))["count"].number() == 1);
    BOOST_TEST(told.rows("left", {}).size() == 1u);
    const Json wait = only(told.rows("waited", {{"comm", kGame}}));
    BOOST_TEST(wait["key"]["class"].text == "video");
    BOOST_TEST(wait["min"].number() >= 30'000);
    BOOST_TEST(only(told.rows("endless", {{"comm", kGame}}))["key"]["class"].text == "copy");
    BOOST_TEST(told.lost() == 0);
}

const std::string kI915Memory =
    "i915_gem_object_create obj=0x1000 size=1048576\n"
    "i915_gem_object_create obj=0x2000 size=4096\ni915_gem_object_create obj=0x3000 size=8192\n"
    "i915_vma_bind obj=0x1000 vm=0x10 size=1048576\n"
    "i915_vma_unbind obj=0x1000 vm=0x10 size=1048576\n"
    "i915_vma_bind obj=0x1000 vm=0x10 size=1048576\n"
    "i915_vma_unbind obj=0x9000 vm=0x10 size=65536\n"
    "i915_vma_bind obj=0x9000 vm=0x20 size=65536\n"
    "i915_vma_bind obj=0x2000 vm=0x10 size=4096\n"
    "i915_vma_unbind obj=0x2000 vm=0x10 size=4096\n"
    "i915_gem_object_destroy obj=0x2000\ni915_gem_object_destroy obj=0x7000\n"
    // Another object at the address of one that was unbound.
    "i915_gem_object_create obj=0x2000 size=12288\ni915_vma_bind obj=0x2000 vm=0x10 size=12288\n"
    "i915_gem_shrink dev=1 target=100\ni915_gem_shrink dev=1 target=28\n"
    "i915_gem_shrink dev=1 target=-1\n"
    "i915_gem_evict dev=1 size=40960\ni915_gem_evict_node dev=1 size=8192\n"
    "i915_gem_evict_vm dev=1\n"
    "i915_gem_object_fault obj=0x1000 gtt=1 write=1\n"
    "i915_gem_object_fault obj=0x1000 gtt=1 write=1\n"
    "i915_gem_object_fault obj=0x1000 gtt=1\ni915_gem_object_fault obj=0x1000\n"
    "i915_gem_object_pread obj=0x1000 len=100\ni915_gem_object_pwrite obj=0x1000 len=5000\n"
    "i915_gem_object_pwrite obj=0x1000 offset=5000 len=24\n";

void check_objects(const Told& told) {
    const auto sum = [&](const char* map, Told::Wanted wanted, const char* column = "sum") {
        wanted["comm"] = kGame;
        return told.sum(map, wanted, column);
    };
    BOOST_TEST(sum("lives", {{"what", "created"}}) == 1048576 + 4096 + 8192 + 12288);
    BOOST_TEST(sum("lives", {{"what", "destroyed"}}) == 4096);
    BOOST_TEST(sum("lives", {{"what", "alive at the end"}}) == 1048576 + 8192 + 12288);
    BOOST_TEST(sum("lives", {{"what", "alive at the end"}}, "count") == 3);
    BOOST_TEST(sum("bindings", {{"owner", kGame}, {"what", "bind"}}) == 2 * 1048576 + 4096 + 12288);
    BOOST_TEST(sum("bindings", {{"owner", kGame}, {"what", "unbind"}}) == 1048576 + 4096);
    for (const char* what : {"bind", "unbind"})
        BOOST_TEST(sum("bindings", {{"owner", "-"}, {"what", what}}) == 65536);
    const Json again = only(told.rows("bindings", {{"comm", kGame}, {"what", "bound again"}}));
    BOOST_TEST(again["key"]["owner"].text == kGame);
    BOOST_TEST(again["sum"].number() == 1048576);
    const auto room = [&](const char* what) {
        return sum("rooms", {{"dev", "1"}, {"what", what}});
    };
    BOOST_TEST(room("shrink") == 128);
    BOOST_TEST(room("evict") == 10);
    BOOST_TEST(room("evict a range") == 2);
    for (const char* what : {"shrink all", "evict all"}) {
        BOOST_TEST(room(what) == 0);
        BOOST_TEST(sum("rooms", {{"what", what}}, "count") == 1);
    }
    BOOST_TEST(sum("faults", {{"via", "GTT"}, {"access", "write"}}, "count") == 2);
    for (const char* via : {"GTT", "CPU"})
        BOOST_TEST(sum("faults", {{"via", via}, {"access", "read"}}, "count") == 1);
    BOOST_TEST(sum("moves", {{"access", "read"}}) == 100);
    BOOST_TEST(sum("moves", {{"access", "write"}}) == 5024);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(driver, *ut::precondition(test::has_toy_driver))

BOOST_AUTO_TEST_CASE(the_toy_driver_has_the_fields_of_the_real_ones) {
    const std::string tree = cat("tests/data/formats/", test::kernel_series(), "/events");
    const std::string tracefs = "/sys/kernel/tracing/events";
    std::size_t compared = 0;
    for (const std::string system : {"amdgpu", "i915", "xe"}) {
        if (!file_exists(cat(tree, "/", system))) continue;
        for (const std::string& event : list_directory(cat(tree, "/", system))) {
            if (!event.starts_with(system + '_')) continue;
            const std::string path = cat("/", system, "/", event, "/format");
            BOOST_TEST(fields_of(read_file(tracefs + path)) == fields_of(read_file(tree + path)),
                       boost::test_tools::per_element());
            ++compared;
        }
    }
    BOOST_TEST(compared >= 40u);
}

BOOST_AUTO_TEST_CASE(amdgpu_tells_each_step_of_each_job) {
    const Told told({"amdgpu", "lines=1", "min_us=60s"}, test::driver_work({amdgpu_jobs()}));
    check_jobs(told);
    for (const char* what : {"SUBMIT", "RUN", "DONE"})
        BOOST_TEST(told.records("event", {{"what", what}, {"ring", "gfx"}}).size() == 3u);
}

BOOST_AUTO_TEST_CASE(amdgpu_says_where_buffers_are_and_who_moves_them) {
    const Told told({"amdgpu", "lines=1"}, test::driver_work({kAmdgpuMemory}));
    check_memory(told);
    const Json moved = only(told.records("moves", {{"from", "VRAM"}, {"owner", kGame}}));
    BOOST_TEST(moved["comm"].text == kGame);
    BOOST_TEST(moved["to"].text == "GTT");
    BOOST_TEST(moved["bytes"].number() == 1048576);
}

BOOST_AUTO_TEST_CASE(amdgpu_names_interrupts_and_whose_fault_it_is) {
    const Told told({"amdgpu"}, test::driver_work({kAmdgpuInterrupts}));
    check_interrupts(told);
    BOOST_TEST(told.rows("accesses", {}).empty());
}

BOOST_AUTO_TEST_CASE(amdgpu_counts_accesses_to_registers_where_asked) {
    const Told told({"amdgpu", "registers=1"}, test::driver_work({kAmdgpuInterrupts}));
    for (const char* access : {"read", "write"})
        BOOST_TEST(only(told.rows("accesses", {{"device", "000073bf"},
                                               {"register", "00000010"},
                                               {"access", access}}))["count"]
                       .number() == 1);
}

BOOST_AUTO_TEST_CASE(amdgpu_looks_at_one_process_only) {
    const Told told({"amdgpu", "pid=1"}, test::driver_work({amdgpu_jobs() + kAmdgpuMemory}));
    for (const char* map : {"took", "left", "created", "moved", "mapped", "ptes", "lists"})
        BOOST_TEST(told.rows(map, {}).empty(), map);
}

BOOST_AUTO_TEST_CASE(i915_tells_how_each_request_ends) {
    const Told told({"i915", "lines=1", "min_us=60s"}, test::driver_work({kI915Requests}));
    check_requests(told);
    BOOST_TEST(told.records("event", {{"what", "ADD"}, {"comm", kGame}}).size() == 7u);
    BOOST_TEST(told.records("event", {{"what", "DONE"}, {"comm", kGame}}).size() == 6u);
    const Json wait = only(told.records("wait", {{"comm", kGame}}));
    BOOST_TEST(wait["wait_us"].number() >= 30'000);
    BOOST_TEST(wait["context"].number() == 78);
}

BOOST_AUTO_TEST_CASE(i915_tells_how_long_a_request_is_on_its_engine) {
    const std::string of = "ctx=90 class=0 instance=0 seqno=2";
    const Told told(
        {"i915"}, test::driver_work({cat(
                      "i915_request_add ", of, "\nsleep 20000\ni915_request_in ", of,
                      "\nsleep 10000\ni915_request_out ", of, " completed=0\ni915_request_in ", of,
                      "\nsleep 10000\nfence i915 rcs0 90 2\nsleep 10000\ni915_request_out ", of,
                      " completed=1\ni915_request_in ctx=91 seqno=4\n"
                      "i915_request_out ctx=91 seqno=4 completed=1\n")}));
    const auto took = [&](const char* step) {
        return only(told.rows("took", {{"comm", kGame}, {"step", step}}));
    };
    BOOST_TEST(!has(told.err(), "does not tell when a request is on its engine"), told.err());
    for (const auto& [step, us] : std::map<const char*, int>{
             {"add to in", 20'000}, {"in to out", 30'000}, {"add to signalled", 40'000}}) {
        BOOST_TEST(took(step)["count"].number() == 1, step);
        BOOST_TEST(took(step)["min"].number() >= us, step);
    }
    BOOST_TEST(told.rows("left", {}).empty());
}

BOOST_AUTO_TEST_CASE(i915_tells_of_slow_requests_and_waits_only_unless_asked) {
    const Told told({"i915", "min_us=15000"}, test::driver_work({kI915Requests}));
    BOOST_TEST(told.records("event", {{"what", "ADD"}}).empty());
    BOOST_TEST(
        told.records("event", {{"what", "SLOW"}, {"context", "77"}, {"number", "2"}}).size() == 1u);
    BOOST_TEST(told.records("wait", {}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(i915_says_what_is_alive_and_bound_and_who_makes_room) {
    check_objects(Told({"i915", "again_us=60s"}, test::driver_work({kI915Memory})));
}

BOOST_AUTO_TEST_CASE(i915_looks_at_one_process_only) {
    const Told told({"i915", "pid=1"}, test::driver_work({kI915Requests + kI915Memory}));
    for (const char* map :
         {"took", "left", "waited", "endless", "lives", "bindings", "rooms", "faults", "moves"})
        BOOST_TEST(told.rows(map, {}).empty(), map);
}

BOOST_AUTO_TEST_SUITE_END()

// The same jobs, memory and interrupts, recorded in guests.
BOOST_AUTO_TEST_SUITE(recorded_driver, *ut::label("pure"))

const std::vector<std::string> kAmdgpuReleases = {"5.10", "6.12", "7.3"};

BOOST_DATA_TEST_CASE(amdgpu_over_a_recording_tells_what_the_driver_did,
                     ut::data::make(kAmdgpuReleases), release) {
    const Told told(test::gpufs({"watch", "amdgpu", "registers=1", "min_us=60s", "--json", "-i",
                                 cat("tests/data/trace_dat/amdgpu-", release, ".dat")}));
    check_jobs(told);
    check_memory(told);
    check_interrupts(told);
    BOOST_TEST(told.sum("accesses", {{"register", "00000010"}}, "count") == 2);
}

const std::vector<std::string> kI915Releases = {"5.10", "6.1", "7.3"};

BOOST_DATA_TEST_CASE(i915_over_a_recording_tells_what_the_driver_did, ut::data::make(kI915Releases),
                     release) {
    const Told told(test::gpufs({"watch", "i915", "min_us=60s", "again_us=60s", "--json", "-i",
                                 cat("tests/data/trace_dat/i915-", release, ".dat")}));
    BOOST_TEST(has(told.err(), "this kernel does not tell when a request is on its engine"),
               told.err());
    check_requests(told);
    check_objects(told);
}

BOOST_AUTO_TEST_CASE(i915_without_fences_says_so_and_tells_of_what_is_retired) {
    const Told told(test::gpufs({"watch", "i915", "min_us=60s", "--json", "-i",
                                 "tests/data/trace_dat/i915-6.12-alone.dat"}));
    BOOST_TEST(has(told.err(),
                   "no event dma_fence:dma_fence_signaled here: requests end when the "
                   "driver retires them"),
               told.err());
    BOOST_TEST(told.sum("took", {{"step", "add to retired"}, {"class", "render"}}, "count") == 2);
    BOOST_TEST(told.rows("took", {{"step", "add to signalled"}}).empty());
    BOOST_TEST(told.sum("left", {{"comm", kGame}}, "count") == 5);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
