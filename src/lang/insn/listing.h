#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "lang/insn/parse.h"

namespace gpufs {

// Instructions of one program in the making: labels are remembered, lines of a log go where their
// index says. Borrows the source texts and the diagnostics.
class InsnSequence {
public:
    explicit InsnSequence(Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

    struct Place {
        const SourceText* source = nullptr;
        Span span;
    };
    struct Ref {
        std::size_t insn = 0;  // index of the instruction's first slot
        InsnRef symbol;
    };

    // Names the place of the next instruction. Complains of a name given twice, and of one that is
    // a register's.
    void add_label(const SourceText& source, Span name);

    // Appends an instruction. One with an `index` is from a log: the first that follows others goes
    // behind them, and with it where index 0 is. Said again, as a log does that follows every path,
    // it must be the same. Complains otherwise.
    void add(const SourceText& source, const ParsedInsn& parsed,
             std::optional<std::size_t> index = {});
    void add(const SourceText& source, const AsmLine& line, const ParsedInsn& parsed) {
        add(source, parsed, line.index);
    }

    // A line that should have been an instruction: keeps its place, so that it leads to no second
    // mistake. Whether it is a new one, to be complained of: a log says things again.
    bool add_mistake(const SourceText& source, const AsmLine& line);

    // Call once, when all is added: complains of what a log did not show. Labels stay symbolic.
    void end_log();
    // The same, and puts in the distance of every label, local function and
    // callback. Complains of unknown names, of jumps too far, and of what a log did not show.
    void link_labels();

    // All valid when nothing was complained of. Slots: a 16-byte instruction has two.
    const std::vector<bpf_insn>& insns() const { return insns_; }
    const std::vector<Place>& places() const { return places_; }
    // What is still symbolic, in order: maps, fields, parameters.
    const std::vector<Ref>& refs() const { return refs_; }
    std::optional<std::size_t> find_label(std::string_view name) const;

private:
    enum class State : char { missing, given, kernel_address, mistake };

    void put(std::size_t at, const SourceText& source, const ParsedInsn& parsed);
    bool is_repeated(std::size_t at, const ParsedInsn& parsed) const;
    void link(const Ref& ref);
    void complain_of_holes();

    Diagnostics* diagnostics_;
    std::vector<bpf_insn> insns_;
    std::vector<Place> places_;
    std::vector<State> states_;
    std::vector<Ref> refs_;
    std::map<std::string, std::size_t, std::less<>> labels_;
    std::size_t next_ = 0;                 // where an instruction without index goes
    std::optional<std::size_t> log_base_;  // where index 0 of the log is; wraps below zero
};

// Takes one line of a program: labels, instruction, noise. Complains of what is wrong with it.
// Directives are not known here. Returns whether the line was one of a log; give it back with the
// next line.
bool add_asm_line(InsnSequence& sequence, const SourceText& source, Span line,
                  const AsmNames& names, Diagnostics& diagnostics, bool after_log);

// The lines of a text as spans without their newlines.
std::vector<Span> line_spans(const SourceText& source);

// A text of bare instructions and labels, without any declaration.
struct Listing {
    std::vector<bpf_insn> insns;
    std::vector<Span> spans;  // spans[i]: where insns[i] was written
    Diagnostics errors;       // the other two are valid when this is empty
};
Listing assemble_bare(const SourceText& source, const AsmNames& names = {});

}  // namespace gpufs
