#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "lang/insn/effects.h"
#include "lang/link/check.h"
#include "lang/link/guards.h"
#include "lang/link/link.h"

// The stages of the linker, which the check of code goes through, too. Private to this folder.
namespace gpufs::linking {

constexpr std::size_t kNone = ~std::size_t{0};

// An instruction with its names resolved; only distances are open.
struct Insn {
    bpf_insn op{};
    std::uint64_t wide = 0;      // the number that a 16-byte load loads
    std::size_t target = kNone;  // of a jump: the instruction in the same unit
    std::size_t callee = kNone;  // of a call and of a callback's address: the unit
    std::size_t taken = kNone;   // of a load: the argument or the variable that it is for
    std::size_t node = 0;        // of a branch that stands for an .if: its node in the GuardTree
    SourceRef at;

    std::size_t slots() const { return is_wide(op) ? 2 : 1; }
    bool is_exit() const { return op.code == (BPF_JMP | BPF_EXIT); }
    // No instruction, but the place where machines part: those where the node does not hold go to
    // `target`. With is_go(): where an .else is left out. Only the check of code has such branches.
    bool is_guard() const { return node != 0; }
    bool is_go() const { return op.code == (BPF_JMP | BPF_JA) || op.code == (BPF_JMP32 | BPF_JA); }
    bool is_local_call() const {
        return op.code == (BPF_JMP | BPF_CALL) && op.src_reg == BPF_PSEUDO_CALL;
    }
};

// A program, or a function that it calls.
struct Unit {
    std::string name;
    SourceRef at;
    bool is_program = true;
    bool leaves_record_alone = false;  // see Subprogram
    std::vector<Insn> insns = {};
    std::size_t stack_bytes = 0;

    std::string title() const;  // "program 'wakeup'"
};

// What all stages know.
struct LinkContext {
    const Program& program;
    const ProbeProgram& probe;
    const LinkTarget& target;
    Diagnostics mistakes = {};

    bool has_v4() const { return target.features.contains("isa_v4"); }
    void error(const SourceRef& at, std::string_view message, std::string_view hint = {});
    // Notes the mistake and throws Unresolved: there is nothing to make of this item.
    [[noreturn]] void fail(const SourceRef& at, std::string_view message,
                           std::string_view hint = {});
};
struct Unresolved {};

// Makes machine instructions of code items, one by one.
class ItemResolver {
public:
    explicit ItemResolver(LinkContext& job) : job_(job) {}

    // Do all the guards hold? `guard` is an index plus 1.
    bool holds(std::size_t guard);
    // Appends the instructions of an item; those of jumps and calls lack their target. Throws
    // Unresolved.
    void resolve(const CodeItem& item, std::vector<Insn>& into);

private:
    const Field& require_field(const Relocation& relocation) const;
    void resolve_insn(const CodeItem& item, std::vector<Insn>& into);
    void fill(const Relocation& relocation, Insn& insn);
    void fill_field(const Relocation& relocation, Insn& insn);
    void fill_map(const Relocation& relocation, Insn& insn);
    void fill_parameter(const Relocation& relocation, Insn& insn);
    void fill_text(const Relocation& relocation, std::string_view text, Insn& insn);
    void fill_btf(const Relocation& relocation, Insn& insn);
    void set_offset(const Relocation& relocation, std::int64_t value, Insn& insn);
    void set_immediate(const Relocation& relocation, const std::string& what, std::int64_t value,
                       Insn& insn);
    void require_wide(const Relocation& relocation, const Insn& insn, std::string_view what);
    void check_access(const Relocation& relocation, const Field& field, const Insn& insn);

    bool has_field(std::string_view name) const;
    std::optional<std::size_t> static_argument(const Relocation& relocation) const;
    std::optional<std::size_t> variable(const Relocation& relocation, VariableUse use) const;
    std::optional<std::size_t> taken_field(const Relocation& relocation) const;
    static bool load_taken(const CodeItem& item, std::optional<std::size_t> taken,
                           std::vector<Insn>& into);
    void load_field(const CodeItem& item, std::vector<Insn>& into);
    void field_address(const CodeItem& item, std::vector<Insn>& into);
    void field_length(const CodeItem& item, std::vector<Insn>& into);
    // Appends an instruction, or what does the same on a machine without v4.
    void append(Insn insn, std::vector<Insn>& into);

    LinkContext& job_;
};

// The code of the program and of all functions that it needs, the program first. Notes labels that
// are missing or there twice, and jumps out of the code.
std::vector<Unit> resolve_units(LinkContext& job);

// The same of one function that calls no other.
Unit resolve_function(LinkContext& job, const Subprogram& function);

// All programs and functions of the text, as they are on all machines at once: branches stand for
// the guards, and what only a machine knows is left open. Notes what resolve_units() notes, where
// it is so on any machine, and where code runs off its end. The code of a unit with a mistake, or
// whose name is in `incomplete`, is empty.
std::vector<Unit> all_units(LinkContext& job, const IncompleteCode& incomplete);

// The machines that come to a guard's branch may all go one way: then so does the branch.
void settle_guards(const GuardTree& guards, Unit& unit);

// Drops what cannot be reached; notes where the code runs off its end.
void drop_unreachable(LinkContext& job, std::vector<Unit>& units);

// Follows the frame pointer and the context through the code. Notes mistakes with the stack and the
// context that are certain, fills in Unit::stack_bytes, and tells whether the event's record is
// read.
bool check_memory(LinkContext& job, std::vector<Unit>& units);

// Where the program reads arguments of a static probe, or variables: takes them at its begin, each
// by a function of its own behind the other units, and keeps them on the stack, for a call in front
// of each use would cost the registers that are in use there. Needs Unit::stack_bytes, and uses a
// word below for each. Notes functions that read some. Tells whether there was anything to do: then
// the memory is to be checked again.
bool take_fields(LinkContext& job, std::vector<Unit>& units);

// Where the target has a pid namespace: ids of tasks in it for those of the initial one. Needs
// Unit::stack_bytes, and uses a word below. Tells whether there was anything to do: then the memory
// is to be checked again.
bool use_own_pids(const LinkContext& job, std::vector<Unit>& units);

// Puts the units one behind the other and fills in the distances.
Linked lay_out(LinkContext& job, const std::vector<Unit>& units);

}  // namespace gpufs::linking
