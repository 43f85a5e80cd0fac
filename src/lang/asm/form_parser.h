#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/asm/forms.h"
#include "lang/insn/insn.h"
#include "lang/insn/tokens.h"

namespace gpufs {

// The parser of one form; forms.h says what it takes.
class FormParser {
public:
    FormParser(AsmWork& work, std::size_t source, Span line);

    std::optional<std::vector<FormStep>> parse();

private:
    struct Target {  // a register to be set, and where it is written
        RegName name;
        Span span;
        Reg reg() const { return name.reg; }
    };
    // Bytes in memory: a variable, a structure that a register points at, a member of either.
    struct Operand {
        Reg base = Reg::fp;
        std::int64_t offset = 0;
        std::size_t bytes = 0;
        std::string path;
        Span span;
    };
    struct Argument {
        Span span;
        std::vector<FormStep> steps;
        unsigned reads = 0;                // a bit for each register
        std::optional<std::size_t> bytes;  // of what it points at, where that is known
        std::string map;                   // which it is
    };

    // forms.cc
    bool value(AsmTokens& tokens, const Target& dst);
    bool field(AsmTokens& tokens, const Target& dst);
    bool text(AsmTokens& tokens, const Target& dst);
    void address(AsmTokens& tokens, const Target& dst);
    static void refuse_half_path(AsmTokens tokens);
    static Reg record_register(AsmTokens& tokens);
    void require_writable(const Target& dst) const;
    Operand operand(AsmTokens& tokens) const;
    bool leave();
    void zero();
    void copy();
    void copy_field(const Operand& to);
    // Calls take(BYTES IN FRONT, WIDTH) for each access that the operands allow.
    template <class Take>
    void for_each_access(const Operand& a, const Operand& b, Take take);
    void require_accessible(const Operand& operand) const;
    void require_copyable(const Operand& operand) const;
    void step(const bpf_insn& one, std::string said);
    void step(CodeItem::Kind kind, const bpf_insn& one, Relocation::Kind relocation,
              const AsmToken& name);

    // aggregate_form.cc
    void add();
    const MapDeclaration& aggregated_map(const AsmToken& name) const;
    Argument key_of(const MapDeclaration& map);
    void call_generated(std::string function, Span at);

    // call_form.cc
    bool call(const Target* result = nullptr);
    void go_without_result();
    bool asks_stacks(const AsmToken& function, const std::vector<Span>& arguments);
    Span argument_span();
    Argument argument(Reg to, Span span);
    std::vector<std::string> parameters_of(const AsmToken& function) const;
    void check_count(const AsmToken& function, Span list, std::size_t count) const;
    void check_sizes(const AsmToken& function, const std::vector<Argument>& arguments) const;
    void put(std::vector<Argument> arguments);

    AsmWork& work_;
    const SourceText& source_;
    AsmTokens tokens_;
    AsmNames names_;
    std::vector<FormStep> steps_;
    // Of the address that was parsed last: the bytes there and, on the stack, its alignment.
    std::optional<std::size_t> pointed_bytes_, pointed_alignment_;
};

}  // namespace gpufs
