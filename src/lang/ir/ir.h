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

#include "lang/insn/isa.h"
#include "lang/program/code.h"

// A small intermediate code for programs that are generated: BPF with as many registers as one
// likes. It knows the sizes and signs of integers, the calling convention and the stack; which
// registers and which stack bytes things live in is found when it is assembled.
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

// The value that these 64 bits become in a type, extended to 64 bits again: what C's conversion
// does.
std::uint64_t converted(std::uint64_t value, Type type);

// A virtual register. It holds a value of its type, extended to 64 bits by the type's sign.
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

// What an operation works on: a temp or a number.
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

// A place in memory: behind an address, or on the stack.
struct Place {
    Place(Temp address, std::int64_t at = 0) : base(address), offset(at) {}
    Place(Slot on_stack, std::int64_t at = 0) : slot(on_stack), offset(at) {}
    // Where the record keeps a field, or a kernel structure a member: known when the code is linked
    // (Relocation::Kind::field_offset, btf_offset). The linker checks the width of what is read.
    Place(Temp address, Relocation known_later)
        : base(address), relocation(std::move(known_later)) {}

    std::optional<Temp> base;
    std::optional<Slot> slot;
    std::int64_t offset = 0;
    std::optional<Relocation> relocation;
};

// Arithmetic in a type: operands are converted to it, and so is the result. Division and shift
// right are signed where the type is. x / 0 is 0, x % 0 is x, the lowest number divided by -1 is
// itself, as in BPF; shifts count modulo 64, and modulo 32 in types of less than 8 bytes.
enum class Op { add, sub, mul, div, mod, bit_and, bit_or, bit_xor, shl, shr };
// Comparison in a type. `any_bits`: do the operands share a bit?
enum class Cmp { eq, ne, lt, le, gt, ge, any_bits };

// One function under construction, or a piece of code in front of a program. Instructions come in
// the order of the calls. What makes no sense (a temp that is read before it has a value, a label
// that is never bound) is a std::logic_error; code that needs more stack than there is, an Error.
class Code {
public:
    Code();
    ~Code();
    Code(Code&&) noexcept;
    Code& operator=(Code&&) noexcept;

    // What stands in r1 to r5 at the beginning; to be asked for before anything else.
    Temp argument(unsigned number);

    Temp new_temp(Type type);
    Type type_of(Temp temp) const;
    // Converts to the temp's type. Temps may be given values again and again.
    void assign(Temp to, Operand value);
    Temp convert(Operand value, Type type);
    Temp compute(Op op, Type type, Operand a, Operand b);
    Temp negate(Operand value, Type type);
    // The bytes in the other order.
    Temp swap_bytes(Operand value, Type type);
    // A 64-bit number or address that is known when the code is linked: a map, a parameter, a text…
    Temp symbol(Relocation relocation);

    Temp load(const Place& from, Type type);
    // The value of a field, with the size and sign its event's format says.
    Temp load_field(Temp record, Relocation field);
    // Where a field's bytes are: in the record, where its __data_loc says, or, of a `const char *`,
    // behind the pointer. For probe_read_kernel and its kin.
    Temp field_address(Temp record, Relocation field);
    void store(const Place& to, Operand value, Type type);
    // Atomic operations on 4 or 8 aligned bytes. `fetch` returns the old value.
    void atomic(AtomicOp op, const Place& at, Operand value, Type type);
    Temp fetch(AtomicOp op, const Place& at, Operand value, Type type);
    // Stores `desired` where the place holds `expected`; returns what it held.
    Temp compare_exchange(const Place& at, Operand expected, Operand desired, Type type);

    // Stack bytes, of no value, aligned to 1, 2, 4 or 8. They keep what is stored in them from the
    // first use in the code to the last, of the slot or of an address of it; bytes that are not
    // used at the same time may be shared.
    Slot new_slot(std::size_t bytes, std::size_t alignment = 8);
    Temp address(Slot slot, std::int64_t offset = 0);

    Label new_label();
    void bind(Label label);
    void jump(Label target);
    // Goes to `target` when the comparison is true, and on otherwise.
    void branch(Cmp cmp, Type type, Operand a, Operand b, Label target);

    // Calls a helper, or a function of the program. At most five arguments.
    Temp call(int helper, std::initializer_list<Operand> arguments);
    Temp call(std::string function, std::initializer_list<Operand> arguments);
    void leave(Operand result);
    // The code that comes behind this piece runs next, with this in r1.
    void fall_through(Operand context);

    // Where the instructions that follow come from.
    void set_source(const SourceRef& at);

    // The instructions, with real registers and stack offsets. Labels begin with the prefix. They
    // need instruction set v2 (Linux 4.14).
    std::vector<CodeItem> assemble(std::string_view label_prefix = ".") const;

    struct Body;

private:
    std::unique_ptr<Body> body_;
};

}  // namespace gpufs::ir
