#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitor of NVIDIA's driver, held against what a driver without a GPU was asked for.
namespace gpufs {
namespace {

using test::has;
using test::Json;
using Modules = test::NvidiaModules;
using test::Told;

const std::string kNvidiaWork = "gpufs-nvidia-wo";  // as the kernel cuts it

long long rows_of(const Told& told, const char* map, Told::Wanted wanted,
                  const char* column = "count") {
    wanted["comm"] = kNvidiaWork;
    return told.sum(map, wanted, column);
}

void check_handles(const Told& told) {
    for (const char* map : {"opens", "closes"}) {
        const auto count = [&](const char* gpu) { return rows_of(told, map, {{"gpu", gpu}}); };
        const bool stays = map == std::string("opens");
        BOOST_TEST(count("0") == (stays ? 4 : 3), map);
        BOOST_TEST(count("1") == 1, map);
        BOOST_TEST(count("control") == 1, map);
        BOOST_TEST(count("uvm") == 1, map);
    }
    BOOST_TEST(rows_of(told, "left", {{"gpu", "0"}}) == 1);
    BOOST_TEST(told.rows("left", {}).size() == 1u);
    BOOST_TEST(
        rows_of(told, "failed", {{"gpu", "200"}, {"command", "open"}, {"error", "ENODEV"}}) == 1);
    BOOST_TEST(rows_of(told, "mapped", {{"gpu", "0"}}, "sum") == 16384);
    BOOST_TEST(rows_of(told, "mapped", {{"gpu", "1"}}, "sum") == 4096);
    BOOST_TEST(rows_of(told, "mapped", {{"gpu", "uvm"}}, "sum") == 16384);
    BOOST_TEST(rows_of(told, "polls", {{"gpu", "0"}}) == 6);
    BOOST_TEST(rows_of(told, "polls", {}) == 7);
}

// Where the system call tells of ioctls, and not the driver, the GPU is not known.
void check_ioctls(const Told& told, bool by_driver) {
    const auto count = [&](const char* gpu, const char* command) {
        return rows_of(told, "calls", {{"gpu", by_driver ? gpu : "-"}, {"command", command}});
    };
    if (by_driver) {
        BOOST_TEST(count("0", "RM_CONTROL") == 15);
        BOOST_TEST(count("1", "RM_CONTROL") == 2);
        BOOST_TEST(count("control", "RM_CONTROL") == 5);
        BOOST_TEST(count("0", "0x0") == 1);
    } else {
        BOOST_TEST(count("-", "RM_CONTROL") == 22);
        BOOST_TEST(count("-", "0x0") == 0);
    }
    BOOST_TEST(count("0", "RM_ALLOC") == 7);
    BOOST_TEST(count("0", "RM_FREE") == 3);
    BOOST_TEST(count("control", "CARD_INFO") == 1);
    BOOST_TEST(rows_of(told, "calls", {{"gpu", "uvm"}, {"command", "UVM_MIGRATE"}}) == 2);
    const auto controls = [&](const char* command) {
        return rows_of(told, "controls", {{"command", command}});
    };
    BOOST_TEST(controls("GPU_GET_INFO_V2") == 5);
    BOOST_TEST(controls("GPU_GET_PIDS") == 3);
    BOOST_TEST(controls("0x20809999") == 2);
    BOOST_TEST(controls("GPU_GET_ATTACHED_IDS") == 2);
    BOOST_TEST(controls("GPU_GET_ID_INFO") == 1);
    BOOST_TEST(controls("FB_GET_INFO_V2") == 2);
    BOOST_TEST(controls("GPU_GET_PROBED_IDS") == 7);
    for (const Json& row : told.rows("controls", {{"command", "GPU_GET_INFO_V2"}}))
        BOOST_TEST(row["min"].number() >= 20'000);
    BOOST_TEST(rows_of(told, "allocs", {{"class", "device"}}) == 4);
    BOOST_TEST(rows_of(told, "allocs", {{"class", "channel, Ampere"}}) == 2);
    BOOST_TEST(rows_of(told, "allocs", {{"class", "0xabcd"}}) == 1);
    BOOST_TEST(rows_of(told, "failed", {{"command", "RM_CONTROL"}, {"error", "EINVAL"}}) == 1);
    BOOST_TEST(rows_of(told, "failed", {{"gpu", "uvm"}, {"error", "EINVAL"}}) == 1);
    BOOST_TEST(rows_of(told, "denied", {{"command", "RM_CONTROL"}, {"status", "not supported"}}) ==
               2);
    BOOST_TEST(rows_of(told, "denied", {{"command", "RM_ALLOC"}, {"status", "no memory"}}) == 1);
    BOOST_TEST(rows_of(told, "denied", {}) == 3);
}

void check_managed_memory(const Told& told) {
    const auto faults = [&](const char* on, const char* how) {
        return rows_of(told, "faults", {{"on", on}, {"how", how}});
    };
    BOOST_TEST(faults("CPU", "write") == 3);
    BOOST_TEST(faults("CPU", "read") == 2);
    BOOST_TEST(faults("GPU 2", "by the GPU") == 4);
    BOOST_TEST(faults("GPU 2", "by the GPU, again") == 2);
    const auto bytes = [&](const char* from, const char* to, const char* cause) {
        return rows_of(told, "migrations", {{"from", from}, {"to", to}, {"cause", cause}}, "sum");
    };
    BOOST_TEST(bytes("CPU", "GPU 1", "asked for") == 2 * 65536);
    BOOST_TEST(bytes("CPU", "GPU 1", "fault") == 3 * 65536);
    BOOST_TEST(bytes("GPU 1", "CPU", "eviction") == 2 << 20);
    BOOST_TEST(told.sum("serviced", {}, "count") == 10);
    BOOST_TEST(told.records("faulting", {{"on", "GPU 2"}, {"address", "139637976735744"}}).size() ==
               6u);
    BOOST_TEST(
        told.records("moving", {{"cause", "eviction"}, {"address", "139637976739840"}}).size() ==
        1u);
}

void check_nvidia_interrupts(const Told& told) {
    long long all = 0;
    for (const char* part : {"handler", "until the thread runs", "thread"}) {
        const std::vector<Json> rows = told.rows("irqs", {{"part", part}});
        BOOST_TEST(rows.size() == 2u, part);
        BOOST_TEST(told.sum("irqs", {{"part", part}}, "count") == 5, part);
        for (const Json& row : rows) {
            const long long count = row["count"].number();
            BOOST_TEST((count == 3 || count == 2), part);
            all += count;
            if (part == std::string("thread")) BOOST_TEST(row["min"].number() >= 2'000'000);
        }
    }
    BOOST_TEST(all == 15);
}

void check_sleep(const Told& told) {
    for (const char* what : {"suspend", "resume"}) {
        const std::vector<Json> rows = told.rows("slept", {{"device", "nvidia.7"}, {"what", what}});
        BOOST_TEST_REQUIRE(rows.size() == 1u, what);
        BOOST_TEST(rows.front()["count"].number() == 2);
        BOOST_TEST(rows.front()["max"].number() >= 20'000);
    }
    for (const char* what : {"runtime suspend", "runtime resume"})
        BOOST_TEST(told.sum("slept", {{"what", what}}, "count") == 1, what);
    BOOST_TEST(told.records("power", {{"error", "0"}}).size() == 6u);
}

// The pages of 3 and 1 MiB were got twice each, and once those of nothing.
void check_what_others_get(const Told& told) {
    for (const char* call : {"get pages", "get pages, persistent", "put pages",
                             "put pages, persistent", "map for DMA", "unmap from DMA"})
        BOOST_TEST(rows_of(told, "lendings", {{"call", call}, {"error", "0"}}) == 2, call);
    BOOST_TEST(rows_of(told, "lendings", {{"call", "get pages"}, {"error", "EINVAL"}}) == 2);
    BOOST_TEST(rows_of(told, "lendings", {}) == 14);
    for (const char* call : {"get pages", "get pages, persistent"})
        BOOST_TEST(rows_of(told, "lendable", {{"call", call}}, "sum") == 4 << 20, call);
    BOOST_TEST(rows_of(told, "lendable", {}, "sum") == 8 << 20);
}

// Before 575 there is no event, and the text is not put together yet.
void check_errors(const Told& told, bool has_event) {
    const std::string bus = "79 fallen off the bus";
    BOOST_TEST(told.sum("errors", {{"code", bus}}, "count") == 1);
    const std::vector<Json> errors = told.records("error", {{"xid", bus}});
    BOOST_TEST_REQUIRE(errors.size() == 1u);
    BOOST_TEST(has(errors.front()["device"].text, has_event ? "0000:01:00" : "0000:00:"),
               errors.front()["device"].text);
    BOOST_TEST(errors.front()["text"].text ==
               (has_event ? "pid=4321, name=toy, Ch 00000010" : "Ch %08x"));
    BOOST_TEST(errors.front()["pid"].text == (has_event ? "4321" : "0"));
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(nvidia, *ut::precondition(test::has_toy_driver))

void check_generation(const std::string& module, bool ioctls_by_driver, bool has_event) {
    const Modules modules(module);
    const Told told({"nvidia", "lines=1", "min_us=60s"}, test::nvidia_work({"all"}));
    BOOST_TEST(has(told.err(), "ended with exit status 0"), told.err());
    check_handles(told);
    check_ioctls(told, ioctls_by_driver);
    check_managed_memory(told);
    check_nvidia_interrupts(told);
    check_sleep(told);
    check_what_others_get(told);
    check_errors(told, has_event);
    BOOST_TEST(has(told.err(), "ioctls are told by the system call: not their GPU") ==
               !ioctls_by_driver);
    BOOST_TEST(told.records("event", {{"command", "RM_FREE"}}).size() == 3u);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(nvidia_tells_what_the_driver_does) {
    check_generation("nvidia", true, true);
}

// Its function for ioctls has another name here: the system call tells of them.
BOOST_AUTO_TEST_CASE(nvidia_tells_what_a_driver_without_its_functions_does) {
    check_generation("nvidia-570", false, false);
}

BOOST_AUTO_TEST_CASE(nvidia_tells_what_the_oldest_driver_does) {
    check_generation("nvidia-535", true, false);
}

BOOST_AUTO_TEST_CASE(nvidia_finds_the_gpu_and_tells_of_slow_ioctls) {
    const Modules modules("nvidia");
    const test::Ended watch = test::gpufs({"watch", "--duration", "1ms"});
    BOOST_TEST(watch.status == 0, watch.err);
    BOOST_TEST(has(watch.err, "nvidia0: nvidia, toy, at 0000:01:00.0, open in no process\n"),
               watch.err);
    const Told told({"nvidia", "min_us=10ms"}, test::nvidia_work({"calls"}));
    BOOST_TEST(told.records("slow", {{"detail", "GPU_GET_INFO_V2"}, {"gpu", "0"}}).size() == 5u);
    BOOST_TEST(told.records("event", {}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

// What was recorded of the same work: its system calls, interrupts and error.
BOOST_AUTO_TEST_CASE(nvidia_over_a_recording_tells_what_its_events_do, *ut::label("pure")) {
    const Told told(test::gpufs(
        {"watch", "nvidia", "min_us=60s", "--json", "-i", "tests/data/trace_dat/nvidia-6.12.dat"}));
    for (const auto& [command, count] : std::map<std::string, int>{{"RM_CONTROL", 20},
                                                                   {"IOCTL_XFER_CMD", 2},
                                                                   {"RM_ALLOC", 7},
                                                                   {"RM_FREE", 3},
                                                                   {"CARD_INFO", 1},
                                                                   {"0x0", 0}})
        BOOST_TEST(told.sum("calls", {{"gpu", "-"}, {"command", command}}, "count") == count,
                   command);
    BOOST_TEST(told.sum("calls", {}, "count") == 33);
    BOOST_TEST(told.sum("failed", {{"command", "RM_CONTROL"}, {"error", "EINVAL"}}, "count") == 1);
    BOOST_TEST(told.sum("irqs", {{"part", "handler"}}, "count") == 5);
    BOOST_TEST(told.rows("irqs", {{"part", "thread"}}).empty());
    check_errors(told, true);
    for (const char* map : {"controls", "opens", "mapped", "faults", "slept", "polls", "lendings"})
        BOOST_TEST(told.rows(map, {}).empty(), map);
    for (const char* what :
         {"ioctls are told by the system call: ", "managed memory ",
          "opens, closes and handles; polls; memory for other devices (P2P); threads of "
          "interrupts; "
          "suspend and resume are not told: the driver's functions cannot be probed here\n"})
        BOOST_TEST(has(told.err(), what), told.err());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
