#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "bt/syntax/expr.h"
#include "bt/types/c_types.h"
#include "bt/types/type.h"
#include "lang/event/event_format.h"
#include "lang/ir/ir.h"

// Where a program keeps what its script computes.
namespace gpufs::bt {

// The widest access in bytes, at most a word, for what is left, aligned at these offsets.
std::size_t widest_access(std::size_t left, std::int64_t at, std::int64_t other = 0);

// Bytes in memory that a program may load from and store to: on its stack, in its frame, in a
// map's value.
struct Local {
    std::variant<ir::Slot, ir::Temp> base;
    std::int64_t offset = 0;

    ir::Place place(std::int64_t at = 0) const {
        if (const auto* slot = std::get_if<ir::Slot>(&base)) return {*slot, offset + at};
        return {std::get<ir::Temp>(base), offset + at};
    }
    Local at(std::size_t bytes) const { return {base, offset + static_cast<std::int64_t>(bytes)}; }
};

// The value of an expression, wherever it is.
struct Value {
    TypePtr type;
    std::optional<ir::Operand> number;  // of a scalar: extended to 64 bits
    std::optional<Local> bytes;         // in the program's memory
    std::optional<ir::Temp> remote;     // elsewhere: this address in `space`
    const Expr* reader = nullptr;       // of one elsewhere: what says so
    Space space = Space::kernel;
    // Of a text elsewhere: how many bytes there are, after which others follow. 0: it has a NUL.
    std::size_t most_bytes = 0;
    std::optional<std::string> literal;   // a text that is known
    const gpufs::Field* field = nullptr;  // text or an array in the event's record
    bool is_task_name = false;            // the helper writes it where it is to be
};

inline Value number_value(ir::Operand number, TypePtr type) {
    Value value;
    value.type = std::move(type);
    value.number = number;
    return value;
}

// What a program may use of its stack where the functions that it calls take next to nothing.
inline constexpr std::size_t kWholeStackBytes = 416;

// How a text is put into memory that has so many bytes for it: only there, or with a byte behind
// them, which may be written, too; with zeros behind its end, or, where nobody looks, anything.
enum class TextEnd { exact, roomy, sent };
// The bytes to allocate behind a value of a type for the latter two.
std::size_t room_behind(const Type& type);

// A variable of the script: in a register, or in memory.
struct VariablePlace {
    std::optional<ir::Temp> number;
    std::optional<Local> bytes;
};

// Where `continue` and `break` go.
struct Loop {
    ir::Label next, end;
};

// The bytes that adding 1 to a value moves it by: of a pointer, what it points to.
std::size_t stride_of(const Type& type, const TypeTable& table);
// What ++ and -- add to a value of this type.
std::int64_t step_of(const Expr& increment, const Type& type, const TypeTable& table);
// How a number of this type is in a register.
ir::Type ir_type(const Type& type);

}  // namespace gpufs::bt
