#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace gpufs {

class DynamicEvent;

// A program attached to an event, until this object is destroyed. Movable, not copyable.
class Attachment {
public:
    Attachment(Attachment&& other) noexcept;
    Attachment& operator=(Attachment&& other) noexcept;
    ~Attachment();

    // How the program was attached, for --explain: "kprobe PMU, BPF link".
    const std::string& how() const noexcept { return how_; }
    // Hits that the kernel did not deliver to the program; absent if the kernel does not count
    // them.
    std::optional<std::uint64_t> missed() const;
    // From now on the program does not run, where that takes no waiting: at perf events.
    void stop() const noexcept;
    // Detaches the program and waits until the kernel has done so. Throws SysError when a probe
    // event remains in tracefs; the destructor does the same but ignores errors.
    void detach();

private:
    friend class AttachmentMaker;
    friend void detach_all(std::vector<Attachment> all);
    friend void detach_in_background(std::vector<Attachment> all);
    Attachment();

    std::string how_;
    bool waits_ = true;  // closing waits for RCU grace periods; false for raw tracepoints
    std::vector<Fd> links_, events_;
    std::unique_ptr<DynamicEvent> dynamic_event_;
};

// Detaches all and waits. The cost is RCU grace periods. Of perf events they come one after another
// (2 CPUs, close() of one): on tracepoints 53 ms on Linux 6.1 and 56 on 6.12, both under emulation,
// 70 on 6.18; uprobes 66, 100, 110; kprobes 90 to 100; raw tracepoints 1 to 2. The kernel holds
// event_mutex meanwhile, so threads do not help, except since Linux 6.13, where detaching the BPF
// program waits as long again outside of it: 4 threads then halve the wait for tracepoints, and
// more threads do no better. PERF_EVENT_IOC_DISABLE first, links before events, and close_range(2)
// do not help either. Links without events hold no lock, so that threads wait for the same grace
// periods: 52 uprobe_multi links take 2.8 s one by one on 6.18, 0.1 s in as many threads. Raw
// tracepoints are closed newest first: in the other order each costs 1 ms more when several
// programs share a tracepoint, and threads cost more still.
void detach_all(std::vector<Attachment> all);

// The same without waiting for perf events: a child process holds the last references and exits at
// once, so that the wait happens in its exit. Their programs keep running until then, and who
// attaches others meanwhile waits for event_mutex. Probe events in tracefs are removed by this
// process, which waits for that. If fork(2) fails, the same as detach_all().
void detach_in_background(std::vector<Attachment> all);

// How a program is connected to an event. `newest` is the first of the others that this kernel has;
// tests request a specific one.
enum class HookWay {
    newest,
    link,   // BPF_LINK_CREATE (Linux 5.15): the only one with a cookie
    ioctl,  // PERF_EVENT_IOC_SET_BPF
};
enum class ProbeWay {
    newest,
    pmu,      // perf's own kprobe or uprobe (Linux 4.17): not visible in tracefs
    tracefs,  // kprobe_events, uprobe_events
};
struct AttachOptions {
    HookWay hook = HookWay::newest;
    ProbeWay probe = ProbeWay::newest;
    std::string group = "gpufs";  // group of events in tracefs
    std::uint64_t cookie = 0;     // returned by bpf_get_attach_cookie()
};

// Whether such a probe ("kprobe", "uprobe") would become an event in tracefs: those remain when
// this process is killed.
bool is_probe_event(std::string_view kind, ProbeWay way);

// All attach functions throw UnsupportedError, naming what is missing, when this kernel or this
// user cannot; SysError or Error otherwise. `program` may be closed afterwards: the kernel keeps
// its own reference.

// `id`: from the event's `id` file. The program must not read beyond the event's record.
Attachment attach_tracepoint(int program, std::uint64_t id, const AttachOptions& options = {});
// `name`: the event's name without its system, "sched_switch".
Attachment attach_raw_tracepoint(int program, const std::string& name);
// fentry, fexit, raw tracepoints with BTF: the loaded program determines the place.
Attachment attach_tracing(int program);

struct KprobePlace {
    std::string function;  // or "module:function"
    std::uint64_t offset = 0;
    bool at_return = false;
};
Attachment attach_kprobe(int program, const KprobePlace& place, const AttachOptions& options = {});

struct UprobePlace {
    std::string path;
    std::uint64_t offset = 0;            // in the file
    std::uint64_t semaphore_offset = 0;  // of the USDT semaphore in the file; 0: none
    bool at_return = false;
};
Attachment attach_uprobe(int program, const UprobePlace& place, const AttachOptions& options = {});

// Which kernels have the next. arm64's fprobes need what the function graph tracer has since then.
#if defined __aarch64__
inline constexpr std::string_view kHasKprobeMulti = "Linux 6.14 or later with CONFIG_FPROBE=y";
#else
inline constexpr std::string_view kHasKprobeMulti = "Linux 5.18 or later with CONFIG_FPROBE=y";
#endif
// One link for many functions (kHasKprobeMulti); the program's expected attach type
// is kAttachKprobeMulti. `cookies`: one per function, or empty.
struct KprobeSet {
    std::vector<std::string> functions;
    std::vector<std::uint64_t> cookies;
    bool at_return = false;
};
Attachment attach_kprobe_multi(int program, const KprobeSet& set);

// One link for many offsets in one file (Linux 6.6); the program's expected attach type is
// kAttachUprobeMulti. `semaphore_offsets` and `cookies`: one per offset, or empty.
struct UprobeSet {
    std::string path;
    std::vector<std::uint64_t> offsets, semaphore_offsets, cookies;
    bool at_return = false;
};
Attachment attach_uprobe_multi(int program, const UprobeSet& set);

constexpr std::uint32_t kAttachKprobeMulti = 42, kAttachUprobeMulti = 48;  // enum bpf_attach_type

// Runs a program each time a perf event has counted a period: nanoseconds of CPU clock, CPU cycles,
// faults...
struct Sampling {
    std::uint32_t type = PERF_TYPE_SOFTWARE;
    std::uint64_t config = PERF_COUNT_SW_CPU_CLOCK;
    std::uint64_t hz = 0;        // either a frequency,
    std::uint64_t period = 0;    // or a period in ns or events
    std::vector<unsigned> cpus;  // empty: all online CPUs
};
Attachment attach_sampling(int program, const Sampling& sampling,
                           const AttachOptions& options = {});

// Runs a program each time an instruction reads, writes or runs memory: of the kernel, or of any
// process at that address. A machine has few of them, four on x86-64 and up to sixteen on arm64.
struct Watchpoint {
    std::uint64_t address = 0;
    std::size_t bytes = 8;  // 1, 2, 4 or 8
    bool reads = false, writes = false, runs = false;
};
Attachment attach_watchpoint(int program, const Watchpoint& place,
                             const AttachOptions& options = {});
// "0x7f00:4:rw". Throws Error for another text.
Watchpoint parse_watchpoint(std::string_view text);

// Runs the program every `period_ns` on the first online CPU.
Attachment attach_interval(int program, std::uint64_t period_ns);

}  // namespace gpufs
