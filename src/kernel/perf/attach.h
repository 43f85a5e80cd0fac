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

// A program that runs at some place, until this goes. Moves, never copies.
class Attachment {
public:
    Attachment(Attachment&& other) noexcept;
    Attachment& operator=(Attachment&& other) noexcept;
    ~Attachment();

    // How it was done, for those who ask: "kprobe PMU, BPF link".
    const std::string& how() const noexcept { return how_; }
    // Hits that the kernel could not deliver to the program; absent where it does not say.
    std::optional<std::uint64_t> missed() const;
    // Takes the program off, and waits until the kernel has. Throws SysError when a probe event of
    // tracefs stays; the destructor does the same and says nothing.
    void detach();

private:
    friend class AttachmentMaker;
    friend void detach_all(std::vector<Attachment> all);
    friend void detach_in_background(std::vector<Attachment> all);
    Attachment();

    std::string how_;
    bool waits_ = true;  // closing waits for grace periods of RCU: not so for raw tracepoints
    std::vector<Fd> links_, events_;
    std::unique_ptr<DynamicEvent> dynamic_event_;
};

// Takes all off, and waits. What it costs is waiting for grace periods of RCU, one after another
// (2 CPUs, close() of one): perf events on tracepoints 53 ms on Linux 6.1 and 56 on 6.12, both
// under emulation, 70 on 6.18; uprobes 66, 100, 110; kprobes 90 to 100; raw tracepoints 1 to 2. The
// kernel holds event_mutex meanwhile, so several threads gain nothing, except from Linux 6.13 on,
// where detaching the BPF program waits as long again outside of it: 4 threads then halve the wait
// for tracepoints, and more do no better. PERF_EVENT_IOC_DISABLE first, links before events, and
// close_range(2) gain nothing either. Raw tracepoints are closed newest first: the other way round
// each costs 1 ms more when several programs share a tracepoint, and threads cost more still.
void detach_all(std::vector<Attachment> all);

// Takes all off and does not wait: a child process holds the last references and exits at once, so
// the waiting happens in its exit. The programs run on until then. Probe events of tracefs are
// removed here, which waits. Without a child (fork(2) fails) as detach_all.
void detach_in_background(std::vector<Attachment> all);

// `newest` is the first of the others that this kernel has; a test asks for one of them.
enum class HookWay {
    newest,
    link,   // BPF_LINK_CREATE (Linux 5.15): the one that takes a cookie
    ioctl,  // PERF_EVENT_IOC_SET_BPF
};
enum class ProbeWay {
    newest,
    pmu,      // perf's own kprobe or uprobe (Linux 4.17): leaves no trace in tracefs
    tracefs,  // kprobe_events, uprobe_events
};
struct AttachOptions {
    HookWay hook = HookWay::newest;
    ProbeWay probe = ProbeWay::newest;
    std::string group = "gpufs";  // of events in tracefs
    std::uint64_t cookie = 0;     // what bpf_get_attach_cookie() answers
};

// Whether such a probe ("kprobe", "uprobe") would be an event of tracefs, in the group: those stay
// when this process is killed.
bool is_probe_event(std::string_view kind, ProbeWay way);

// All throw UnsupportedError, saying what is missing, where this kernel or this user cannot;
// SysError or Error otherwise. `program` is borrowed for the call: the kernel keeps its own
// reference.

// `id`: from the event's `id` file. The program must read no more than the event's record.
Attachment attach_tracepoint(int program, std::uint64_t id, const AttachOptions& options = {});
// "sched_switch": the event's name without its system.
Attachment attach_raw_tracepoint(int program, const std::string& name);
// fentry, fexit, raw tracepoints with BTF: the place is in the loaded program.
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
    std::uint64_t semaphore_offset = 0;  // in the file, of a USDT semaphore; 0: none
    int pid = -1;                        // one process; -1: all
    bool at_return = false;
};
Attachment attach_uprobe(int program, const UprobePlace& place, const AttachOptions& options = {});

// One link for many functions (Linux 5.18 with CONFIG_FPROBE); the program's expected attach type
// is kAttachKprobeMulti. `cookies`: one for each, or none.
struct KprobeSet {
    std::vector<std::string> functions;
    std::vector<std::uint64_t> cookies;
    bool at_return = false;
};
Attachment attach_kprobe_multi(int program, const KprobeSet& set);

// One link for many places of one file (Linux 6.6); the program's expected attach type is
// kAttachUprobeMulti. `semaphore_offsets` and `cookies`: one for each, or none.
struct UprobeSet {
    std::string path;
    std::vector<std::uint64_t> offsets, semaphore_offsets, cookies;
    int pid = -1;
    bool at_return = false;
};
Attachment attach_uprobe_multi(int program, const UprobeSet& set);

constexpr std::uint32_t kAttachKprobeMulti = 42, kAttachUprobeMulti = 48;  // enum bpf_attach_type

// Runs at regular intervals of a perf event: nanoseconds of the CPU's clock, CPU cycles, faults...
struct Sampling {
    std::uint32_t type = PERF_TYPE_SOFTWARE;
    std::uint64_t config = PERF_COUNT_SW_CPU_CLOCK;
    std::uint64_t hz = 0;        // either so many a second,
    std::uint64_t period = 0;    // or one each `period` ns or events
    int pid = -1;                // one task; -1: all that runs on `cpus`
    std::vector<unsigned> cpus;  // empty: all online
};
Attachment attach_sampling(int program, const Sampling& sampling,
                           const AttachOptions& options = {});

// Runs every `period_ns`, on the first CPU that is online.
Attachment attach_interval(int program, std::uint64_t period_ns);

}  // namespace gpufs
