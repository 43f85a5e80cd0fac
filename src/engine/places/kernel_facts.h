#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/session/session_probes.h"
#include "engine/trace/events.h"
#include "kernel/bpf/btf.h"
#include "kernel/features.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// "MODULE:FUNCTION", or patterns of both. "vmlinux" is the module of the kernel itself; an empty
// one is any.
struct ModuleFunction {
    std::string_view module, function;

    bool is_of_kernel() const { return module == "vmlinux"; }
    bool is_of_module() const { return !module.empty() && !is_of_kernel(); }
};
ModuleFunction split_module(std::string_view name);

// What programs ask of the machine that they are linked for: its events, functions, features and
// types. Each is looked up when first asked for, and remembered. Without tracefs, or where this
// user may not read it, all works but events: asking for one throws UnsupportedError.
class KernelFacts {
public:
    KernelFacts();
    // Of a tracefs directory, or a captured tree of formats.
    explicit KernelFacts(Tracefs tracefs, BpfFeatures features = BpfFeatures());
    // Of a recording, for the interpreter: its events, no functions, no types. Borrows the events.
    explicit KernelFacts(Events& recorded);
    bool is_recording() const { return recorded_ != nullptr; }
    // "this kernel", "this recording".
    std::string_view described() const { return is_recording() ? "this recording" : "this kernel"; }

    // Throws UnsupportedError where there is no tracefs.
    Events& events();
    // A probe that somebody set in tracefs: it has records, and no tracepoint behind it.
    bool is_dynamic_event(const std::string& full_name);
    // Its places, a line each; empty if it is none.
    std::vector<ProbeLine> places_of_dynamic_event(const std::string& full_name);

    // The kernel's functions that match a shell pattern and can be probed, sorted. MODULE:PATTERN:
    // those of the modules that match.
    std::vector<std::string> functions(std::string_view pattern);
    // Whether kprobes can be set, by this kernel's means.
    bool has_kprobes();
    // Whether a module is loaded or built in; of this version or a later one, where one is given. A
    // recording has none.
    bool has_module(std::string_view name, std::string_view version = {}) const;
    // Whether something else of the kernel has this name, which functions() gave: a probe by name
    // gets the first that has it, or the kernel refuses it.
    bool has_namesake(const std::string& function) const { return namesakes_.contains(function); }

    BpfFeatures& features() { return features_; }
    // Those of the names that this kernel has. Throws UsageError for one that no feature has.
    std::set<std::string, std::less<>> features_among(const std::set<std::string>& names);

    // The kernel's types; null where it tells none (CONFIG_DEBUG_INFO_BTF).
    const Btf* btf();
    // A function in the kernel's BTF or in a module's. "drm_open" is looked for in all, in the
    // kernel's first; "drm:drm_open" in that module's.
    struct BtfFunctionId {
        std::uint32_t id = 0;
        std::string module;  // empty: the kernel's own
    };
    std::optional<BtfFunctionId> find_btf_function(std::string_view name);
    // Where a kernel structure keeps a member: "task_struct.pid", or that of a module, which may be
    // built into the kernel: "gpu_sched:drm_sched_fence.finished"; or where the second of two
    // structures in a row is: "dma_fence[1]". Absent without BTF, and where
    // there is no such member or a pointer is on the way to it.
    std::optional<std::int64_t> btf_offset(std::string_view path);

private:
    struct ModuleFunctions {
        // Names: of the modules' functions; and of all else, or of several functions.
        std::set<std::string, std::less<>> own, others;
    };

    const Tracefs& tracefs() const;
    const ModuleFunctions& functions_of(std::string_view modules);

    std::optional<Tracefs> tracefs_;
    std::optional<UnsupportedError> no_tracefs_;  // why there is none
    Events kernel_;
    Events* recorded_ = nullptr;
    BpfFeatures features_;
    std::optional<std::vector<ProbeLine>> dynamic_events_;
    std::optional<std::vector<std::string>> functions_;
    std::set<std::string> namesakes_;                                 // among them
    std::map<std::string, ModuleFunctions, std::less<>> of_modules_;  // by the pattern of modules
    std::optional<std::optional<Btf>> btf_;
};

}  // namespace gpufs
