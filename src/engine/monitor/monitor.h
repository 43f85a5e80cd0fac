#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/loss.h"
#include "engine/monitor/prepared_program.h"
#include "engine/monitor/syscall_dispatcher.h"
#include "engine/places/kernel_facts.h"
#include "engine/places/sites.h"
#include "engine/results/kernel_map.h"
#include "engine/results/running_program.h"
#include "engine/session/scratch_instance.h"
#include "kernel/bpf/grace_period.h"
#include "kernel/bpf/iterator.h"
#include "kernel/bpf/program.h"
#include "kernel/perf/attach.h"
#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

// A Program at work on this machine. Everything wrong with it is found in the constructor, which
// makes its maps, links and loads it: nothing runs before attach().
class Monitor : public RunningProgram {
public:
    struct Choice : PreparedProgram::Choice {
        // How probes are attached, when not the newest way: for tests. The group is the monitor's.
        AttachOptions attach;
        // turn() will be called: the maps that are reported are made twice, and each program too.
        bool turns = false;
        // The program's map of followed tasks (lang/ir/followed.h), which outlives the monitor;
        // null: it makes its own, in which there are none.
        const BpfMap* followed = nullptr;
        // Maps that programs refer to and do not declare, by name: their descriptors.
        std::map<std::string, int> others = {};
    };

    // Throws UsageError with all mistakes of the program's text as far as this machine shows them;
    // UnsupportedError for what this kernel or this user cannot; RefusedProgram with the line
    // that the verifier refuses. Borrows `machine`.
    Monitor(Program program, Choice choice, KernelFacts& machine);
    // Takes the programs off that still are attached, waiting for the kernel.
    ~Monitor() override;

    const Program& program() const noexcept override { return prepared_->program(); }
    const PreparedProgram& prepared() const noexcept { return *prepared_; }
    // Where each program goes and how, in the order of loading.
    std::vector<LoadedSite> sites() const;
    // What its user should know before the figures: the program's cautions that apply here.
    const std::vector<std::string>& cautions() const noexcept { return prepared_->cautions(); }

    // Runs the begin programs, once, then attaches all or nothing. Where probes are events of
    // tracefs, removes what dead owners left of theirs first, and makes a scratch instance: it
    // tells others that the owner of these lives.
    void attach();
    // A process has mapped a file since: attaches the programs that look at functions of such
    // libraries, where it is not known yet. Returns at how many sites; 0 where the file is gone
    // with its process. Throws what attach() throws: then none of them is at this file, and those
    // at others stay attached.
    std::size_t arrive(LibraryFiles::Mapped file);
    // Runs the end programs, then those for each key of a map. The others still run.
    void run_end();
    void run_each() override;
    void run_snapshots() override;
    // The signals that programs are for, and runs those of one.
    std::set<std::string> signals() const;
    void run_signal(std::string_view name) const;
    // Runs programs of iterators for some objects more, in the order of the programs. False: they
    // have had all. What they send needs room, so it is to be read in between.
    bool step_iterators();
    // From now on nothing is counted where that takes no waiting (Attachment::stop).
    void stop();
    // Takes the programs off, without waiting for the kernel.
    void detach();
    // Hits that the kernel says it could not deliver: a probe that was hit while it was being
    // handled, a program that was running on the same CPU. A program that stands for one system
    // call at the tracepoint of all may have missed others: no more than so many are lost. Those of
    // programs whose misses the monitor counts itself are added to that kind of loss: it knows
    // better which of them matter. Samples and watchpoints are events of each CPU: those of CPUs
    // that came online since attach() are an unknown number.
    LossLedger missed() const;

    ProgramMap* map(std::string_view name) const override { return find_map(name); }
    void turn() override;
    ProgramMap* settled_map(std::string_view name) const override;
    // For what only the kernel's have: rings and links. Throws std::out_of_range.
    const BpfMap& bpf_map(const std::string& name) const { return maps_.at(name)->bpf(); }

private:
    // A loaded program and the places it serves.
    struct Loaded {
        LoadedSite how;
        Fd program;             // what is attached
        bool is_multi = false;  // one link for all places
        // Of a program that writes to maps with two copies: the program for each of them, and
        // where the attached one finds the one whose turn it is.
        std::vector<Fd> by_turn;
        std::optional<BpfMap> turn;
        std::vector<Attachment> attachments;
        std::uint64_t missed = 0;  // hits, at attachments that detach() took away
        std::optional<BpfIterator> iterator;
        std::string raw_name;                     // of the raw tracepoint, where it goes to one
        const EventFormat* instead = nullptr;     // the event that it goes to, where not the site's
        SyscallDispatcher* dispatcher = nullptr;  // is attached in its place, and goes on as it
        std::int64_t call = 0;                    // for this system call
    };

    KernelMap* find_map(std::string_view name) const;
    void make_maps(bool turns);
    LinkTarget target_for(const ProbeSite& site) const;
    bool is_for_multi_link(const ProbeSite& site) const;
    void load(const PreparedProgram::Site& prepared);
    void attach_from(std::size_t first);
    std::vector<Attachment> take_attachments(std::size_t first);
    std::vector<Attachment> take_all_attachments();
    static std::uint64_t missed_at(const Loaded& loaded);
    void load_by_turn(const Linked& linked, Loaded& loaded);
    bool uses_turned_maps(const Linked& linked) const;
    int program_to_run(const Loaded& loaded) const;
    void choose_raw(Loaded& loaded, Linked& linked);
    std::optional<SyscallCheck> syscall_check(std::string_view call) const;
    void choose_all_syscalls(Loaded& loaded, Linked& linked);
    bool has_other_syscalls(const ProbeSite& site) const;
    void choose_dispatcher(const EventFormat* all, const SyscallCheck& check, Loaded& loaded,
                           Linked& linked);
    SyscallDispatcher& dispatcher_for(const EventFormat& all, const Loaded& loaded,
                                      const Linked& linked, const SyscallCheck& check);
    Fd load_in_kernel(const Linked& linked, const Loaded& loaded);
    bool makes_probe_events() const;
    Fd load_at_function(const Linked& linked, const Loaded& loaded, BpfProgramSpec spec);
    Fd load_jump(std::vector<bpf_insn> code, const Linked& to, const Loaded& loaded);
    std::vector<Attachment> attach_one(const Loaded& loaded) const;
    void run(ProbeTarget::Kind kind) const;
    void run_for_keys(ProbeTarget::Kind kind) const;

    KernelFacts& machine_;
    AttachOptions how_;
    std::unique_ptr<PreparedProgram> prepared_;
    std::optional<LinkTarget::PidNamespace> pid_namespace_;  // where it is not the initial one
    std::map<std::string, std::unique_ptr<KernelMap>, std::less<>> maps_;
    // The second copies of the maps that are reported, and which copy the programs write to.
    std::map<std::string, std::unique_ptr<KernelMap>, std::less<>> second_maps_;
    std::size_t whose_turn_ = 0;
    const BpfMap* followed_ = nullptr;
    std::map<std::string, int> other_maps_;
    std::optional<GracePeriod> grace_period_;
    std::optional<BpfMap> pool_map_;
    std::optional<ScratchInstance> probe_owner_;  // of the events that attachments made
    std::vector<Loaded> loaded_;
    std::vector<unsigned> cpus_;  // whose own events programs are at; empty: there are none
    std::vector<std::unique_ptr<SyscallDispatcher>> dispatchers_;
};

}  // namespace gpufs
