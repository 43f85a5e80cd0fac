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

// A part of a number that has a name: it is told where these bits of the number have that value.
struct FlagName {
    std::uint64_t bits = 0, value = 0;
    std::string name;

    friend bool operator==(const FlagName&, const FlagName&) = default;
};

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
        dimensions,  // 12 bytes: three u32, shown as "128x4x1"
        interrupt,   // 4 bytes: its number, shown with the PCI device that has it
        file_path,   // 8 bytes: a key of text_map, which has what lang/program/file_path.h says
        syscall_record,  // a SyscallRecord (lang/program/syscall_record.h), shown as the call
    };
    Kind kind = Kind::integer;
    std::size_t bytes = 8;
    bool is_signed = false;
    bool is_numeric = false;      // text: a number with spaces around it, or another text for none
    std::string stack_map;        // kernel_stack, user_stack: name of the map that holds the frames
    std::size_t most_frames = 0;  // so many of them are shown, without the probe's own; 0: all
    // user_address: name of the map of texts that it may be a key of instead. Empty: none.
    // file_path: name of the map of paths.
    std::string text_map;
    std::string unit;  // unit of the number, "us", "bytes": for columns and histogram scales
    // Names for the numbers of an integer.
    EnumWords words;
    bool is_hex = false;  // a number without a word is shown in hexadecimal
    // Names for parts of an integer: "O_WRONLY|O_CREAT|0x20000".
    std::vector<FlagName> flags;
};

ValueType integer_value(std::size_t bytes);
ValueType raw_bytes_value(std::size_t bytes);

// Whose memory an address is in. `none`: that is not known before the address is: on the machines
// that gpufs runs on, the kernel's are in the upper half.
enum class Space { none, kernel, user };

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

    // Of one member.
    static Layout of(std::string name, ValueType type);

private:
    struct End {
        std::size_t bytes = 0, alignment = 1;
    };
    End end() const;
};

// What a map's values accumulate. The kernel's values begin as zeros, in every kind of map, and
// every kind is exact, in per-CPU maps too.
//
// An extreme is kept as a number without a sign that only grows from 0: extreme_mask().
//
// A histogram is no single value: each of its buckets that is in use has an entry of its own, and a
// bucket's value is a `stats`. So counts, sums and the two extremes are exact, and a percentile is
// known as well as the bounds of what its bucket holds.
struct Aggregation {
    enum class Kind {
        none,   // not an aggregation: MapDeclaration::value is the layout
        count,  // u64
        sum,    // u64, or s64 where signed
        min,
        max,         // the extreme, and a u64 that is 1 once there is a value
        avg,         // u64 count, s64 or u64 total
        stats,       // count, total, min, max
        log2,        // log_linear(kLog2Bits), drawn in powers of two
        log_linear,  // 2^sub_bits buckets for each power of two; bucket 0 for 0 and less
        linear,      // buckets: below `low`, (high - low) / step between, above
    };
    // 32 buckets for each power of two: half of one is 1.6 % of what is in it.
    static constexpr unsigned kLog2Bits = 5;

    Kind kind = Kind::none;
    bool is_signed = false;
    unsigned sub_bits = 0;                     // log_linear
    std::int64_t low = 0, high = 0, step = 1;  // linear
    bool is_rate = false;                      // stats of speeds, whose sum says nothing

    bool is_histogram() const {
        return kind == Kind::log2 || kind == Kind::log_linear || kind == Kind::linear;
    }
    // Of log2 and log_linear.
    unsigned bucket_bits() const { return kind == Kind::log2 ? kLog2Bits : sub_bits; }
    // How many buckets a histogram has; 1 for the other kinds.
    std::size_t buckets() const;
    // Bytes of one value.
    std::size_t bytes() const;

    bool operator==(const Aggregation&) const = default;
};

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// What an extreme is xor-ed with, to be kept and to be read: the largest value v is kept as v, and
// signed as v ^ 2^63; the least one as the complement of that.
constexpr std::uint64_t extreme_mask(bool is_signed, bool is_least) {
    return (is_signed ? kSignBit : 0) ^ (is_least ? ~std::uint64_t{0} : 0);
}

}  // namespace gpufs
