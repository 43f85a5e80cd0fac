#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "bt/syntax/ast.h"
#include "bt/types/c_types.h"
#include "bt/types/type.h"
#include "bt/types/world.h"
#include "lang/program/program.h"
#include "lang/program/static_argument.h"

namespace gpufs::bt {

// The kernel's array with what to add to a per-CPU symbol's address for each CPU
// (include/asm-generic/percpu.h).
inline constexpr const char* kPerCpuOffsets = "__per_cpu_offset";

// The structure whose address an iterator's program is given, "bpf_iter__task"
// (DEFINE_BPF_ITER_FUNC in include/linux/bpf.h).
inline std::string iterator_context(const AttachPoint& point) {
    return "bpf_iter__" + point.name;
}

// A variable of a probe. Each block may have its own of one name.
struct Variable {
    std::string name;
    TypePtr type;
    SourceRef at;               // where it comes first
    bool starts_empty = false;  // it may be read before it is assigned
    bool is_declared = false;   // as an integer of this type, which it stays
};

// A block to compile: a probe, for the targets that can share its code. The tree stays as it is:
// what a pass finds out is beside it.
struct Instance {
    const Probe* probe = nullptr;
    std::vector<AttachPoint> points;      // patterns are expanded where the code depends on it
    const EventFormat* event = nullptr;   // of its one tracepoint, where it asks for `args`
    std::vector<Type::Field> parameters;  // of its one function or raw tracepoint, likewise
    // Of its one function of a program, likewise: where each parameter is.
    std::vector<StaticArgument> parameter_places;
    bool asks_function = false;  // `func`
    // Of its static probe (usdt), where it asks for what differs between its places: where it has
    // its arguments, and at which of the places it runs, where there are several.
    std::optional<World::StaticProbe> static_probe;
    std::optional<std::size_t> static_place;
    // Where the file of its one probe of a program has the place, where uaddr() asks for it.
    std::optional<std::uint64_t> file_address;
    std::unordered_map<const Expr*, TypePtr> types;
    std::unordered_map<const Expr*, std::size_t> uses;        // of variables: which one
    std::unordered_map<const Stmt*, std::size_t> declares;    // let and for: likewise
    std::unordered_map<const Expr*, std::int64_t> constants;  // of sizeof and offsetof
    std::vector<Variable> variables;
    // Of an `args` by itself: the record of all its members, (pid=args.pid, ...).
    std::unordered_map<const Expr*, ExprPtr> written_out;

    Provider provider() const { return points.front().provider; }
};

// A map of the script.
struct TypedMap {
    std::string name;
    bool is_keyed = false;
    TypePtr key;    // the one key's, or a tuple's of several; null for a scalar
    TypePtr value;  // null where nothing is ever put in
    bool is_assigned = false;
    bpf_map_type type = BPF_MAP_TYPE_HASH;
    std::uint64_t entries = 0;
    SourceRef at;  // where it comes first

    // Whether has_key() or delete() with this map in front has its key behind it, (@m, k), and not
    // elements of maps: delete(@m[1], @n[2]).
    bool has_key_behind(const Expr& call) const {
        const bool is_map = call.operands.back()->kind == Expr::Kind::map;
        return call.operands.size() == 2 && call.operands[0]->operands.empty() &&
               (!is_map || is_keyed || call.text == "has_key");
    }

    // It is used, and nothing is ever put in.
    bool is_undefined() const { return !value && !is_assigned; }
};

// What the types depend on besides the script.
struct TypeOptions {
    std::size_t string_bytes = 256;  // of str() and the like, at most; a multiple of 8
    std::uint64_t map_entries = 4096;
    std::size_t most_probes = 1024;
    Type::StackForm stack_form = Type::StackForm::bpftrace;  // where none is asked for
    bool is_old = false;      // see Language: numbers have 64 bits, comparisons are numbers
    bool is_unsafe = false;   // functions that change the machine are allowed
    bool has_cookies = true;  // one program can know at which of its functions it runs
    // What becomes of attach points that are not there: as the config's missing_probes says. Where
    // it does not, they are errors, but in a list of which another one is there `missing_in_list`.
    using Missing = ProbeProgram::IfAbsent;
    std::optional<Missing> missing_probes;
    Missing missing_in_list = Missing::mistake;

    Missing if_missing(const Probe& probe) const {
        return missing_probes.value_or(probe.points.size() > 1 ? missing_in_list
                                                               : Missing::mistake);
    }
};

struct Typed {
    std::deque<Instance> instances;  // in the script's order
    std::deque<TypedMap> maps;       // by first appearance
    std::vector<PlacedMessage> warnings;

    TypedMap* find_map(const std::string& name);
    const TypedMap* find_map(const std::string& name) const;
};

}  // namespace gpufs::bt
