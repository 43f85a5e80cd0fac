#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "engine/trace/buffer_snapshot.h"
#include "engine/trace/kernel_events.h"
#include "engine/trace/raw_buffer.h"
#include "support/kernel_text.h"
#include "support/skip.h"

namespace ut = boost::unit_test;
using namespace std::chrono_literals;

namespace gpufs {
namespace {

using test::as_text;
using test::compare_recorded;
using test::context_of;
using test::keep_busy;
using test::seen_of;
using test::top;
using test::TraceInstance;

template <class Source>
std::size_t count(Source& source) {
    std::size_t n = 0;
    while (source.next()) ++n;
    return n;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(buffers)

BOOST_AUTO_TEST_CASE(larger_sub_buffers_are_read,
                     *ut::precondition(test::has_file{"buffer_subbuf_size_kb"})) {
    const TraceInstance instance;
    instance.set("buffer_subbuf_size_kb", "16");
    instance.enable({"sched", "irq", "syscalls"});
    instance.record([&] { keep_busy(instance, 100); });
    BOOST_TEST(page_layout(instance.tracefs()).page_bytes == 16384u);
    compare_recorded(instance);
    RawBuffer buffer(instance.tracefs());
    buffer.drain_rest();
    BOOST_TEST(count(buffer) > 100u);
    BOOST_TEST(buffer.damage().empty());
}

BOOST_AUTO_TEST_CASE(a_snapshot_takes_nothing_and_agrees_with_what_is_taken) {
    const TraceInstance instance;
    instance.enable({"sched", "irq", "timer"});
    instance.record([&] { keep_busy(instance, 100); });
    const auto live = context_of(instance);
    auto first = BufferSnapshot::open(instance.tracefs());
    utsname name{};
    ::uname(&name);
    int major = 0, minor = 0;
    std::sscanf(name.release, "%d.%d", &major, &minor);
    BOOST_TEST(first.has_value() == (std::pair(major, minor) >= std::pair(6, 10)));
    if (!first) return;
    const std::string text = as_text(*first, live->context());
    first.reset();
    auto second = BufferSnapshot::open(instance.tracefs());
    BOOST_TEST(as_text(*second, live->context()) == text);
    second.reset();
    RawBuffer buffer(instance.tracefs());
    buffer.drain_rest();
    BOOST_TEST(as_text(buffer, live->context()) == text);
    BOOST_TEST(text.size() > 5000u);
    auto empty = BufferSnapshot::open(instance.tracefs());
    BOOST_TEST(count(*empty) == 0u);
}

BOOST_AUTO_TEST_CASE(a_snapshot_begins_behind_what_was_read_of_a_page) {
    const TraceInstance instance;
    instance.record([&] {
        for (int i = 0; i < 200; ++i) instance.mark(cat("marker ", i, '\n'));
    });
    if (!BufferSnapshot::open(instance.tracefs()))
        return test::skip("needs a buffer that can be mapped");
    // trace_pipe takes records one by one.
    const Fd pipe = open_file(instance.tracefs().path("trace_pipe"), O_RDONLY | O_NONBLOCK);
    char some[300];
    BOOST_REQUIRE(::read(pipe.get(), some, sizeof some) > 0);
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "tracing_mark_write") < 200);
    BOOST_TEST(seen_of(seen, "tracing_mark_write") > 150);
}

// "entries: 12" of per_cpu/cpuN/stats.
std::uint64_t stat_of(const TraceInstance& instance, int cpu, std::string_view key) {
    const std::string stats = instance.tracefs().read(cat("per_cpu/cpu", cpu, "/stats"));
    const auto at = stats.find(key);
    return at == stats.npos ? 0 : std::stoull(stats.substr(at + key.size()));
}

struct Losses {
    std::uint64_t read = 0, entries = 0, overrun = 0;
    Loss lost;  // as the pages say
};
// What stats say, and what reading it all says.
Losses read_losses(const TraceInstance& instance) {
    Losses found;
    for (const int cpu : buffer_cpus(instance.tracefs())) {
        found.entries += stat_of(instance, cpu, "entries: ");
        found.overrun += stat_of(instance, cpu, "\noverrun: ");
    }
    if (auto snapshot = BufferSnapshot::open(instance.tracefs())) {
        BOOST_TEST(snapshot->overrun() == found.overrun);
        snapshot.reset();
        compare_recorded(instance);
    }
    RawBuffer buffer(instance.tracefs());
    buffer.drain_rest();
    for (; const TraceRecord* r = buffer.next(); ++found.read) found.lost += r->lost_before;
    // Whatever the pages say, nobody else has read the buffer.
    const std::uint64_t overrun = found.overrun;
    BOOST_TEST((buffer.losses().total() == Loss::exactly(overrun)));
    BOOST_TEST(found.read == found.entries);
    BOOST_TEST(found.overrun > 1000u);
    return found;
}

BOOST_AUTO_TEST_CASE(losses_are_counted_as_the_kernel_counts_them) {
    const TraceInstance instance;
    instance.set("buffer_size_kb", "8");
    // Records of one size that leave room for the count at each page's end.
    instance.record([&] {
        for (int i = 0; i < 3000; ++i) instance.mark(std::string(100, 'x'));
    });
    const Losses found = read_losses(instance);
    BOOST_TEST((found.lost == Loss::exactly(found.overrun)));
}

BOOST_AUTO_TEST_CASE(a_loss_the_kernel_has_no_room_to_count_is_told_too) {
    const TraceInstance instance;
    instance.set("buffer_size_kb", "8");
    instance.enable({"sched", "irq", "syscalls", "kmem"});
    instance.record([&] { keep_busy(instance, 100); });
    const Losses found = read_losses(instance);
    BOOST_TEST(found.lost.least <= found.overrun);
    BOOST_TEST(found.lost.most >= found.overrun);
}

// Markers whose text says whether it is whole: "7 7 7 7".
std::string whole_marker(int i) {
    return cat(i, ' ', i, ' ', i, ' ', i, '\n');
}
int parse_marker(RecordBytes bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data()) + 16;
    int a = -1, b = -2, c = -3, d = -4;
    if (bytes.size() < 24 || std::sscanf(text, "%d %d %d %d", &a, &b, &c, &d) != 4) return -1;
    return a == b && b == c && c == d ? a : -1;
}

