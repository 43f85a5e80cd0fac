#define BOOST_TEST_DYN_LINK
#include "kernel/perf/ring.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "kernel/bpf/mapping.h"
#include "kernel/bpf/ring_buffer.h"
#include "kernel/bpf/support.h"
#include "kernel/bpf/test_run.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kernel_version.h"
#include "kernel/perf/attach.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

constexpr auto kTracepoint = BPF_PROG_TYPE_TRACEPOINT;
constexpr const char* kGetppid = "syscalls:sys_enter_getppid";

bool is_readable(int fd, int timeout_ms) {
    pollfd waits{fd, POLLIN, 0};
    return ::poll(&waits, 1, timeout_ms) == 1;
}

// The code a program sends with: counter 0 counts calls and is the record's number, counter 1
// counts what did not fit. The number is in r7 and at fp-16.
Insns number_the_call(const BpfMap& counters) {
    return Insns{op::store_value(BPF_W, 10, -4, 0), op::copy(2, 10), op::add(2, -4)} +
           load_map(1, counters) +
           Insns{op::call(BPF_FUNC_map_lookup_elem),
                 op::jump_unless(0, 0, 2),
                 op::mov(0, 0),
                 op::leave(),
                 op::load(BPF_DW, 7, 0, 0),
                 op::store(BPF_DW, 10, -16, 7),
                 op::mov(1, 1),
                 op::make(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD)};
}

// Sends the number of each call of ours to the ring; `wake` are the flags of bpf_ringbuf_output().
Fd load_ring_sender(const BpfMap& ring, const BpfMap& counters, std::int32_t wake = 0) {
    const Insns lost = count_in(counters, 1);
    return load(kTracepoint, if_ours(number_the_call(counters) + load_map(1, ring) +
                                     Insns{op::copy(2, 10), op::add(2, -16), op::mov(3, 8),
                                           op::mov(4, wake), op::call(BPF_FUNC_ringbuf_output),
                                           op::jump_if_zero(0, static_cast<int>(lost.size()))} +
                                     lost));
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_ring)
BOOST_AUTO_TEST_SUITE(ring_buffer, *ut::precondition(has_bpf{BpfFeature::ringbuf}))

BOOST_AUTO_TEST_CASE(records_arrive_in_order_and_none_is_missing) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 1 << 16);
    const Fd program = load_ring_sender(map, counters);
    RingBuffer ring(map);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    BOOST_TEST(!is_readable(ring.fd(), 0));
    std::uint64_t next = 0;
    // Laps of the ring: 200 rounds of 500 records of 16 bytes.
    for (int round = 0; round < 200; ++round) {
        call_getppid(500);
        BOOST_TEST_REQUIRE(is_readable(ring.fd(), 1000));
        const std::size_t taken = ring.drain([&](std::span<const std::byte> record) {
            BOOST_TEST_REQUIRE(record.size() == 8u);
            BOOST_TEST_REQUIRE(value_of<std::uint64_t>(record) == next++);
        });
        BOOST_TEST(taken == 500u);
        BOOST_TEST(!is_readable(ring.fd(), 0));
    }
    BOOST_TEST(counter(counters, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_the_program_can_count) {
    const BpfMap counters = make_counters(2);
    const BpfMap map =
        make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<std::uint32_t>(page_bytes()));
    const Fd program = load_ring_sender(map, counters);
    RingBuffer ring(map);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(1000);
    std::uint64_t expected = 0;
    const auto check = [&](std::span<const std::byte> record) {
        BOOST_TEST(value_of<std::uint64_t>(record) == expected++);
    };
    const std::size_t first = ring.drain(check);
    BOOST_TEST(first > 0u);
    BOOST_TEST(first + counter(counters, 1) == 1000u);
    // There is room again.
    expected = 1000;
    call_getppid(10);
    BOOST_TEST(ring.drain(check) == 10u);
}

// Space comes back only with release(): until then the spans are good.
BOOST_AUTO_TEST_CASE(records_taken_stay_until_released) {
    const BpfMap counters = make_counters(2);
    const BpfMap map =
        make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<std::uint32_t>(page_bytes()));
    const Fd program = load_ring_sender(map, counters);
    RingBuffer ring(map);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(1);
    const auto record = ring.next();
    BOOST_TEST_REQUIRE(record.has_value());
    call_getppid(1000);
    BOOST_TEST(value_of<std::uint64_t>(*record) == 0u);
    const std::uint64_t lost = counter(counters, 1);
    BOOST_TEST(lost > 0u);
    ring.release();
    call_getppid(1);
    BOOST_TEST(counter(counters, 1) == lost);
}

