#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "lang/insn/names.h"
#include "lang/insn/parse.h"

namespace gpufs {

// Parses one instruction; parse.h has the syntax. `opcode` is the opcode that a log prints.
class InsnParser {
public:
    InsnParser(AsmTokens& tokens, const AsmNames& names, std::optional<unsigned> opcode = {})
        : tokens_(tokens), names_(names), opcode_(opcode) {}

    ParsedInsn parse();
    // Parses the right side of "dst = ...".
    ParsedInsn parse_assigned(RegName dst);
    // The span of a 16-byte load's number.
    Span wide_number() const { return wide_number_; }

private:
    struct Operand {  // a register and its span
        RegName name;
        Span span;
        Reg reg() const { return name.reg; }
        bool is_low() const { return name.is_low; }
    };
    struct Address {  // "(u32 *)(r1 + 8)"
        AccessType type;
        Span type_span;
        Reg base = Reg::r0;
        __s16 off = 0;
    };

    // parse.cc: memory, data, and the pieces.
    void statement();
    void unknown_statement();
    void load(const Operand& dst);
    void load_packet(const Operand& dst, const Address& at);
    void store();
    void pseudo();
    void data();

    // parse_assign.cc: statements that begin with a register.
    void assignment();
    void assign(const Operand& dst);
    void assign_word(const Operand& dst);
    void assign_map(const Operand& dst);
    void assign_subprogram(const Operand& dst);
    void assign_value(const Operand& dst);
    void compute(const Operand& dst, AluOp op);
    void extend_sign(const Operand& dst);
    void negate(const Operand& dst);
    bool swap_bytes(const Operand& dst);
    void cast_spaces(const Operand& dst);

    // parse_jump.cc: jumps, calls, atomic operations.
    void jump_if();
    void jump(const AsmToken& word);
    void call();
    void call_number();
    void call_pc();
    void call_kernel();
    void call_name();
    std::optional<Int128> call_tag();
    void call_register();
    void lock();
    void require_atomic_width(const Address& at);
    void load_acquire(const Operand& dst);
    void store_release();
    bool atomic(const Operand& dst);
    void exchange(const Operand& dst, AtomicOp op, const Address& at);

    // Pieces of them.
    void emit(const bpf_insn& one) { made_.insns.push_back(one); }
    void emit(const std::array<bpf_insn, 2>& halves) {
        made_.insns.assign(halves.begin(), halves.end());
    }
    std::optional<Operand> accept_register();
    Operand expect_register();
    void refuse_unknown_register();
    void require_full(const Operand& reg, std::string_view why);
    void require_same(const Operand& a, const Operand& b, std::string_view why);
    void refuse_mixed(const Operand& a, const Operand& b);
    // An operator with its 's' for signed, such as "s>>="; stores its span in `span`.
    std::string operator_text(Span& span);
    // "(u32 *)"
    void access_type(Address& at);
    // "r1 + 8"
    void base_and_offset(Address& at);
    // "(u32 *)(r1 + 8)"
    Address address();
    // The register whose value is stored at, or combined with, the address.
    Operand stored_register(const Address& at);
    // The distance of a jump; a label is noted, and 0 returned. Sets `is_kernels` for "pc+N".
    __s32 target(InsnRef::Slot slot, bool* is_kernels = nullptr);
    // An immediate that the instruction sign-extends to 64 bits; low_immediate(): one that it uses
    // as 32 bits.
    __s32 extended_immediate(const AsmValue& value, std::string_view hint = {});
    __s32 low_immediate(const AsmValue& value);
    Int128 in_range(const AsmValue& value, Int128 low, Int128 high, std::string_view what,
                    std::string_view hint = {});
    // A constant without symbols.
    AsmValue plain_value();
    // Notes the value's symbol, if any; the number to encode then is 0.
    AsmValue noted(AsmValue value, InsnRef::Slot slot);
    void note(Relocation::Kind kind, const AsmToken& name, InsnRef::Slot slot,
              std::int64_t addend = 0);
    [[noreturn]] void fail_rewritten(Span at);

    AsmTokens& tokens_;
    const AsmNames& names_;
    std::optional<unsigned> opcode_;
    Span wide_number_;
    ParsedInsn made_;
};

}  // namespace gpufs