BOOST_AUTO_TEST_CASE(a_snapshot_of_a_live_buffer_has_whole_records_in_order) {
    const TraceInstance instance;
    instance.set("buffer_size_kb", "64");
    instance.set("tracing_on", "1");
    if (!BufferSnapshot::open(instance.tracefs()))
        return test::skip("needs buffers that can be mapped: Linux 6.10 or later");
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (int w = 0; w < 2; ++w)
        writers.emplace_back([&] {
            const Fd fd = open_file(instance.tracefs().path("trace_marker"), O_WRONLY);
            for (int i = 0; !stop; ++i) write_all(fd.get(), whole_marker(i), "trace_marker");
        });
    std::size_t total = 0, gaps = 0;
    // As many as it takes to meet pages that are being overwritten, on a slow machine too.
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (total < 5000 && std::chrono::steady_clock::now() < until) {
        auto snapshot = BufferSnapshot::open(instance.tracefs());
        if (!snapshot) break;
        std::uint64_t last = 0;
        int bad = 0, late = 0;
        while (const TraceRecord* r = snapshot->next()) {
            bad += parse_marker(r->bytes) < 0;
            late += r->timestamp < last;
            last = r->timestamp;
            gaps += !r->lost_before.is_zero();
            // A slow reader: pages are overwritten between plan and copy.
            if (++total % 300 == 0) std::this_thread::sleep_for(500us);
        }
        BOOST_TEST(bad == 0);
        BOOST_TEST(late == 0);
        BOOST_TEST(snapshot->damage().empty());
    }
    stop = true;
    for (std::thread& t : writers) t.join();
    BOOST_TEST_MESSAGE("live snapshots: " << total << " records, " << gaps << " gaps");
    BOOST_TEST(total >= 5000u);
}