// Reserve, write, discard each second: the reader sees the others only.
BOOST_AUTO_TEST_CASE(discarded_records_are_skipped) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 1 << 16);
    const Insns send = load_map(1, map) + Insns{op::mov(2, 8),
                                                op::mov(3, 0),
                                                op::call(BPF_FUNC_ringbuf_reserve),
                                                op::jump_if_zero(0, 9),
                                                op::store(BPF_DW, 0, 0, 7),
                                                op::copy(1, 0),
                                                op::mov(2, 0),
                                                op::make(BPF_ALU64 | BPF_AND | BPF_K, 7, 0, 0, 1),
                                                op::jump_if_zero(7, 2),
                                                op::call(BPF_FUNC_ringbuf_discard),
                                                op::jump(1),
                                                op::call(BPF_FUNC_ringbuf_submit),
                                                op::mov(0, 0)};
    const Fd program = load(kTracepoint, if_ours(number_the_call(counters) + send));
    RingBuffer ring(map);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(100);
    std::uint64_t expected = 0;
    BOOST_TEST(ring.drain([&](std::span<const std::byte> record) {
        BOOST_TEST(value_of<std::uint64_t>(record) == expected);
        expected += 2;
    }) == 50u);
}

BOOST_AUTO_TEST_CASE(a_waiting_reader_is_woken) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 1 << 16);
    const Fd program = load_ring_sender(map, counters);
    RingBuffer ring(map);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    // Reader and writer race: each record must be seen, with no timeout to save a missed wake-up.
    constexpr std::uint64_t kRecords = 3000;
    std::jthread writer([] {
        for (std::uint64_t i = 0; i < kRecords; ++i) {
            call_getppid(1);
            if (i % 7 == 0) ::sched_yield();
        }
    });
    std::uint64_t seen = 0;
    while (seen < kRecords) {
        BOOST_TEST_REQUIRE(is_readable(ring.fd(), 10'000));
        seen += ring.drain([&](std::span<const std::byte>) {});
    }
    BOOST_TEST(seen == kRecords);
}

BOOST_AUTO_TEST_CASE(a_reader_that_comes_later_goes_on_where_the_first_stopped) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 1 << 16);
    const Fd program = load_ring_sender(map, counters);
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(5);
    BOOST_TEST(RingBuffer(map).drain([](std::span<const std::byte>) {}) == 5u);
    call_getppid(2);
    std::uint64_t expected = 5;
    BOOST_TEST(RingBuffer(map).drain([&](std::span<const std::byte> record) {
        BOOST_TEST(value_of<std::uint64_t>(record) == expected++);
    }) == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

// Sends `bytes` bytes that begin with the number of the call to the perf ring of the CPU.
Fd load_perf_sender(const BpfMap& rings, const BpfMap& counters, std::int32_t bytes) {
    Insns clear;
    for (int at = 24; at <= 16 + bytes; at += 8)
        clear.push_back(op::store_value(BPF_DW, 10, -at, 0));
    const Insns lost = count_in(counters, 1);
    // The record starts at fp-16-bytes, its number is copied there.
    return load(
        kTracepoint,
        if_ours(number_the_call(counters) + clear +
                Insns{op::store(BPF_DW, 10, -16 - bytes, 7), op::copy(1, 6)} + load_map(2, rings) +
                Insns{op::make(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1),  // BPF_F_CURRENT_CPU
                      op::copy(4, 10), op::add(4, -16 - bytes), op::mov(5, bytes),
                      op::call(BPF_FUNC_perf_event_output),
                      op::jump_if_zero(0, static_cast<int>(lost.size()))} +
                lost));
}
BpfMap make_ring_map() {
    return make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, possible_cpus().back() + 1);
}

// Stays on one CPU while it lives.
class Pinned {
public:
    explicit Pinned(unsigned cpu) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        BOOST_TEST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    }
    ~Pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_;
};

