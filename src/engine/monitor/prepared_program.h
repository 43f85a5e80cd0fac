#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/monitor/loaded_site.h"
#include "engine/places/kernel_facts.h"
#include "engine/places/sites.h"
#include "kernel/bpf/map.h"
#include "lang/expr/expr.h"
#include "lang/link/link.h"
#include "lang/program/program.h"
#include "vm/program_map.h"

namespace gpufs {

// A Program with all that is to be known before it is linked for a machine or for a recording: the
// features it may use, the places of its probes, its condition, its texts.
class PreparedProgram {
public:
    struct Choice {
        ParameterValues parameters;
        // Each probe runs only where it holds; absent: always. Probes whose event lacks a field of
        // it run always.
        std::optional<Expression> condition;
        // Programs on system calls do not run for the calls of this process; 0: for those of all.
        std::uint32_t left_out = 0;
        // Libraries that programs need may arrive() later.
        bool awaits_libraries = false;
        // Those looked at: a program or library that a probe names is the one that they have.
        std::vector<int> processes{};
    };
    // The condition goes in front of the programs whose place has all that it names: of programs
    // that begin something and such that end it, on one side only.
    //
    // Throws UsageError with all mistakes of the text, UnsupportedError for a feature that is
    // needed and not there, SourceError where the condition suits no place. Borrows `machine`.
    PreparedProgram(Program program, Choice choice, KernelFacts& machine);
    PreparedProgram(const PreparedProgram&) = delete;
    PreparedProgram& operator=(const PreparedProgram&) = delete;

    const Program& program() const noexcept { return program_; }
    // What was chosen or left out of its probes, a line each.
    const std::vector<std::string>& notes() const noexcept { return found_.notes; }
    // What its user should know before the figures: the program's cautions that apply here.
    const std::vector<std::string>& cautions() const noexcept { return found_.cautions; }
    const StringPool& pool() const noexcept { return pool_; }

    // How a map is made, here, where there are so many CPUs, running or not. Throws UsageError
    // where a parameter gives it no size, or one that is too large.
    BpfMapSpec spec_of(const MapDeclaration& map, std::size_t cpus) const;
    // The same of the one value that holds the pool's texts.
    BpfMapSpec pool_spec() const;
    // Puts into a map what programs find there when they begin.
    void fill(const MapDeclaration& map, ProgramMap& made) const;

    // What is known of a place; the caller adds what the code runs over.
    LinkTarget target_for(const ProbeSite& site) const;

    // A place and what is to run there: the program, or the one with the condition in front.
    struct Site {
        ProbeSite site;
        ConditionUse condition = ConditionUse::none;
    };
    const std::vector<Site>& sites() const noexcept { return sites_; }
    // A process has mapped a file since: appends the places in it to sites(), where it is one of
    // library_patterns() and not known yet. Returns how many those are.
    std::size_t arrive(LibraryFiles::Mapped file);
    // The file of a site is gone with the process that had it mapped; it may arrive again.
    void forget(const ProbeSite& site) { libraries_.forget(site.places.front().path); }
    // The patterns of libraries that programs need and that were nowhere to be found.
    const std::vector<std::string>& awaited() const noexcept { return found_.awaited; }
    // Which alternatives were taken, and why, a line each.
    const std::vector<std::string>& choices() const noexcept { return found_.choices; }

private:
    // Removes the programs that no parameter asks for.
    void leave_out_unwanted();
    void check_features();
    void check_modules() const;
    void add_condition();
    void add_begins();
    void prepare_sites(std::size_t first);
    void leave_out_process();
    ConditionUse unused_at(const ProbeSite& site) const;
    static EventFormat event_at(const ProbeSite& site);
    bool knows_condition(const ProbeSite& site) const;
    std::vector<bool> sites_of_condition() const;
    ProbeProgram guarded(const ProbeSite& site) const;
    [[noreturn]] void refuse_condition() const;

    Program program_;
    Choice choice_;
    KernelFacts& machine_;
    std::size_t condition_source_ = 0;
    LibraryFiles libraries_;
    ProbeSites found_;
    std::set<std::string, std::less<>> features_;
    StringPool pool_;
    std::deque<ProbeProgram> guarded_;  // with code in front
    std::vector<Site> sites_;
};

}  // namespace gpufs
