#pragma once

#include <cstddef>
#include <cstdint>

namespace gpufs {

// How the caller of a function is found from a place in it: one of some hundred rules, which many
// places share. Registers have their DWARF numbers (UnwindMachine).
//
// The caller's stack pointer is the CFA. Where calls push the return address, it lies below that.
struct UnwindRule {
    enum class Kind : std::uint8_t {
        none,       // nothing is known of the place: take the frame pointer
        plain,      // CFA = base + offset
        indirect,   // CFA = *(base + offset) + extra
        plt,        // CFA = base + offset, and 8 more where the address's low 4 bits are >= extra
        signal,     // the kernel put a struct ucontext at the stack pointer
        outermost,  // there is no caller
        unknown,    // there is a rule that this form cannot express
    };
    // Where the caller's frame pointer and the other register that is followed are.
    enum class Saved : std::uint8_t {
        in_register,
        at_cfa,   // *(CFA + 8 * words)
        at_base,  // *(frame pointer + 8 * words)
    };
    Kind kind = Kind::none;
    std::uint8_t base = 0;
    Saved frame = Saved::in_register, other = Saved::in_register;
    std::int32_t offset = 0;
    std::int16_t frame_words = 0, other_words = 0;
    std::int32_t extra = 0;

    friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};
static_assert(sizeof(UnwindRule) == 16);

// Tables as programs read them. A row is a u32: from its address on, up to the next row's, a rule
// holds. Its low bits are the address in a page, the others the rule's number. Each page of code
// has rows of its own, of which the first is for the page's first byte.
inline constexpr unsigned kUnwindPageBits = 12;
inline constexpr std::uint32_t kUnwindPageBytes = 1u << kUnwindPageBits;
// Rows lie in blocks, and no page's rows are in two of them.
inline constexpr unsigned kRowBlockBits = 11;
inline constexpr std::uint32_t kRowBlock = 1u << kRowBlockBits;
// The blocks of one map, and how many such maps there are at most: 64 MB.
inline constexpr unsigned kRowSlabBits = 7;
inline constexpr std::uint32_t kRowSlab = 1u << kRowSlabBits;
inline constexpr std::uint32_t kMostRowSlabs = 64;
inline constexpr std::uint32_t kMostUnwindRules = 16 << 10;
// Pages of code of all files: of 2 GB.
inline constexpr std::uint32_t kMostUnwindPages = 512 << 10;

// A page's rows: the first's number is block << kRowBlockBits | index.
struct UnwindPage {
    std::uint32_t first = 0, count = 0;
};

// A process's memory from an address on, up to the next range. A process has an array of them, of
// which the first begins at 0, within one block.
struct UnwindRange {
    std::uint64_t start = 0;
    std::uint32_t page = 0;  // the number of its first page, or one of those below
    std::uint32_t unused = 0;
};
// Code without a table; memory in which there is no code as far as it is known.
inline constexpr std::uint32_t kNoUnwindTable = 0xffffffff, kNoCode = 0xfffffffe;
inline constexpr unsigned kRangeBlockBits = 10;
inline constexpr std::uint32_t kRangeBlock = 1u << kRangeBlockBits;
inline constexpr std::uint32_t kMostRangeBlocks = 128;

// The ranges of a process: the first's number is block << kRangeBlockBits | index.
struct UnwindProcess {
    std::uint32_t first = 0, count = 0;
};
inline constexpr std::uint32_t kMostUnwindProcesses = 8192;

}  // namespace gpufs
