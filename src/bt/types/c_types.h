#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "bt/syntax/ast.h"
#include "bt/types/type.h"
#include "bt/types/world.h"

namespace gpufs::bt {

// The types, members and constants that a script's words mean: first what the script defines in C,
// then bpftrace's own words ("uint64", "string[16]"), C's ("unsigned long"), and the World's.
// Structures of the script are laid out as a C compiler does on this machine: natural alignment, or
// that of their attributes and #pragma pack, bit fields in units of their type, no padding where
// they are packed.
class TypeTable {
public:
    // Borrows both. Adds the mistakes in the script's definitions: a member of an unknown type, a
    // structure that contains itself, an enumerator defined twice.
    TypeTable(const Script& script, World& world, Diagnostics& diagnostics);

    // Of a script that is not yet read to its end: what is wrong in it is told later.
    TypeTable(const Script& script, World& world);

    // The type of a name, with its pointers and arrays. Null for a name that is none, and for
    // typeof(EXPR), which the caller knows: derive() adds the rest. Pointers in it point to
    // `space`.
    //   "string" and "buffer" with [N]: of N bytes; without: of 0 bytes, which the caller chooses.
    //   "char[N]": a string of N bytes, in structures, too; "char": an int8. "bool": a boolean.
    //   "void": none_type().
    // `program`: the file whose types are asked for before the kernel's; empty: none.
    TypePtr resolve(const TypeName& name, Space space = Space::none,
                    const std::string& program = {}) const;
    // `inner` with the pointers and arrays of `name`.
    TypePtr derive(TypePtr inner, const TypeName& name, Space space = Space::none) const;
    // "did you mean 'struct request'?", or empty, for a name that resolve() does not know.
    std::string hint_for_type(const std::string& name) const;

    // What is in a type of kind structure: the script's own, or the World's. Null for another kind,
    // and where nobody knows the structure of that name. A pointer in it has Space::kernel in a
    // structure of the kernel, and Space::none in one of the script: it points to where the
    // structure itself is.
    std::shared_ptr<const Structure> structure(const Type& type) const;

    // The number of an enumerator of the script or the World, or of a constant of headers (see
    // uapi_constant()); `type` is the enum where the script defines it, else null.
    struct Constant {
        std::int64_t number = 0;
        TypePtr type;
    };
    std::optional<Constant> constant(const std::string& name) const;

private:
    TypeTable(const Script& script, World& world, Diagnostics* diagnostics);
    struct Layout;
    // Without the pointers and arrays of `name`; `depth`: behind so many typedefs. What is pointed
    // to may be the structure that is being laid out.
    TypePtr base_type(const TypeName& name, Space space, int depth, const std::string& program = {},
                      bool is_pointed_to = false) const;
    void define_enum(const CEnum& definition);
    // Null while the structure is being laid out, and for one that cannot be.
    std::shared_ptr<const Structure> lay_out(std::size_t index) const;
    TypePtr member_type(const CMember& member) const;
    void mistake(SourceRef at, std::string_view message, std::string_view hint = {}) const;

    const Script& script_;
    World& world_;
    std::map<std::string, std::size_t> records_;  // by name: indices into Script::records
    std::map<std::string, const CTypedef*> typedefs_;
    std::map<std::string, TypePtr> enums_;
    std::map<std::string, Constant> constants_;
    // Of each record, where it is laid out.
    mutable std::vector<std::shared_ptr<const Structure>> layouts_;
    mutable std::vector<std::size_t> alignments_;  // in bytes
    mutable std::set<std::size_t> open_;           // records being laid out
    mutable Diagnostics* diagnostics_ = nullptr;   // while the constructor runs
};

// "it may be of <time.h>; …", for a name that nobody knows; empty where nothing is included.
std::string hint_for_headers(const Script& script);
// A member by its name; null if there is none.
const Type::Field* member(const Structure& structure, std::string_view name);
// "did you mean 'real_parent'?", or empty, for a name that is no member.
std::string hint_for_member(const Structure& structure, std::string_view name);

}  // namespace gpufs::bt
