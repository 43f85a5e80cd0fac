#include "kernel/perf/attach.h"

#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/text.h"
#include "kernel/bpf/syscall.h"
#include "kernel/host/cpus.h"
#include "kernel/perf/attachment.h"
#include "kernel/perf/event.h"

namespace gpufs {
namespace {

// An event on one online CPU is enough: the program then runs for every hit on any CPU.
Fd open_somewhere(const perf_event_attr& attr, std::string_view what) {
    return open_perf_event(attr, -1, static_cast<int>(online_cpus().front()), what);
}

Fd open_tracepoint(std::uint64_t id, std::string_view what) {
    perf_event_attr attr = perf_attr(PERF_TYPE_TRACEPOINT, id);
    attr.sample_period = 1;
    attr.disabled = 1;
    return open_somewhere(attr, what);
}

// The PMU for a probe; absent when it goes through tracefs. Throws if the requested way does not
// exist.
std::optional<Pmu> pmu_for(std::string_view name, ProbeWay way) {
    if (way == ProbeWay::tracefs) return std::nullopt;
    const auto pmu = Pmu::find(name);
    if (!pmu && way == ProbeWay::pmu)
        throw UnsupportedError(cat("this kernel has no perf unit '", name, "'"),
                               "Linux 4.17 or later, with CONFIG_KPROBE_EVENTS=y and "
                               "CONFIG_UPROBE_EVENTS=y");
    return pmu;
}

[[noreturn]] void throw_kprobe_error(const SysError& e, const KprobePlace& place,
                                     const std::string& what) {
    // perf reports ENOENT; tracefs reports ENOENT, or EINVAL with this message.
    if (e.code() == ENOENT ||
        e.evidence().find("Invalid probed address or symbol") != std::string::npos)
        throw Error(cat("cannot ", what, ": this kernel has no such function"),
                    "functions are in /proc/kallsyms; some are inlined or renamed (.isra.0)");
    if (e.code() == EADDRNOTAVAIL)
        throw Error(cat("cannot ", what, ": several functions have this name"),
                    "an offset from a function next to it, or module:function");
    if (e.code() == EINVAL || e.code() == EILSEQ)
        throw Error(cat("cannot ", what, ": the kernel allows no probe there"),
                    place.offset ? "it is no instruction's first byte, or not for probes"
                                 : "see /sys/kernel/debug/kprobes/blacklist",
                    e.evidence());
    throw;
}

[[noreturn]] void throw_uprobe_error(const SysError& e, const std::string& what) {
    if (e.code() == ENOENT) throw Error(cat("cannot ", what, ": there is no such file"));
    if (e.code() == kENotSupp)
        throw Error(cat("cannot ", what, ": the instruction there cannot be probed"));
    if (e.code() == EINVAL)
        throw Error(cat("cannot ", what, ": the kernel allows no probe there"),
                    "the offset counts from the start of the file and is in its code",
                    e.evidence());
    throw;
}

Attachment kprobe_by_tracefs(int program, const KprobePlace& place, const AttachOptions& options,
                             const std::string& what) {
    AttachmentMaker maker("kprobe_events");
    std::string where = place.function;
    if (place.offset) where += cat('+', place.offset);
    try {
        const DynamicEvent& event = maker.own(DynamicEvent(
            "kprobe_events", place.at_return ? "r" : "p", options.group, place.function, where));
        maker.hook(open_tracepoint(event.id(), what), program, options, what);
    } catch (const SysError& e) {
        throw_kprobe_error(e, place, what);
    }
    return maker.finish();
}

Attachment uprobe_by_tracefs(int program, const UprobePlace& place, const AttachOptions& options,
                             const std::string& what) {
    if (place.path.find_first_of(" \t\n") != place.path.npos)
        throw UnsupportedError(cat("cannot ", what, ": uprobe_events takes no path with blanks"),
                               "a kernel with perf's uprobe (Linux 4.17)");
    AttachmentMaker maker("uprobe_events");
    std::string where = cat(place.path, ':', hex(place.offset));
    if (place.semaphore_offset) where += cat('(', hex(place.semaphore_offset), ')');
    const std::string file(file_name(place.path));
    try {
        const DynamicEvent& event = maker.own(
            DynamicEvent("uprobe_events", place.at_return ? "r" : "p", options.group, file, where));
        maker.hook(open_tracepoint(event.id(), what), program, options, what);
    } catch (const SysError& e) {
        throw_uprobe_error(e, what);
    }
    return maker.finish();
}

// Makes a "multi" link: many places with one descriptor, and one grace period when it is closed.
Attachment attach_multi(bpf_attr& attr, std::string_view how, const std::string& what,
                        std::string_view since) {
    AttachmentMaker maker(how);
    Fd link{sys_bpf(BPF_LINK_CREATE, attr)};
    if (!link) {
        const int code = errno;
        if (code == EINVAL || code == EOPNOTSUPP || code == kENotSupp)
            throw UnsupportedError(cat("cannot ", what, " by one link"), std::string(since));
        if (code == ESRCH || code == ENOENT)
            throw Error(cat("cannot ", what, ": a function, a file or the process is not there"));
        throw_bpf_error(code, what);
    }
    maker.add_link(std::move(link));
    return maker.finish();
}

Attachment open_raw_tracepoint(int program, const char* name, std::string_view how,
                               const std::string& what) {
    bpf_attr attr = zeroed_attr();
    attr.raw_tracepoint.name = name ? address_of(name) : 0;
    attr.raw_tracepoint.prog_fd = static_cast<__u32>(program);
    Fd link{sys_bpf(BPF_RAW_TRACEPOINT_OPEN, attr)};
    if (!link) {
        const int code = errno;
        if (code == ENOENT)
            throw Error(cat("cannot ", what, ": this kernel has no such tracepoint"));
        if (code == EEXIST)
            throw Error(cat("cannot ", what, ": this program is attached there already"),
                        "before Linux 6.10 a tracepoint takes a program once: load it again");
        if (code == EINVAL)
            throw UnsupportedError(cat("cannot ", what, ": this kernel does not support it"),
                                   "Linux 4.17 or later, and a program of this kind; it may read "
                                   "more arguments than the tracepoint has");
        throw_bpf_error(
            code, what,
            name ? ""
                 : "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y; or a kprobe, where there are any");
    }
    AttachmentMaker maker(how);
    maker.add_link(std::move(link));
    if (name) maker.set_quick_to_close();
    return maker.finish();
}

[[noreturn]] void throw_sampling_error(const SysError& e, const Sampling& sampling,
                                       const std::string& what) {
    const bool is_hardware = sampling.type == PERF_TYPE_HARDWARE;
    if (is_hardware && (e.code() == ENOENT || e.code() == EOPNOTSUPP || e.code() == ENODEV))
        throw UnsupportedError(cat("cannot ", what, ": this machine has no such counter for us"),
                               "virtual machines often have none: use cpu-clock");
    if (e.code() == EINVAL && sampling.hz) {
        constexpr const char* kLimit = "/proc/sys/kernel/perf_event_max_sample_rate";
        throw Error(cat("cannot ", what, ": the kernel does not sample so often"),
                    cat("kernel.perf_event_max_sample_rate is ",
                        trim(read_file_if_readable(kLimit).value_or("not known"))));
    }
    throw;
}

perf_event_attr sampling_attr(const Sampling& sampling) {
    perf_event_attr attr = perf_attr(sampling.type, sampling.config);
    if (sampling.hz) {
        attr.freq = 1;
        attr.sample_freq = sampling.hz;
    } else {
        attr.sample_period = sampling.period;
    }
    attr.disabled = 1;
    return attr;
}

}  // namespace

bool is_probe_event(std::string_view kind, ProbeWay way) {
    return way == ProbeWay::tracefs || (way == ProbeWay::newest && !Pmu::find(kind));
}

Attachment attach_tracepoint(int program, std::uint64_t id, const AttachOptions& options) {
    const std::string what = cat("attach to tracepoint ", id);
    AttachmentMaker maker("tracepoint");
    try {
        maker.hook(open_tracepoint(id, what), program, options, what);
    } catch (const SysError& e) {
        if (e.code() == ENOENT)
            throw Error(cat("cannot ", what, ": this kernel has no such event"));
        throw;
    }
    return maker.finish();
}

Attachment attach_raw_tracepoint(int program, const std::string& name) {
    return open_raw_tracepoint(program, name.c_str(), "raw tracepoint",
                               cat("attach to raw tracepoint '", name, "'"));
}

Attachment attach_tracing(int program) {
    return open_raw_tracepoint(program, nullptr, "trampoline", "attach to a function by its BTF");
}

Attachment attach_kprobe(int program, const KprobePlace& place, const AttachOptions& options) {
    const std::string what = cat("probe ", place.at_return ? "the return of " : "",
                                 "kernel function '", place.function, "'");
    const auto pmu = pmu_for("kprobe", options.probe);
    if (!pmu) return kprobe_by_tracefs(program, place, options, what);
    perf_event_attr attr = perf_attr(pmu->type, 0);
    if (place.at_return) attr.config |= std::uint64_t{1} << pmu_config_bit("kprobe", "retprobe");
    attr.config1 = address_of(place.function.c_str());
    attr.config2 = place.offset;
    attr.disabled = 1;
    AttachmentMaker maker("kprobe PMU");
    try {
        maker.hook(open_somewhere(attr, what), program, options, what);
    } catch (const SysError& e) {
        throw_kprobe_error(e, place, what);
    }
    return maker.finish();
}

Attachment attach_uprobe(int program, const UprobePlace& place, const AttachOptions& options) {
    const std::string what =
        cat("probe ", place.at_return ? "the return of " : "", place.path, ":", hex(place.offset));
    const auto pmu = pmu_for("uprobe", options.probe);
    if (!pmu) return uprobe_by_tracefs(program, place, options, what);
    perf_event_attr attr = perf_attr(pmu->type, 0);
    if (place.at_return) attr.config |= std::uint64_t{1} << pmu_config_bit("uprobe", "retprobe");
    if (place.semaphore_offset)
        attr.config |= place.semaphore_offset << pmu_config_bit("uprobe", "ref_ctr_offset");
    attr.config1 = address_of(place.path.c_str());
    attr.config2 = place.offset;
    attr.disabled = 1;
    AttachmentMaker maker("uprobe PMU");
    try {
        maker.hook(open_somewhere(attr, what), program, options, what);
    } catch (const SysError& e) {
        throw_uprobe_error(e, what);
    }
    return maker.finish();
}

Attachment attach_kprobe_multi(int program, const KprobeSet& set) {
    std::vector<const char*> names;
    for (const std::string& function : set.functions) names.push_back(function.c_str());
    bpf_attr attr = zeroed_attr();
    attr.link_create.prog_fd = static_cast<__u32>(program);
    attr.link_create.attach_type = static_cast<__u32>(kAttachKprobeMulti);
    attr.link_create.kprobe_multi.flags = set.at_return ? 1 : 0;  // BPF_F_KPROBE_MULTI_RETURN
    attr.link_create.kprobe_multi.cnt = static_cast<__u32>(names.size());
    attr.link_create.kprobe_multi.syms = address_of(names.data());
    attr.link_create.kprobe_multi.cookies =
        set.cookies.empty() ? 0 : address_of(set.cookies.data());
    return attach_multi(attr, "kprobe_multi link",
                        cat("probe ", counted(names.size(), "kernel function")), kHasKprobeMulti);
}

Attachment attach_uprobe_multi(int program, const UprobeSet& set) {
    UprobeMultiAttr multi{};
    multi.prog_fd = static_cast<__u32>(program);
    multi.attach_type = kAttachUprobeMulti;
    multi.path = address_of(set.path.c_str());
    multi.offsets = address_of(set.offsets.data());
    if (!set.semaphore_offsets.empty())
        multi.ref_ctr_offsets = address_of(set.semaphore_offsets.data());
    if (!set.cookies.empty()) multi.cookies = address_of(set.cookies.data());
    multi.cnt = static_cast<__u32>(set.offsets.size());
    multi.flags = set.at_return ? 1 : 0;  // BPF_F_UPROBE_MULTI_RETURN
    bpf_attr attr = as_attr(multi);
    return attach_multi(attr, "uprobe_multi link",
                        cat("probe ", counted(set.offsets.size(), "place"), " of ", set.path),
                        "Linux 6.6 or later with CONFIG_UPROBES=y");
}

Attachment attach_sampling(int program, const Sampling& sampling, const AttachOptions& options) {
    const std::string what =
        sampling.hz ? cat("sample at ", sampling.hz, " Hz") : cat("sample each ", sampling.period);
    if (!sampling.hz == !sampling.period)
        throw Error("sampling takes a frequency or a period, one of them");
    const perf_event_attr attr = sampling_attr(sampling);
    AttachmentMaker maker("perf event");
    try {
        for (const unsigned cpu : sampling.cpus.empty() ? online_cpus() : sampling.cpus)
            maker.hook(open_perf_event(attr, -1, static_cast<int>(cpu), what), program, options,
                       what);
    } catch (const SysError& e) {
        throw_sampling_error(e, sampling, what);
    }
    return maker.finish();
}

Watchpoint parse_watchpoint(std::string_view text) {
    Scan scan(text);
    Watchpoint made;
    std::optional<std::uint64_t> address, bytes;
    if (scan.take("0x")) address = scan.take_number<std::uint64_t>(16);
    if (scan.take(":")) bytes = scan.take_number<std::uint64_t>();
    const bool has_length = bytes && (*bytes == 1 || *bytes == 2 || *bytes == 4 || *bytes == 8);
    if (!address || !has_length || !scan.take(":") || scan.at_end() ||
        scan.rest().find_first_not_of("rwx") != scan.rest().npos)
        throw Error(cat("'", text, "' is no watchpoint"), "such as 0xffffffff81000000:8:rw");
    made.address = *address;
    made.bytes = *bytes;
    made.reads = scan.rest().find('r') != scan.rest().npos;
    made.writes = scan.rest().find('w') != scan.rest().npos;
    made.runs = scan.rest().find('x') != scan.rest().npos;
    return made;
}

namespace {

// Whether a watchpoint on our own memory counts a write there: some hypervisors take the debug
// registers and never tell. True where it cannot be asked.
bool watchpoints_fire() {
    volatile std::uint64_t watched = 0;
    perf_event_attr attr = perf_attr(PERF_TYPE_BREAKPOINT, 0);
    attr.bp_type = HW_BREAKPOINT_W;
    attr.bp_addr = reinterpret_cast<std::uintptr_t>(&watched);
    attr.bp_len = sizeof watched;
    attr.exclude_kernel = 1;
    try {
        const Fd event = open_perf_event(attr, 0, -1, "try a watchpoint");
        watched = 1;
        std::uint64_t count = 0;
        return ::read(event.get(), &count, sizeof count) != sizeof count || count != 0;
    } catch (const Error&) {
        return true;
    }
}

}  // namespace

Attachment attach_watchpoint(int program, const Watchpoint& place, const AttachOptions& options) {
    const std::string what =
        cat("watch ", counted(place.bytes, "byte"), " at ", hex(place.address));
    perf_event_attr attr = perf_attr(PERF_TYPE_BREAKPOINT, 0);
    const auto mode = [&](bool is_wanted, std::uint32_t bit) {
        if (is_wanted) attr.bp_type |= bit;
    };
    mode(place.reads, HW_BREAKPOINT_R);
    mode(place.writes, HW_BREAKPOINT_W);
    mode(place.runs, HW_BREAKPOINT_X);
    attr.bp_addr = place.address;
    // Of code the length is that of a word, whatever the instruction's is.
    attr.bp_len = place.runs ? sizeof(long) : place.bytes;
    attr.sample_period = 1;
    AttachmentMaker maker("breakpoint");
    try {
        for (const unsigned cpu : online_cpus())
            maker.hook(open_perf_event(attr, -1, static_cast<int>(cpu), what), program, options,
                       what);
    } catch (const SysError& e) {
        if (e.code() == ENOSPC)
            throw Error(cat("cannot ", what, ": all breakpoints of the machine are in use"),
                        "another program's watchpoints, or a debugger's");
        if (e.code() == EINVAL)
            throw Error(cat("cannot ", what, ": the machine has no such watchpoint"),
                        "the address is a multiple of the length; x86-64 watches w, rw or x");
        throw;
    }
    static const bool kFire = watchpoints_fire();
    if (!kFire)
        throw UnsupportedError(cat("cannot ", what, ": watchpoints of this machine do not fire"),
                               "a virtual machine whose hypervisor keeps the debug registers");
    return maker.finish();
}

Attachment attach_interval(int program, std::uint64_t period_ns) {
    Sampling sampling;
    sampling.period = period_ns;
    sampling.cpus = {online_cpus().front()};
    return attach_sampling(program, sampling);
}

}  // namespace gpufs
