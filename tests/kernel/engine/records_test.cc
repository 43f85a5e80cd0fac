#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/trace/raw_buffer.h"
#include "lang/program/registers.h"
#include "support/kernel_text.h"
#include "support/needs.h"

// A function to put probes on.
extern "C" [[gnu::noinline]] int gpufs_probed(const char* text, int number);
extern "C" int gpufs_probed(const char* text, int number) {
    asm volatile("");  // keeps the calls
    return text ? number * 2 : -1;
}

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::as_text;
using test::compare_recorded;
using test::context_of;
using test::keep_busy;
using test::kernel_text;
using test::scaled;
using test::seen_of;
using test::top;
using test::TraceInstance;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(scheduling_and_interrupts_print_as_the_kernel_prints_them) {
    const TraceInstance instance;
    instance.enable({"sched", "irq", "timer", "workqueue", "task", "signal", "power", "ipi",
                     "irq_vectors", "context_switch", "rcu", "tlb", "csd", "cgroup", "notifier"});
    instance.set("events/sched/sched_switch/trigger", "stacktrace");
    instance.record([&] { keep_busy(instance, 200); });
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "sched_switch") > scaled(300));
    BOOST_TEST(seen_of(seen, "<stack") > scaled(300));
    BOOST_TEST(seen_of(seen, "tracing_mark_write") == 2 * scaled(200));
    BOOST_TEST(seen_of(seen, "hrtimer_start") > scaled(100));
    BOOST_TEST(seen_of(seen, "task_rename") >= 2 * scaled(200));
    BOOST_TEST(seen.size() > 20u);
}

BOOST_AUTO_TEST_CASE(system_calls_print_as_the_kernel_prints_them) {
    const TraceInstance instance;
    instance.enable({"syscalls", "raw_syscalls"});
    instance.record([&] { keep_busy(instance, 100); });
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "sys_getppid") >= 4 * scaled(100));
    BOOST_TEST(seen_of(seen, "sys_munmap") >= 4 * scaled(100));
    BOOST_TEST(seen.size() > 20u);
}

BOOST_AUTO_TEST_CASE(memory_files_and_sockets_print_as_the_kernel_prints_them) {
    const TraceInstance instance;
    instance.set("buffer_size_kb", std::to_string(scaled(20000)));
    instance.enable({"kmem",     "block",  "ext4",        "jbd2",    "writeback",  "filemap",
                     "pagemap",  "mmap",   "mmap_lock",   "net",     "skb",        "sock",
                     "udp",      "napi",   "qdisc",       "fib",     "neigh",      "exceptions",
                     "percpu",   "vmscan", "compaction",  "migrate", "maple_tree", "x86_fpu",
                     "rseq",     "oom",    "huge_memory", "vmalloc", "page_pool",  "iomap",
                     "filelock", "avc",    "capability",  "swiotlb", "dma",        "dma_fence",
                     "io_uring", "btrfs",  "xfs",         "nvme",    "scsi"});
    // Linux 6.1 records the address of a name, which is a name to the kernel alone.
    const auto queue =
        instance.tracefs().read_if_readable("events/virtio_gpu/virtio_gpu_cmd_queue/format");
    if (queue && queue->find("const char * name") == queue->npos) instance.enable({"virtio_gpu"});
    instance.record([&] { keep_busy(instance, 50); });
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "kmalloc") > 10);
    BOOST_TEST(seen.size() > 20u);
}

BOOST_AUTO_TEST_CASE(markers_and_user_stacks_print_as_the_kernel_prints_them) {
    const TraceInstance instance;
    instance.enable({"sched/sched_waking"});
    instance.set("options/userstacktrace", "1");
    instance.record([&] {
        instance.mark("no newline");
        instance.mark("two\nlines\n");
        instance.mark(std::string(900, 'x'));
        const Fd raw = open_file(instance.tracefs().path("trace_marker_raw"), O_WRONLY);
        for (const std::size_t size : {5, 8, 13, 200})
            write_all(raw.get(), std::string("\x42\0\0\0", 4) + std::string(size, 'r'), "raw");
        keep_busy(instance, 30);
    });
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "#") == 4);
    // Older kernels of arm64 have none.
    if (test::has_kernel_symbol("arch_stack_walk_user")) BOOST_TEST(seen_of(seen, "<user") > 3);
}

