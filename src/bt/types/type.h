#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/program/types.h"

// The types of values in a script, and how a value lies in memory: in a variable, a map's key or
// value, and a record that is sent to the reader. All numbers are in the machine's byte order.
namespace gpufs::bt {

// The size of a register, of a part of a key, and of a scalar in a map.
inline constexpr std::size_t kWord = 8;
// The clocks of Type::Kind::timestamp.
inline constexpr unsigned kBoot = 0, kMonotonic = 1, kTai = 2;

struct Type;
struct Structure;
using TypePtr = std::shared_ptr<const Type>;

struct Type {
    enum class Kind {
        none,       // no value: a call of printf()
        integer,    // 1, 2, 4 or 8 bytes
        boolean,    // 1 byte
        string,     // up to the first NUL, zeros behind it, or all `bytes`
        buffer,     // a u32, the length, then up to bytes - 4 bytes
        pointer,    // 8 bytes; to `element`
        array,      // `count` of `element`
        structure,  // `structure`, or by `name` only where it was not looked up
        tuple,      // `fields`, laid out as in C; a record where they have names
        // 8 bytes: an s32, the id in the map `map` or a negative errno; a u32, the process (tgid)
        // of a user stack
        kernel_stack,
        user_stack,
        kernel_symbol,  // 8 bytes: an address
        user_symbol,    // 16 bytes: an address; a u32, the process (tgid); 4 bytes of zeros
        inet,           // 20 bytes: a u32, AF_INET or AF_INET6; 16 bytes, the address in front
        mac_address,    // 6 bytes
        user_name,      // 8 bytes: the uid
        task_name,      // 8 bytes: the task's id
        timestamp,      // 16 bytes: ns; a u32, the index of the format (StringTable); a u32, the
                        // clock: 0 boot, 1 monotonic, 2 tai
        cgroup_path,    // 8 bytes: the cgroup's id
        error_name,     // 8 bytes: an errno (strerror())
        syscall_name,   // 8 bytes: a system call's number
        signal_name,    // 8 bytes: a signal's number
        probe_name,     // 8 bytes: of a probe or a function, function_cookie() of its name
        // What maps accumulate. `is_signed` says how the numbers are to be read.
        count,
        sum,
        min,
        max,
        avg,
        stats,
        hist,   // slots of powers of two, each split in 2^bits
        lhist,  // slots of `step` from `low` to `high`
        // The last `count` intervals of `step` ns of TAI time: what `element` made of each one's
        // values, a sum, min, max, avg, or an integer, the last value. An interval is told by its
        // epoch, the time of its beginning / step.
        tseries,
    };
    // The most frames of a stack; as many are kept where none are asked for, and all are shown.
    static constexpr std::size_t kMostFrames = 127;

    struct Field {
        std::string name;  // may be empty in a tuple
        TypePtr type;
        std::size_t offset = 0;
        // Of a bit field: above the begin of the byte at `offset`, up to 9 bytes (see bit_place()).
        // 0: it is none.
        unsigned bit_shift = 0, bit_size = 0;

        // Of a bit field: which have bits of it, from `offset`.
        std::size_t bit_bytes() const { return (bit_shift + bit_size + 7) / 8; }
    };
    Kind kind = Kind::none;
    std::size_t bytes = 0;
    // Integers and texts may have more room here than the language gives them: what sizeof() and
    // messages tell. 0: `bytes`.
    std::size_t told_bytes = 0;
    bool is_signed = false;
    // integer, and what maps accumulate of it: of a constant that is not negative, which takes the
    // sign of what is merged with it.
    bool has_any_sign = false;
    TypePtr element;
    std::size_t count = 0;  // array, tseries; string: of an array of characters
    unsigned clock =
        kMonotonic;    // integer: which clock it is a time of, if it is one: as of a timestamp
    std::string name;  // structure: "task_struct"; integer: the enum's, may be empty
    std::vector<std::pair<std::int64_t, std::string>> words;  // names of an enum's numbers
    std::vector<Field> fields;
    std::shared_ptr<const Structure> structure;
    std::size_t number = 0;  // of a program's structure, by name only: World::user_structure()
    Space space = Space::none;
    // Stacks.
    std::string map;
    enum class StackForm { bpftrace, perf, raw, build_id };
    StackForm form = StackForm::bpftrace;
    std::size_t frames = 0;  // at most so many
    // hist, lhist, tseries
    unsigned bits = 0;
    std::int64_t low = 0, high = 0, step = 1;

    bool is(Kind k) const { return kind == k; }
    bool is_number() const { return kind == Kind::integer || kind == Kind::boolean; }
    bool is_stack() const { return is(Kind::kernel_stack) || is(Kind::user_stack); }
    bool is_aggregation() const { return kind >= Kind::count; }
    bool is_histogram() const { return is(Kind::hist) || is(Kind::lhist); }
    // In a map, an element for each key and slot (ScriptMap): histograms and time series.
    bool has_slots() const { return is_histogram() || is(Kind::tseries); }
    // Of a lhist: how many whole steps there are from `low` to `high`.
    std::uint64_t steps() const {
        return (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)) /
               static_cast<std::uint64_t>(step);
    }
    // Of a histogram: how many slots there are.
    std::uint64_t slots() const;
    // Fits a register: a number, a pointer, and what is kept as 8 bytes.
    bool is_scalar() const;
};

struct Structure {
    std::string name;
    bool is_union = false;
    std::size_t bytes = 0;
    // Members of anonymous members are among them. A member that is a pointer to a structure has a
    // type with the name only.
    std::vector<Type::Field> fields;
};

TypePtr none_type();
TypePtr integer_type(std::size_t bytes, bool is_signed);
TypePtr boolean_type();
TypePtr string_type(std::size_t bytes);
TypePtr char_array_type(std::size_t count);  // a text in a structure, which is nowhere cut
TypePtr buffer_type(std::size_t bytes);      // of the contents
TypePtr pointer_type(TypePtr to, Space space);
TypePtr array_type(TypePtr element, std::size_t count);
// An array of so many uint8: what is no number of C's. none_type() without bytes.
TypePtr bytes_type(std::size_t bytes);
TypePtr structure_type(std::string name);
// Of one of the kinds that have nothing but their kind.
TypePtr plain_type(Type::Kind kind);
TypePtr time_series_type(TypePtr element, std::size_t intervals, std::int64_t interval_ns);
// Lays the fields out: offsets are set here. Names may be empty.
TypePtr tuple_type(std::vector<Type::Field> fields);

// The alignment of a value in a tuple or a record, in bytes: as in C, but 8 for texts and all else
// that programs copy word by word.
std::size_t alignment_of(const Type& type);
// What sizeof() tells: as the language lays the value out, however much room it has here.
std::size_t told_size(const Type& type);
// The same type, of which the language tells another size.
TypePtr told_as(const TypePtr& type, std::size_t bytes);
// "int64", "string[16]", "struct task_struct *", "(int64,string[4])", "count_t": for messages.
std::string name_of(const Type& type);
// The same type, whatever the size of strings and integers in it.
bool is_alike(const Type& a, const Type& b);

// "perf", "raw", "bpftrace", "build_id"; absent for another word.
std::optional<Type::StackForm> stack_form(std::string_view word);
std::string_view name_of(Type::StackForm form);

}  // namespace gpufs::bt
