#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/probe/code_spots.h"
#include "engine/symbols/debug_info.h"
#include "lang/dwarf/location.h"
#include "lang/dwarf/type.h"
#include "lang/ir/ir.h"
#include "lang/probe/variable_path.h"

namespace gpufs {

using TypeKind = DwarfType::Kind;
using PlaceKind = VariablePlace::Kind;

// Why a path cannot be read at a spot.
struct Unreadable {
    Span at;
    std::string reason, hint;
    bool is_nowhere = false;    // optimized out
    bool is_elsewhere = false;  // it may be read at another place of the code
};

// Something of the program, on the way through a path.
struct ProgramObject {
    DwarfType type;
    VariablePlace place;
    std::optional<unsigned> bits;  // only these of it: a bit field, or a part of a register
    unsigned first_bit = 0;
};

// Finds variables and what paths lead to from them, at one spot of the code. Throws Unreadable.
class ObjectFinder {
public:
    ObjectFinder(DebugInfo& info, const CodeSpot& spot);
    ObjectFinder(const ObjectFinder&) = delete;
    ObjectFinder& operator=(const ObjectFinder&) = delete;

    ProgramObject find(const VariablePath& path);
    ProgramObject object_of(const DwarfEntry& variable);

    // Where the frame is of the function that the spot is in ("CFA"), as memory.
    VariablePlace frame() const;

    // From a pointer or an array to what it points to.
    void through(ProgramObject& object);
    void follow_reference(ProgramObject& object);

    // Throws if an object has no single place or value.
    void require_there(const VariablePlace& place) const;
    // Of a number, an enumeration's value or an address; throws for what is none, or of another
    // size than those of C.
    ir::Type require_number(const DwarfType& named) const;
    [[noreturn]] void fail(std::string reason, std::string_view hint = {}) const;
    // Of a value, or of the address of one.
    [[noreturn]] void fail_computed(const RuntimeNumber& number, bool is_address = false) const;

private:
    ProgramObject variable(const VariablePath& path);
    struct Global {
        DwarfEntry entry;
        std::optional<VariablePlace> place;  // where it is known without the entry's
    };
    Global find_global(const std::string& name);
    VariablePlace located(const DwarfEntry& variable);
    VariablePlace by_symbol(const DwarfEntry& variable);
    std::optional<VariablePlace> thread_place(const DwarfEntry& variable);
    std::string missing_split_hint() const;

    void take(ProgramObject& object, const VariablePath::Step& step);
    void member(ProgramObject& object, const std::string& name);
    void element(ProgramObject& object, std::int64_t number);
    void shift(ProgramObject& object, std::uint64_t at, std::uint64_t bytes, unsigned first_bit,
               std::optional<unsigned> bits);
    void shift_in_pieces(ProgramObject& object, std::uint64_t at, std::uint64_t bytes,
                         unsigned first_bit, std::optional<unsigned> bits);
    RuntimeNumber value_of(const ProgramObject& object);

    DebugInfo& info_;
    const CodeSpot& spot_;
    LocationContext context_;
    Span at_;  // of what is looked at
};

// The number in the first 8 bytes, or fewer.
std::uint64_t number_in_bytes(std::string_view bytes);

}  // namespace gpufs