BOOST_AUTO_TEST_CASE(each_cpu_has_its_perf_ring_in_order) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_ring_map();
    // A size that is no divisor of the ring's: records wrap at many places.
    const Fd program = load_perf_sender(map, counters, 40);
    std::vector<PerfRing> rings = open_perf_rings(map, page_bytes());
    BOOST_TEST(rings.size() == online_cpus().size());
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    std::uint64_t next = 0, last_ns = 0;
    for (int round = 0; round < 100; ++round)
        for (PerfRing& ring : rings) {
            const Pinned pinned(ring.cpu());
            call_getppid(30);
            BOOST_TEST(is_readable(ring.fd(), 1000));
            const std::size_t taken = ring.drain([&](const PerfRecord& record) {
                BOOST_TEST_REQUIRE(record.payload.size() >= 40u);
                BOOST_TEST_REQUIRE(record.payload.size() < 48u);
                BOOST_TEST_REQUIRE(value_of<std::uint64_t>(record.payload) == next++);
                BOOST_TEST_REQUIRE(record.time_ns > last_ns);
                last_ns = record.time_ns;
            });
            BOOST_TEST(taken == 30u);
            BOOST_TEST(ring.lost().is_zero());
        }
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(now.tv_nsec);
    BOOST_TEST(last_ns <= now_ns);
    BOOST_TEST(now_ns - last_ns < 10'000'000'000u);
}

// Sends 1000 records to a ring that has no room for all; gives the ring to `check` when those in it
// are read, with the number of them.
template <class Check>
void overrun_perf_ring(PerfRing::Way way, Check&& check) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_ring_map();
    const Fd program = load_perf_sender(map, counters, 40);
    const Pinned pinned(0);
    PerfRing ring(0, page_bytes(), 0, way);
    const unsigned cpu = 0;
    const int fd = ring.fd();
    map.update(bytes_of(cpu), bytes_of(fd));
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(1000);
    const std::size_t taken = ring.drain([](const PerfRecord&) {});
    BOOST_TEST(taken < 1000u);
    check(ring, map, 1000 - taken);
    // The program was told as well.
    BOOST_TEST(counter(counters, 1) == 1000 - taken);
}

BOOST_AUTO_TEST_CASE(what_did_not_fit_behind_the_last_record_is_counted_by_the_kernel) {
    if (running_kernel() < KernelVersion{6, 0, 0})
        return test::skip("needs PERF_FORMAT_LOST: Linux 6.0 or later");
    overrun_perf_ring(PerfRing::Way::count,
                      [](PerfRing& ring, const BpfMap&, std::uint64_t missing) {
                          BOOST_TEST((ring.lost() == Loss::exactly(missing)));
                          BOOST_TEST(!ring.needs_end_mark());
                      });
}

BOOST_AUTO_TEST_CASE(an_end_mark_lets_older_kernels_tell_it) {
    overrun_perf_ring(PerfRing::Way::marks,
                      [](PerfRing& ring, const BpfMap& map, std::uint64_t missing) {
                          BOOST_TEST((ring.lost() == Loss::at_least(0)));
                          BOOST_TEST(ring.needs_end_mark());
                          send_end_marks(map, std::span(&ring, 1));
                          BOOST_TEST(ring.drain([](const PerfRecord&) {}) == 0u);
                          BOOST_TEST((ring.lost() == Loss::exactly(missing)));
                          BOOST_TEST(!ring.needs_end_mark());
                      });
}

BOOST_AUTO_TEST_CASE(a_perf_ring_wakes_when_so_much_is_unread) {
    const BpfMap counters = make_counters(2);
    const BpfMap map = make_ring_map();
    const Fd program = load_perf_sender(map, counters, 40);
    const Pinned pinned(0);
    PerfRing ring(0, 4 * page_bytes(), 2 * page_bytes());
    const unsigned cpu = 0;
    const int fd = ring.fd();
    map.update(bytes_of(cpu), bytes_of(fd));
    const Attachment attachment = attach_tracepoint(program.get(), event_id(kGetppid));
    call_getppid(5);
    BOOST_TEST(!is_readable(ring.fd(), 100));
    call_getppid(static_cast<int>(2 * page_bytes() / 64));
    BOOST_TEST(is_readable(ring.fd(), 1000));
    // What is unread is there to be read, woken or not.
    BOOST_TEST(ring.drain([](const PerfRecord&) {}) == 5 + 2 * page_bytes() / 64);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
