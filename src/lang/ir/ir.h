#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/kernel_abi.h"
#include "lang/insn/isa.h"
#include "lang/program/code.h"

// A small intermediate representation for generated programs: BPF with an unlimited number of
// registers. It knows sizes and signs of integers, the calling convention and the stack; assemble()
// assigns registers and stack offsets.
//
//   ir::Code code;
//   const ir::Temp record = code.argument(1);
//   const ir::Temp pid = code.load({record, 24}, ir::kS32);
//   const ir::Label out = code.new_label();
//   code.branch(ir::Cmp::ne, ir::kS32, pid, 1, out);
//   ...
//   code.bind(out);
//   code.leave(0);
//   std::vector<CodeItem> items = code.assemble();
namespace gpufs::ir {

// An integer's size (1, 2, 4 or 8 bytes) and sign. Addresses are kU64.
struct Type {
    std::uint8_t bytes = 8;
    bool is_signed = false;

    friend bool operator==(const Type&, const Type&) = default;
};
inline constexpr Type kU8{1, false}, kU16{2, false}, kU32{4, false}, kU64{8, false};
inline constexpr Type kS8{1, true}, kS16{2, true}, kS32{4, true}, kS64{8, true};

// Converts a value to a type, like a conversion in C, and extends it to 64 bits again.
std::uint64_t converted(std::uint64_t value, Type type);

// A virtual register. Holds a value of its type, sign- or zero-extended to 64 bits.
struct Temp {
    std::uint32_t id;
};
struct Label {
    std::uint32_t id;
};
// Bytes on the stack.
struct Slot {
    std::uint32_t id;
};

// An operand of an operation: a temp or a number.
class Operand {
public:
    Operand(Temp temp) : temp_(temp) {}
    template <std::integral T>
    Operand(T number) : number_(static_cast<std::uint64_t>(number)) {}

    const std::optional<Temp>& temp() const { return temp_; }
    std::uint64_t number() const { return number_; }

private:
    std::optional<Temp> temp_;
    std::uint64_t number_ = 0;
};

// A memory operand: relative to an address, or on the stack.
struct Place {
    Place(Temp address, std::int64_t at = 0) : base(address), offset(at) {}
    Place(Slot on_stack, std::int64_t at = 0) : slot(on_stack), offset(at) {}
    // The offset of an event's field or a kernel structure's member, which is resolved at link time
    // (Relocation::Kind::field_offset, btf_offset). The linker checks the width of the access.
    Place(Temp address, Relocation known_later)
        : base(address), relocation(std::move(known_later)) {}

    std::optional<Temp> base;
    std::optional<Slot> slot;
    std::int64_t offset = 0;
    std::optional<Relocation> relocation;
};

// Arithmetic in a type: the operands are converted to it, and so is the result. Division and right
// shift are signed if the type is. As in BPF, x / 0 is 0, x % 0 is x, and the lowest number divided
// by -1 is itself; shift counts are taken modulo 64, in types of less than 8 bytes modulo 32.
enum class Op { add, sub, mul, div, mod, bit_and, bit_or, bit_xor, shl, shr };
// Comparison in a type. `any_bits`: whether the operands share a bit.
enum class Cmp { eq, ne, lt, le, gt, ge, any_bits };

// The code needs more of the stack than it may have.
class StackError : public Error {
    using Error::Error;
};

// One function under construction, or a piece of code in front of a program. Instructions are
// emitted in the order of the calls. Invalid code (a temp that is read before it has a value, a
// label that is never bound) throws std::logic_error; code that needs too much stack throws
// StackError.
class Code {
public:
    Code();
    ~Code();
    Code(Code&&) noexcept;
    Code& operator=(Code&&) noexcept;

    // The initial value of r1 to r5. Must be called before anything else.
    Temp argument(unsigned number);

    Temp new_temp(Type type);
    Type type_of(Temp temp) const;
    // Converts the value to the temp's type. A temp may be assigned any number of times.
    void assign(Temp to, Operand value);
    Temp convert(Operand value, Type type);
    Temp compute(Op op, Type type, Operand a, Operand b);
    Temp negate(Operand value, Type type);
    // Reverses the order of the bytes.
    Temp swap_bytes(Operand value, Type type);
    // A number or address resolved at link time: a map, a parameter, a text… The number is one of
    // the type.
    Temp symbol(Relocation relocation, Type type = kU64);

    Temp load(const Place& from, Type type);
    // The value of a field, with the size and sign in its event's format.
    Temp load_field(Temp record, Relocation field);
    // The address of a field's bytes: in the record, at its __data_loc, or, for a `const char *`,
    // the pointer itself. For probe_read_kernel and similar helpers.
    Temp field_address(Temp record, Relocation field);
    void store(const Place& to, Operand value, Type type);
    // Atomic operations on 4 or 8 aligned bytes. fetch() returns the old value.
    void atomic(AtomicOp op, const Place& at, Operand value, Type type);
    Temp fetch(AtomicOp op, const Place& at, Operand value, Type type);
    // Stores `desired` if the memory contains `expected`; returns the old value.
    Temp compare_exchange(const Place& at, Operand expected, Operand desired, Type type);

    // Uninitialized stack bytes, aligned to 1, 2, 4 or 8. They keep their content from the first to
    // the last use of the slot, or of an address of it; slots that are not in use at the same time
    // may share bytes.
    Slot new_slot(std::size_t bytes, std::size_t alignment = 8);
    Temp address(Slot slot, std::int64_t offset = 0);

    Label new_label();
    void bind(Label label);
    void jump(Label target);
    // Jumps to `target` if the comparison is true.
    void branch(Cmp cmp, Type type, Operand a, Operand b, Label target);

    // Calls a helper or a function of the program, with at most five arguments.
    Temp call(int helper, std::initializer_list<Operand> arguments);
    Temp call(std::string function, std::initializer_list<Operand> arguments);
    void leave(Operand result);
    // Continues with the code that follows this piece, with `context` in r1.
    void fall_through(Operand context);

    // How many instructions and labels there are so far; assemble() may need a few more.
    std::size_t size() const;

    // Sets the source position of the following instructions.
    void set_source(const SourceRef& at);

    // What was emitted, a line each, with temps t0, t1, … (w0, w1: their lower halves), labels .0,
    // .1, … and slots of the stack: for whoever wants to see it.
    std::string to_text() const;

    // The instructions, with hardware registers and stack offsets. Labels begin with the prefix.
    // Requires instruction set v2 (Linux 4.14).
    std::vector<CodeItem> assemble(std::string_view label_prefix = ".",
                                   std::size_t stack_bytes = kBpfStackBytes) const;

    struct Body;

private:
    std::unique_ptr<Body> body_;
};

}  // namespace gpufs::ir