BOOST_AUTO_TEST_CASE(every_clock_prints_as_the_kernel_prints_it) {
    const TraceInstance instance;
    std::string clocks = instance.tracefs().read("trace_clock");
    std::erase_if(clocks, [](char c) { return c == '[' || c == ']' || c == '\n'; });
    std::vector<std::string> tried = split(clocks, ' ');
    if (std::getenv("GPUFS_VM_OUT")) tried = {"local", "counter", "mono"};
    for (const std::string& clock : tried) {
        BOOST_TEST_CONTEXT(clock) {
            instance.set("trace_clock", clock);
            instance.enable({"sched", "irq"});
            instance.record([&] { keep_busy(instance, 20); });
            compare_recorded(instance);
        }
    }
}

BOOST_AUTO_TEST_CASE(options_change_the_text_as_the_kernels) {
    const std::vector<std::vector<std::pair<std::string, std::string>>> choices = {
        {{"sym-offset", "1"}, {"stacktrace", "1"}},
        {{"sym-addr", "1"}, {"stacktrace", "1"}},
        {{"record-tgid", "1"}},
        {{"irq-info", "0"}},
        {{"context-info", "0"}},
    };
    for (const auto& choice : choices) {
        const TraceInstance instance;
        for (const auto& [option, value] : choice) instance.set("options/" + option, value);
        BOOST_TEST_CONTEXT(choice[0].first) {
            instance.enable({"sched", "irq"});
            instance.record([&] { keep_busy(instance, 20); });
            compare_recorded(instance);
        }
    }
}

BOOST_AUTO_TEST_CASE(filtered_and_discarded_events_leave_no_trace) {
    const TraceInstance instance;
    instance.enable({"sched", "irq", "timer", "kmem/kmalloc", "kmem/kfree"});
    instance.set("events/sched/filter", "common_pid & 1");
    instance.set("events/timer/filter", "common_pid & 1");
    instance.set("events/kmem/kmalloc/filter", "bytes_req > 100");
    instance.record([&] { keep_busy(instance, 50); });
    compare_recorded(instance);
}

// The offset of a function in the file that it came from.
std::uint64_t file_offset_of(const void* function) {
    const auto at = reinterpret_cast<std::uintptr_t>(function);
    const std::string maps = read_file("/proc/self/maps");
    for (const std::string_view line : lines_of(maps)) {
        std::uint64_t begin = 0, end = 0, offset = 0;
        char access[5];
        if (std::sscanf(std::string(line).c_str(), "%lx-%lx %4s %lx", &begin, &end, access,
                        &offset) == 4 &&
            at >= begin && at < end)
            return at - begin + offset;
    }
    return 0;
}

// Dynamic probes belong to the whole machine: these are in a group of this test's own.
class Probes {
public:
    ~Probes() {
        for (const std::string& event : events_) try {
                top().write(file_, cat("-:", event, '\n'), Write::append);
            } catch (const Error& e) {
                BOOST_ERROR(e.what());
            }
    }
    Probes(const Probes&) = delete;
    Probes& operator=(const Probes&) = delete;
    explicit Probes(std::string file) : file_(std::move(file)) {}

    void add(const std::string& kind, const std::string& name, const std::string& what) {
        top().write(file_, cat(kind, ':', group(), '/', name, ' ', what, '\n'), Write::append);
        events_.push_back(cat(group(), '/', name));
    }
    static std::string group() { return cat("gpufs_test_", ::getpid()); }

private:
    std::string file_;
    std::vector<std::string> events_;
};

BOOST_AUTO_TEST_CASE(user_probes_print_as_the_kernel_prints_them,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    Probes probes("uprobe_events");
    const std::string place = cat("/proc/self/exe:0x", [] {
        char hex[20];
        std::snprintf(hex, sizeof hex, "%lx",
                      file_offset_of(reinterpret_cast<void*>(gpufs_probed)));
        return std::string(hex);
    }());
    char self[4096] = {};
    BOOST_REQUIRE(::readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    const std::string at = cat(self, place.substr(place.find(':')));
    const std::string first = test::argument_register(0), second = test::argument_register(1);
    const TraceInstance instance;
    probes.add("p", "called",
               cat(at, " text=+0(", first, "):string number=", second, ":s32 hex=", second,
                   ":x64 byte=", second, ":u8"));
    probes.add("r", "returned", cat(at, " ret=$retval:s32"));
    instance.enable({Probes::group()});
    instance.record([] {
        for (int i = -50; i < 50; ++i) gpufs_probed(i % 7 == 0 ? nullptr : "a text", i);
    });
    instance.set(cat("events/", Probes::group(), "/enable"), "0");
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "called") == 100);
    BOOST_TEST(seen_of(seen, "returned") == 100);
}

