#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpufs {

// The types of values in maps and records; the types also determine how values are printed.

// Names of numbers: {0, "HI"}, {1, "TIMER"}, ...
using EnumWords = std::vector<std::pair<std::int64_t, std::string>>;

// The type of one value. `bytes` is its size.
struct ValueType {
    enum class Kind {
        integer,         // 1, 2, 4 or 8 bytes
        text,            // NUL-terminated within its bytes ("str16")
        raw_bytes,       // shown in hex
        kernel_address,  // 8 bytes, shown as a symbol
        user_address,    // 8 bytes, shown as a symbol of the record's process
        kernel_stack,    // 4 bytes, signed: an id in a stack trace map, or a negative errno
        user_stack,
        time,        // 8 bytes, nanoseconds of CLOCK_MONOTONIC
        process,     // 4 bytes: a process id (tgid); user addresses and stacks in the same layout
                     // belong to this process
        syscall,     // 4 bytes, signed: a system call's number, shown as its name
        error,       // 4 bytes, signed: an errno or its negative, shown as its name
        signal,      // 4 bytes, signed: shown as its name
        device,      // 4 bytes: the kernel's dev_t (major << 20 | minor), shown as its name
        ip_address,  // 16 bytes in network order: IPv6, or IPv4 mapped into IPv6
    };
    Kind kind = Kind::integer;
    std::size_t bytes = 8;
    bool is_signed = false;
    std::string stack_map;  // kernel_stack, user_stack: name of the map that holds the frames
    std::string unit;       // unit of the number, "us", "bytes": for columns and histogram scales
    // Names for the numbers of an integer.
    EnumWords words;
};

// A named member of a key, a record or a structure; `offset` in bytes.
struct Member {
    std::string name;
    ValueType type;
    std::size_t offset = 0;
};

// Members in order, each aligned to its size (at most 8), the whole padded to the largest
// alignment, like a C struct. Padding is part of a hash map's key, so programs must zero it.
struct Layout {
    // A stretch of the members that has a name of its own: an embedded structure, and what that
    // consists of, by path ("owner", "owner.pid").
    struct Part {
        std::string name;
        std::size_t offset = 0, bytes = 0;
    };
    std::vector<Member> members;
    std::vector<Part> parts;
    std::size_t bytes = 0;

    const Member* find(std::string_view name) const;
    const Part* find_part(std::string_view name) const;
    // Appends a member at the next aligned offset and updates `bytes`.
    void add(std::string name, ValueType type);
    // Appends all members of a structure, laid out as they are there, as the part `name`. Members
    // and parts of it keep their names where `is_open`; else `name` and a dot stand in front of
    // them. Their names must be new here.
    void embed(const std::string& name, const Layout& structure, bool is_open);

private:
    struct End {
        std::size_t bytes = 0, alignment = 1;
    };
    End end() const;
};

// What a map's values accumulate. Every kind is exact on all CPUs: in a per-CPU map each CPU
// updates its own value and the reader merges them, otherwise updates are atomic.
struct Aggregation {
    enum class Kind {
        none,   // not an aggregation: MapDeclaration::value is the layout
        count,  // u64
        sum,    // u64, or s64 where signed
        min,
        max,         // u64 or s64, then a u64 that is 1 once a value is set
        avg,         // u64 count, s64 or u64 total
        stats,       // count, total, min, max
        log2,        // u64[65]: slot 0 for 0 and negative values, slot n for values of n bits
        log_linear,  // u64 slots: 2^sub_bits slots for each power of two
        linear,      // u64 slots: one below `low`, (high - low) / step between, one above
    };
    Kind kind = Kind::none;
    bool is_signed = false;
    unsigned sub_bits = 0;                     // log_linear
    std::int64_t low = 0, high = 0, step = 1;  // linear

    bool is_histogram() const {
        return kind == Kind::log2 || kind == Kind::log_linear || kind == Kind::linear;
    }
    // Bytes of one value.
    std::size_t bytes() const;
};

}  // namespace gpufs
