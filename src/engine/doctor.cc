#include "engine/doctor.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/monitor/unwind_choice.h"
#include "engine/places/kernel_facts.h"
#include "engine/places/providers.h"
#include "kernel/bpf/memlock.h"
#include "kernel/bpf/syscall.h"
#include "kernel/features.h"
#include "kernel/host/capabilities.h"
#include "kernel/perf/event.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/event/gpu_systems.h"
#include "lang/trigger/trigger.h"

namespace gpufs {
namespace {

using Answer = Finding::Answer;

std::string first_line(const std::string& path) {
    return std::string(trim(read_file_if_readable(path).value_or("")));
}

constexpr std::pair<Capability, const char*> kCapabilities[] = {
    {Capability::sys_admin, "CAP_SYS_ADMIN"},
    {Capability::perfmon, "CAP_PERFMON"},
    {Capability::bpf, "CAP_BPF"}};

Finding user() {
    std::vector<std::string> has, lacks;
    for (const auto& [capability, name] : kCapabilities)
        (has_capability(capability) ? has : lacks).emplace_back(name);
    const std::string who = ::geteuid() == 0 ? "root" : cat("uid ", ::geteuid());
    std::string detail = has.empty() ? who : cat(who, ", ", join(has, " "));
    if (!lacks.empty()) detail += cat(", without ", join(lacks, " "));
    if (may_load_programs() && has_memlock_limit())
        return {Answer::no, "capabilities", cat(detail, ", with a limit of locked memory"),
                kLiftMemlock};
    if (may_load_programs()) return {Answer::yes, "capabilities", detail, {}};
    return {Answer::no, "capabilities", detail,
            "run as root; BPF programs need CAP_BPF and CAP_PERFMON, and tracefs must be readable: "
            "CAP_DAC_READ_SEARCH, or the group that it is mounted for"};
}

Finding kernel() {
    utsname name{};
    ::uname(&name);
    return {Answer::yes, "kernel", cat(name.release, " ", name.machine), {}};
}

Finding tracefs_mount(const TracefsMount& found) {
    if (!found.problem.empty()) return {Answer::no, "tracefs", found.problem, found.fix};
    const Fd writable{::open(cat(found.root, "/tracing_on").c_str(), O_WRONLY | O_CLOEXEC)};
    if (!writable && errno == EROFS) {
        const Trouble trouble = read_only_tracefs(found.root);
        return {Answer::no, "tracefs", trouble.what, trouble.fix};
    }
    if (!writable)
        return {Answer::no, "tracefs", found.root + ", readable, not writable by this user",
                "run as root to set filters and triggers"};
    return {Answer::yes, "tracefs", found.root + ", readable and writable", {}};
}

Finding unseen(std::string what) {
    return {Answer::could_not_tell, std::move(what), "needs to read tracefs", {}};
}

// `path`: where the kernel shows it.
Finding absent(std::string what, const std::string& path, std::string fix) {
    if (const auto trouble = missing_mount(path))
        return {Answer::could_not_tell, std::move(what), trouble->what, trouble->fix};
    return {Answer::no, std::move(what), "no " + path, std::move(fix)};
}

Finding needs_config(std::string what, bool has, std::string detail, std::string_view config) {
    if (has) return {Answer::yes, std::move(what), std::move(detail), {}};
    return {Answer::no, std::move(what), "not in this kernel", cat("a kernel with ", config, "=y")};
}

std::vector<std::string> known_triggers(const Tracefs& tracefs,
                                        const std::vector<std::string>& events) {
    for (const std::string& event : events)
        if (const auto file = tracefs.read_if_readable(event_directory(event) + "/trigger"))
            if (auto actions = available_triggers(*file)) return *actions;
    return {};
}

void examine_tracefs(std::vector<Finding>& findings) {
    const TracefsMount found = find_tracefs_mount();
    findings.push_back(tracefs_mount(found));
    if (!found.problem.empty()) {
        for (const char* what :
             {"events", "triggers", "hist triggers", "synthetic events", "kprobe events",
              "uprobe events", "instances", "snapshot", "function tracer", "GPU events"})
            findings.push_back(unseen(what));
        return;
    }
    const Tracefs tracefs(found.root);
    const auto events = tracefs.events();
    findings.push_back({events.empty() ? Answer::no : Answer::yes, "events",
                        counted(events.size(), "event"),
                        events.empty() ? "a kernel with CONFIG_EVENT_TRACING=y" : ""});
    const auto triggers = known_triggers(tracefs, events);
    findings.push_back(
        {triggers.empty() ? Answer::could_not_tell : Answer::yes,
         "triggers",
         triggers.empty() ? "the trigger files do not list them" : join(triggers, " "),
         {}});
    const bool hist = std::ranges::count(triggers, "hist") > 0;
    findings.push_back(needs_config("hist triggers", hist, "in triggers", "CONFIG_HIST_TRIGGERS"));
    struct Feature {
        const char *what, *file, *config;
    };
    constexpr Feature kFeatures[] = {
        {"synthetic events", "synthetic_events", "CONFIG_SYNTH_EVENTS"},
        {"kprobe events", "kprobe_events", "CONFIG_KPROBE_EVENTS"},
        {"uprobe events", "uprobe_events", "CONFIG_UPROBE_EVENTS"},
        {"instances", "instances", "CONFIG_EVENT_TRACING"},
        {"snapshot", "snapshot", "CONFIG_TRACER_SNAPSHOT"},
    };
    for (const Feature& f : kFeatures)
        findings.push_back(
            needs_config(f.what, tracefs.has(f.file), tracefs.path(f.file), f.config));
    const auto tracers =
        split(trim(tracefs.read_if_readable("available_tracers").value_or("")), ' ');
    // "nop" is no tracer, only the name for none.
    const bool function = std::ranges::count(tracers, "function") > 0;
    findings.push_back(
        needs_config("function tracer", function, join(tracers, " "), "CONFIG_FUNCTION_TRACER"));
    std::vector<std::string> gpu;
    for (const std::string_view system : kGpuSystems)
        if (tracefs.has(cat("events/", system))) gpu.emplace_back(system);
    findings.push_back({gpu.empty() ? Answer::no : Answer::yes, "GPU events",
                        gpu.empty() ? "no GPU driver with events is loaded" : join(gpu, " "),
                        gpu.empty() ? "load the GPU's driver: its events come with it" : ""});
}

// Tries what probes need: an event of all processes on a CPU. Whom perf_event_paranoid lets do that
// differs between kernels: at 3, Debian's demands CAP_SYS_ADMIN.
Finding perf_events() {
    const std::string level = first_line("/proc/sys/kernel/perf_event_paranoid");
    if (level.empty())
        return absent("perf_event_open", "/proc/sys/kernel/perf_event_paranoid",
                      "a kernel with CONFIG_PERF_EVENTS=y");
    const std::string detail = "perf_event_paranoid is " + level;
    try {
        open_perf_event(perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY), -1, 0,
                        "open a perf event");
        return {Answer::yes, "perf_event_open", "tried, works; " + detail, {}};
    } catch (const UnsupportedError&) {
    }
    if (has_capability(Capability::sys_admin))
        return {Answer::no, "perf_event_open", detail, "a policy of this machine forbids it"};
    return {Answer::no, "perf_event_open", detail,
            has_capability(Capability::perfmon)
                ? "root, or as root: sysctl kernel.perf_event_paranoid=2"
                : "root or CAP_PERFMON, or as root: sysctl kernel.perf_event_paranoid=-1"};
}

Finding perf_pmu(const char* name, const char* config) {
    const std::string path = cat("/sys/bus/event_source/devices/", name, "/type");
    if (!file_exists(path))
        return absent(cat(name, " by perf"), path, cat("a kernel with ", config, "=y"));
    return {Answer::yes, cat(name, " by perf"), path, {}};
}

Finding bpf(BpfFeatures& features, const BpfFeatureName& name) {
    const ProbeAnswer answer = features.ask(name.feature);
    std::string what(name.what);
    if (answer.support == Support::yes) return {Answer::yes, std::move(what), "tried, works", {}};
    std::string reason = std::generic_category().message(answer.code);
    if (answer.code == kENotSupp) reason = "Operation not supported";
    if (answer.code == ENOSYS)
        return {Answer::no, std::move(what), reason, "a kernel with CONFIG_BPF_SYSCALL=y"};
    if (answer.code == EPERM && !may_load_programs())
        return {Answer::no, std::move(what), reason, "root, or CAP_BPF and CAP_PERFMON"};
    if (answer.support == Support::no && answer.code == EPERM) {
        KernelFacts machine;
        return {
            Answer::no, std::move(what), "forbidden, though other BPF programs are not",
            cat("a policy of this kernel or of a security module; ", instead_of_fentry(machine))};
    }
    if (answer.support == Support::no)
        return {Answer::no, std::move(what), reason, std::string(name.fix)};
    return {Answer::could_not_tell, std::move(what), reason, {}};
}

// Those that decide how gpufs works; the others only who writes programs wants to know.
void examine_bpf(std::vector<Finding>& findings) {
    constexpr BpfFeature kShown[] = {BpfFeature::bpf,          BpfFeature::ringbuf,
                                     BpfFeature::batch,        BpfFeature::perf_link,
                                     BpfFeature::kprobe_multi, BpfFeature::uprobe_multi,
                                     BpfFeature::fentry};
    BpfFeatures features;
    for (const BpfFeatureName& name : bpf_feature_names())
        if (std::ranges::count(kShown, name.feature) > 0) findings.push_back(bpf(features, name));
}

Finding bpf_jit() {
    const std::string value = first_line("/proc/sys/net/core/bpf_jit_enable");
    if (value.empty())
        return {Answer::could_not_tell, "BPF JIT", "no /proc/sys/net/core/bpf_jit_enable", {}};
    if (value == "0")
        return {Answer::no, "BPF JIT", "programs are interpreted, some 5 times slower",
                "as root: sysctl net.core.bpf_jit_enable=1"};
    return {Answer::yes, "BPF JIT", "bpf_jit_enable is " + value, {}};
}

Finding btf() {
    const std::string path = "/sys/kernel/btf/vmlinux";
    if (!file_exists(path)) return absent("BTF", path, "a kernel with CONFIG_DEBUG_INFO_BTF=y");
    return {Answer::yes, "BTF", path, {}};
}

Finding user_stacks() {
    if (!may_load_programs())
        return {Answer::could_not_tell, "user stacks", "needs CAP_BPF and CAP_PERFMON", {}};
    KernelFacts machine;
    const auto kernel = unwind_kernel(machine);
    if (kernel && kernel->has_callbacks)
        return {Answer::yes, "user stacks", "by unwind tables: no need of frame pointers", {}};
    return {Answer::no, "user stacks", "along frame pointers: of code without them they are wrong",
            kernel ? "--unwind dwarf, or a kernel of 5.17 or later"
                   : "x86-64 or arm64, and a kernel of 5.17 or later with CONFIG_DEBUG_INFO_BTF=y"};
}

Finding lockdown() {
    const std::string modes = first_line("/sys/kernel/security/lockdown");
    if (modes.empty())
        return {Answer::could_not_tell, "tracing allowed", "no /sys/kernel/security/lockdown", {}};
    const std::string mode(chosen_word(modes));
    if (mode != "confidentiality")
        return {Answer::yes, "tracing allowed", "lockdown is " + mode, {}};
    return {Answer::no, "tracing allowed",
            "lockdown is confidentiality: the kernel refuses tracing",
            "boot without lockdown=confidentiality"};
}

Finding kernel_symbols() {
    const Fd fd{::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)};
    char head[64];
    const ssize_t n = fd ? ::read(fd.get(), head, sizeof head) : -1;
    const std::string restrict_to = first_line("/proc/sys/kernel/kptr_restrict");
    const std::string_view text(head, n > 0 ? static_cast<std::size_t>(n) : 0);
    const auto address = text.substr(0, text.find(' '));
    if (address.empty())
        return absent("kernel symbols", "/proc/kallsyms", "a kernel with CONFIG_KALLSYMS=y");
    // The first symbol is at 0 on some machines: look for any other digit in what was read.
    const bool hidden = address.find_first_not_of('0') == address.npos && ::geteuid() != 0;
    if (hidden)
        return {Answer::no, "kernel symbols",
                "addresses read as 0, kptr_restrict is " + restrict_to,
                "run as root; kptr_restrict=2 hides them from root too"};
    if (restrict_to == "2")
        return {Answer::no, "kernel symbols", "kptr_restrict is 2",
                "as root: sysctl kernel.kptr_restrict=1"};
    return {Answer::yes, "kernel symbols", "/proc/kallsyms, kptr_restrict is " + restrict_to, {}};
}

}  // namespace

std::vector<Finding> examine_machine() {
    std::vector<Finding> findings = {kernel(), user()};
    examine_tracefs(findings);
    findings.push_back(kernel_symbols());
    findings.push_back(perf_events());
    findings.push_back(perf_pmu("kprobe", "CONFIG_KPROBE_EVENTS"));
    findings.push_back(perf_pmu("uprobe", "CONFIG_UPROBE_EVENTS"));
    examine_bpf(findings);
    findings.push_back(bpf_jit());
    findings.push_back(btf());
    findings.push_back(user_stacks());
    findings.push_back(lockdown());
    return findings;
}

}  // namespace gpufs
