#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpufs/base/fd.h"
#include "gpufs/base/source.h"
#include "gpufs/engine/bpf_machine.h"
#include "gpufs/engine/probe_sites.h"
#include "gpufs/engine/scratch_instance.h"
#include "gpufs/kernel/attach.h"
#include "gpufs/kernel/bpf_map.h"
#include "gpufs/kernel/bpf_program.h"
#include "gpufs/lang/expr.h"
#include "gpufs/lang/link.h"
#include "gpufs/lang/program.h"

namespace gpufs {

// A Program at work on this machine. Everything wrong with it is found in the constructor, which
// makes its maps, links and loads it: nothing runs before attach().
class Monitor {
public:
    struct Choice {
        ParameterValues parameters;
        // Each probe runs only where it holds; absent: always. Probes whose event lacks a field of
        // it run always.
        std::optional<SourceText> condition;
        // How probes are attached, when not the newest way: for tests. The group is the monitor's.
        AttachOptions attach;
    };

    // Throws UsageError with all mistakes of the program's text as far as this machine shows them;
    // UnsupportedError for what this kernel or this user cannot; RefusedProgram with the line
    // that the verifier refuses. Borrows `machine`.
    Monitor(Program program, Choice choice, BpfMachine& machine);

    const Program& program() const noexcept { return program_; }
    // One line a probe: where it goes and how, and what was chosen or left out.
    const std::vector<std::string>& explanation() const noexcept { return explanation_; }
    // What its user should know before the figures: the program's cautions that apply here.
    const std::vector<std::string>& cautions() const noexcept { return found_.cautions; }

    // All or nothing. Then runs the begin programs, once. Where probes are events of tracefs,
    // removes what dead owners left of theirs first, and makes a scratch instance: it tells others
    // that the owner of these lives.
    void attach();
    // Runs the end programs. The others still run.
    void run_end();
    // Takes the programs off, without waiting for the kernel.
    void detach();
    // Hits that the kernel says it could not deliver: a probe that was hit while it was being
    // handled, a program that was running on the same CPU.
    std::uint64_t missed() const;

    // Null when there is no such map.
    const BpfMap* map(std::string_view name) const;

private:
    // A loaded program and the places it serves.
    struct Loaded {
        ProbeSite site;
        Fd program;
        bool is_raw = false;    // a tracepoint's program at the raw tracepoint
        bool is_multi = false;  // one link for all places
        std::string raw_name;
    };

    void check_features();
    void add_condition();
    void make_maps();
    void load_all();
    ProbeProgram guarded(const ProbeSite& site, bool& is_conditional) const;
    LinkTarget target_for(const ProbeSite& site) const;
    void load(const ProbeSite& site);
    bool try_raw_syscall(const ProbeSite& site, LinkTarget& target) const;
    Fd load_in_kernel(const Linked& linked, const Loaded& loaded);
    bool makes_probe_events() const;
    Fd load_at_function(const Linked& linked, const Loaded& loaded, BpfProgramSpec spec);
    std::vector<Attachment> attach_one(const Loaded& loaded) const;
    void run(ProbeTarget::Kind kind) const;

    Program program_;
    Choice choice_;
    BpfMachine& machine_;
    std::optional<Expression> condition_;
    std::size_t condition_source_ = 0;
    ProbeSites found_;
    std::set<std::string, std::less<>> features_;
    std::optional<LinkTarget::PidNamespace> pid_namespace_;  // where it is not the initial one
    std::map<std::string, BpfMap, std::less<>> maps_;
    StringPool pool_;
    std::optional<BpfMap> pool_map_;
    std::deque<ProbeProgram> guarded_;  // with the condition in front
    std::vector<Loaded> loaded_;
    std::optional<ScratchInstance> probe_owner_;  // of the events that attachments_ made
    std::vector<Attachment> attachments_;
    std::vector<std::string> explanation_;
};

}  // namespace gpufs
