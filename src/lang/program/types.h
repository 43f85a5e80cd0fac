#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpufs {

// The types of values that programs keep in maps and send in records, and how a reader shows them.

// The words that numbers stand for: {0, "HI"}, {1, "TIMER"}, ...
using EnumWords = std::vector<std::pair<std::int64_t, std::string>>;

// One value: an integer, text, an address, a stack. `bytes` is what it occupies.
struct ValueType {
    enum class Kind {
        integer,         // 1, 2, 4 or 8 bytes
        text,            // NUL-terminated within its bytes ("str16")
        raw_bytes,       // shown in hex
        kernel_address,  // 8 bytes, shown as a symbol
        user_address,    // 8 bytes, shown as a symbol of the record's process
        kernel_stack,    // 4 bytes, signed: an id in a stack trace map, or the error that made none
        user_stack,
        time,        // 8 bytes, nanoseconds of CLOCK_MONOTONIC
        process,     // 4 bytes: a process id (the kernel's tgid); the user addresses and stacks of
                     // the same layout are its
        syscall,     // 4 bytes, signed: a system call's number, shown as its name
        error,       // 4 bytes, signed: an errno or its negative, shown as its name
        signal,      // 4 bytes, signed: shown as its name
        device,      // 4 bytes: the kernel's dev_t (major << 20 | minor), shown as its name
        ip_address,  // 16 bytes, IPv6 or an IPv4 address mapped into it, as on the wire
    };
    Kind kind = Kind::integer;
    std::size_t bytes = 8;
    bool is_signed = false;
    std::string stack_map;  // of the stacks: the map that holds their frames
    std::string unit;       // "us", "bytes": for columns and histogram scales
    // What integers mean, where they are numbers for words.
    EnumWords words;
};

// A named member of a key, a record or a structure, at its offset.
struct Member {
    std::string name;
    ValueType type;
    std::size_t offset = 0;
};

// Members laid out in order, each aligned to its size (8 at most), the whole padded to the largest:
// as a C compiler would. Padding bytes are part of the key in a hash map, so programs must zero
// them.
struct Layout {
    std::vector<Member> members;
    std::size_t bytes = 0;

    const Member* find(std::string_view name) const;
    // Appends a member at the next aligned offset and updates `bytes`.
    void add(std::string name, ValueType type);
};

// What a map's values accumulate. Every kind is exact on all CPUs: in a per-CPU map each CPU adds
// to its own value and the reader merges, otherwise the program adds atomically.
struct Aggregation {
    enum class Kind {
        none,   // the value is data: `layout` of the map's value
        count,  // u64
        sum,    // u64, or s64 where signed
        min,
        max,         // u64 or s64, and a u64 that is 1 once there is a value
        avg,         // u64 count, s64 or u64 total
        stats,       // count, total, min, max
        log2,        // u64[65]: slot 0 for 0 (and less), slot n for values of n bits
        log_linear,  // u64 slots: 2^sub_bits slots for each power of two
        linear,      // u64 slots: below `low`, (high - low) / step between, above
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
