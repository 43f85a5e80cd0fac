#include "engine/bt/kernel_info.h"

#include <linux/bpf.h>
#include <sys/utsname.h>

#include <string_view>

#include "base/cat.h"
#include "engine/bt/kernel_types.h"
#include "engine/bt/world.h"
#include "kernel/host/kernel_version.h"

namespace gpufs::bt {
namespace {

struct Named {
    std::string_view name;
    std::uint32_t number;
};

constexpr Named kHelpers[] = {
    {"probe_read", BPF_FUNC_probe_read},
    {"probe_read_str", BPF_FUNC_probe_read_str},
    {"probe_read_user", BPF_FUNC_probe_read_user},
    {"probe_read_user_str", BPF_FUNC_probe_read_user_str},
    {"probe_read_kernel", BPF_FUNC_probe_read_kernel},
    {"probe_read_kernel_str", BPF_FUNC_probe_read_kernel_str},
    {"get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id},
    {"send_signal", BPF_FUNC_send_signal},
    {"override_return", BPF_FUNC_override_return},
    {"get_boot_ns", BPF_FUNC_ktime_get_boot_ns},
    {"get_tai_ns", BPF_FUNC_ktime_get_tai_ns},
    {"get_func_ip", BPF_FUNC_get_func_ip},
    {"jiffies64", BPF_FUNC_jiffies64},
    {"for_each_map_elem", BPF_FUNC_for_each_map_elem},
    {"get_ns_current_pid_tgid", BPF_FUNC_get_ns_current_pid_tgid},
    {"lookup_percpu_elem", BPF_FUNC_map_lookup_percpu_elem},
    {"loop", BPF_FUNC_loop},
};

constexpr Named kMaps[] = {
    {"hash", BPF_MAP_TYPE_HASH},
    {"array", BPF_MAP_TYPE_ARRAY},
    {"percpu array", BPF_MAP_TYPE_PERCPU_ARRAY},
    {"percpu hash", BPF_MAP_TYPE_PERCPU_HASH},
    {"stack_trace", BPF_MAP_TYPE_STACK_TRACE},
    {"perf_event_array", BPF_MAP_TYPE_PERF_EVENT_ARRAY},
    {"ringbuf", BPF_MAP_TYPE_RINGBUF},
};

// bpftrace's names for what others link and gpufs has of its own; scripts' tests ask for them.
constexpr const char* kBuiltIn[] = {"bcc library path resolution", "libdw (DWARF support)",
                                    "dwunwind (DWARF stack unwinding)"};

class Info {
public:
    explicit Info(KernelFacts& facts) : facts_(facts), types_(facts) {}

    std::vector<std::string> make() {
        system();
        section("Build");
        for (const char* part : kBuiltIn) say(part, "yes");
        section("Kernel helpers");
        for (const Named& helper : kHelpers)
            say(helper.name, facts_.features().ask_helper(BPF_PROG_TYPE_KPROBE, helper.number));
        section("Kernel features");
        say("Loop support", BpfFeature::bounded_loops);
        say("btf", BpfFeature::btf);
        say("map batch", BpfFeature::batch);
        say("atomics", BpfFeature::atomics);
        say("bpf links of perf events", BpfFeature::perf_link);
        section("Map types");
        for (const Named& map : kMaps) say(map.name, facts_.features().ask_map_type(map.number));
        section("Probe types");
        probes();
        return std::move(lines_);
    }

private:
    void system() {
        utsname host{};
        ::uname(&host);
        lines_.emplace_back("System");
        say("OS", cat(host.sysname, ' ', running_release(), ' ', host.version));
        say("Arch", host.machine);
    }

    void probes() {
        say("kprobe", facts_.has_kprobes() ? "yes" : "no");
        say("tracepoint", facts_.features().ask_program_type(BPF_PROG_TYPE_TRACEPOINT));
        say("perf_event", facts_.features().ask_program_type(BPF_PROG_TYPE_PERF_EVENT));
        say("fentry", BpfFeature::fentry);
        say("kprobe_multi", BpfFeature::kprobe_multi);
        say("kprobe_session", facts_.features().has(BpfFeature::kprobe_multi) &&
                                      types_.enumerator("BPF_TRACE_KPROBE_SESSION")
                                  ? "yes"
                                  : "no");
        say("uprobe_multi", BpfFeature::uprobe_multi);
    }

    void section(std::string_view name) {
        lines_.emplace_back();
        lines_.emplace_back(name);
    }
    void say(std::string_view name, std::string_view what) {
        lines_.push_back(cat("  ", name, ": ", what));
    }
    void say(std::string_view name, ProbeAnswer answer) {
        say(name, answer.support == Support::yes  ? "yes"
                  : answer.support == Support::no ? "no"
                                                  : "could not tell");
    }
    void say(std::string_view name, BpfFeature feature) {
        say(name, facts_.features().ask(feature));
    }

    KernelFacts& facts_;
    KernelTypes types_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> kernel_info(KernelFacts& facts) {
    return Info(facts).make();
}

}  // namespace gpufs::bt