BOOST_AUTO_TEST_CASE(kernel_probes_print_as_the_kernel_prints_them,
                     *ut::precondition(test::has_file{"kprobe_events"})) {
    Probes probes("kprobe_events");
    const TraceInstance instance;
    probes.add(
        "p", "opened",
        cat("do_sys_openat2 dfd=", test::argument_register(0), ":s32 name=+0(",
            test::argument_register(1), "):ustring how=", test::argument_register(2), ":x64"));
    probes.add("r", "opened_back", "do_sys_openat2 fd=$retval:s32");
    probes.add(
        "p", "read",
        cat("vfs_read ",
            test::has_kernel_symbol("linux_banner") ? "banner=+0(@linux_banner):string " : "",
            "at=%", tracefs_register(*register_offset("ip")).value(),
            ":symbol n=", test::argument_register(2), ":u64"));
    instance.enable({Probes::group()});
    instance.record([&] { keep_busy(instance, 20); });
    instance.set(cat("events/", Probes::group(), "/enable"), "0");
    const auto seen = compare_recorded(instance);
    BOOST_TEST(seen_of(seen, "opened") >= scaled(20));
    BOOST_TEST(seen_of(seen, "opened_back") >= scaled(20));
}

// Each line without its time, of each CPU in order.
std::vector<std::string> untimed(std::string_view text) {
    std::vector<std::string> lines;
    for (const std::string_view line : lines_of(text)) {
        const auto cpu = line.find('['), colon = line.find(": ");
        const auto time = line.rfind(' ', colon);
        lines.push_back(cat(line.substr(cpu, 5), line.substr(0, time), line.substr(colon)));
    }
    std::ranges::stable_sort(lines, {}, [](const std::string& l) { return l.substr(0, 5); });
    return lines;
}

BOOST_AUTO_TEST_CASE(synthetic_events_print_as_the_kernel_prints_them,
                     *ut::precondition(test::has_file{"synthetic_events"})) {
    const std::string name = cat("gpufs_test_", ::getpid());
    struct Synthetic {
        std::string name;
        ~Synthetic() {
            try {
                top().write("synthetic_events", cat('!', name, '\n'), Write::append);
            } catch (const Error& e) {
                BOOST_ERROR(e.what());
            }
        }
    };
    top().write("synthetic_events", cat(name, " pid_t pid; u64 us; char comm[]\n"), Write::append);
    const Synthetic removal{name};
    {
        const TraceInstance instance;
        instance.enable({"synthetic/" + name});
        instance.set("events/sched/sched_waking/trigger",
                     "hist:keys=pid:ts0=common_timestamp.usecs");
        instance.set("events/sched/sched_switch/trigger",
                     cat("hist:keys=next_pid:us=common_timestamp.usecs-$ts0:"
                         "onmatch(sched.sched_waking).trace(",
                         name, ",next_pid,$us,next_comm)"));
        instance.record([&] { keep_busy(instance, 50); });
        for (const char* event : {"sched_switch", "sched_waking"}) {
            const std::string file = cat("events/sched/", event, "/trigger");
            const std::string set = instance.tracefs().read(file);
            for (const std::string_view line : lines_of(set))
                instance.tracefs().write(file, cat('!', line.substr(0, line.rfind(" ["))),
                                         Write::append);
        }
        // The records that the triggers looked at were discarded; the kernel's text forgets the
        // time they took, so times differ, and with them the order among CPUs.
        std::unique_ptr<LiveTrace> live;
        const std::string text = kernel_text(instance, [&] { live = context_of(instance); });
        RawBuffer buffer(instance.tracefs());
        buffer.drain_rest();
        BOOST_TEST(untimed(as_text(buffer, live->context())) == untimed(text),
                   boost::test_tools::per_element());
        BOOST_TEST(lines_of(text).size() > 10u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
