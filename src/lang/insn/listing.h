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

// As many instructions as any kernel takes in a program, with its functions.
inline constexpr std::size_t kMostInsns = 1'000'000;

// Collects the instructions of one program. Lines of a verifier's log are placed by their index.
// Keeps references to the source texts and the diagnostics.
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

    // Defines a label at the next instruction. Reports a label defined twice and a register's name.
    void add_label(const SourceText& source, Span name);

    // Appends an instruction. `index` is the instruction's number in a log: the log's first line is
    // placed at the end, which determines the position of index 0, and later lines relative to it.
    // A log may repeat an instruction (it follows every path); a different one at the same index is
    // reported.
    void add(const SourceText& source, const ParsedInsn& parsed,
             std::optional<std::size_t> index = {});
    void add(const SourceText& source, const AsmLine& line, const ParsedInsn& parsed) {
        add(source, parsed, line.index);
    }

    // Reserves the place of a line that could not be parsed, so that it causes no second error.
    // Returns false when the error was already reported: a log repeats lines.
    bool add_mistake(const SourceText& source, const AsmLine& line);

    // Ends the sequence; call once. Reports indices that the log did not show. Labels stay
    // symbolic.
    void end_log();
    // Like end_log(), and also fills in the distances of labels, local functions and callbacks.
    // Reports unknown names and jumps that are too far.
    void link_labels();

    // Valid when no error was reported. Indexed by slot; a 16-byte instruction has two.
    const std::vector<bpf_insn>& insns() const { return insns_; }
    const std::vector<Place>& places() const { return places_; }
    // References still symbolic, in order: maps, fields, parameters.
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
    std::size_t next_ = 0;                 // slot of the next instruction without an index
    std::optional<std::size_t> log_base_;  // slot of the log's index 0; may wrap below zero
};

// Parses one line (labels, instruction, log noise) and adds it to `sequence`. Reports errors. Knows
// no directives. Returns whether the line was from a log; pass that as `after_log` with the next
// line.
bool add_asm_line(InsnSequence& sequence, const SourceText& source, Span line,
                  const AsmNames& names, Diagnostics& diagnostics, bool after_log);

// Reports that there are more than kMostInsns, from this line on.
void complain_of_too_many(Diagnostics& errors, const SourceText& source, Span line);

// The lines of a text as spans without their newlines.
std::vector<Span> line_spans(const SourceText& source);

// Result of assembling instructions and labels without any declarations.
struct Listing {
    std::vector<bpf_insn> insns;
    std::vector<Span> spans;  // spans[i]: source of insns[i]
    Diagnostics errors;       // the other members are valid when this is empty
};
Listing assemble_bare(const SourceText& source, const AsmNames& names = {});

}  // namespace gpufs