BOOST_AUTO_TEST_CASE(live_reading_wakes_soon_and_keeps_the_order) {
    const TraceInstance instance;
    instance.set("tracing_on", "1");
    RawBuffer buffer(instance.tracefs());
    BOOST_TEST(buffer.wake_fd() >= 0);
    // One record is far from filling the buffer to buffer_percent.
    std::vector<double> delays;
    for (int i = 0; i < 10; ++i) {
        std::atomic<std::chrono::steady_clock::time_point> written{};
        std::thread writer([&] {
            std::this_thread::sleep_for(30ms);
            written = std::chrono::steady_clock::now();
            instance.mark(whole_marker(i));
        });
        int seen = 0;
        while (seen == 0) {
            BOOST_REQUIRE(buffer.wait(-1, 60s));
            if (!buffer.drain()) continue;
            while (const TraceRecord* r = buffer.next()) {
                BOOST_TEST(parse_marker(r->bytes) == i);
                ++seen;
            }
        }
        const auto now = std::chrono::steady_clock::now();
        writer.join();
        delays.push_back(std::chrono::duration<double, std::milli>(now - written.load()).count());
        BOOST_TEST(seen == 1);
    }
    std::ranges::sort(delays);
    BOOST_TEST_MESSAGE("from marker to record: median " << delays[5] << " ms");
    // At once: long before the wait would have ended by itself.
    BOOST_TEST(delays[5] < 5'000);

    // Two CPUs write; nothing is lost, and what comes out is in order although it comes in pieces.
    constexpr int kEach = 5000;
    std::atomic<int> running = 2;
    std::vector<std::thread> writers;
    for (int w = 0; w < 2; ++w)
        writers.emplace_back([&, w] {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(w, &set);
            ::sched_setaffinity(0, sizeof set, &set);
            const Fd fd = open_file(instance.tracefs().path("trace_marker"), O_WRONLY);
            for (int i = 0; i < kEach; ++i) {
                write_all(fd.get(), whole_marker(i), "trace_marker");
                if (i % 100 == 0) std::this_thread::sleep_for(1ms);
            }
            --running;
        });
    std::uint64_t last = 0;
    int seen = 0, late = 0, pieces = 0;
    const auto take = [&] {
        ++pieces;
        while (const TraceRecord* r = buffer.next()) {
            ++seen;
            late += r->timestamp < last;
            last = r->timestamp;
        }
    };
    while (running > 0 && buffer.wait(-1, 100ms))
        if (buffer.drain()) take();
    for (std::thread& t : writers) t.join();
    buffer.drain_rest();
    take();
    BOOST_TEST(seen == 2 * kEach);
    BOOST_TEST(late == 0);
    BOOST_TEST(pieces > 2);
    BOOST_TEST(buffer.losses().is_complete());
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_wait) {
    const TraceInstance instance;
    RawBuffer buffer(instance.tracefs());
    int pipe_fds[2];
    BOOST_REQUIRE(::pipe(pipe_fds) == 0);
    const Fd reading(pipe_fds[0]), writing(pipe_fds[1]);
    std::thread stopper([&] {
        std::this_thread::sleep_for(20ms);
        write_all(writing.get(), "x", "pipe");
    });
    BOOST_TEST(!buffer.wait(reading.get(), 10s));
    stopper.join();
}

BOOST_AUTO_TEST_CASE(events_are_found_by_the_ids_their_files_have) {
    Events catalog = kernel_events(top());
    const std::vector<std::string>& events = catalog.names();
    for (std::size_t i = 0; i < events.size(); i += 97) {
        const auto id = top().read_if_readable(event_directory(events[i]) + "/id");
        if (!id) continue;
        const TraceEvent* const event = catalog.find(std::stoi(*id));
        BOOST_TEST_REQUIRE(event, events[i]);
        BOOST_TEST(event->format.full_name() == events[i]);
    }
    for (const std::string& name : list_directory(top().path("events/ftrace"))) {
        const auto id = top().read_if_readable(cat("events/ftrace/", name, "/id"));
        if (id) BOOST_TEST(catalog.find(std::stoi(*id))->format.name == name);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
