#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"

// Call frame information: at each address of a function, where its frame is and where it saved its
// caller's registers (DWARF 5, section 6.4; of .eh_frame, the Linux Standard Base). Anything in the
// bytes is read without harm.
namespace gpufs {

// .eh_frame or .debug_frame, and where it is in memory as the file was linked. The information may
// end before the bytes do.
struct FrameSection {
    std::string_view bytes;
    std::uint64_t address = 0;
    bool is_eh = false;
    std::size_t address_bytes = 8;
};

// What several functions have in common (the standard's CIE).
struct CommonFrames {
    std::size_t at = 0;  // an offset in the section
    std::uint64_t code_step = 1;
    std::int64_t data_step = 1;
    std::uint64_t return_register = 0;
    std::uint8_t encoding = 0;  // of addresses: DW_EH_PE_*
    bool has_data = false;      // augmentation data, with its length in front
    bool is_signal = false;
    std::string_view code;  // instructions that come before those of each function
};

// A function (the standard's FDE), from `begin` to below `end`.
struct FunctionFrames {
    std::uint64_t begin = 0, end = 0;
    std::size_t common = 0;  // an index
    std::string_view code;
};

// Reads the functions of a section.
class CallFrameReader {
public:
    // Borrows the section's bytes.
    explicit CallFrameReader(const FrameSection& section) : section_(section) {}

    // The next one, in the order of the section; absent: there are no more.
    std::optional<FunctionFrames> next();
    const CommonFrames& common(std::size_t index) const { return commons_[index]; }
    // Functions that could not be read.
    std::size_t damaged() const noexcept { return damaged_; }

private:
    // What an entry begins with: of a function, where its common part is.
    struct Id {
        std::uint64_t number;
        bool is_common;  // the entry is such a part
    };
    Id read_id(ByteReader& from, std::size_t offset_bytes) const;
    std::optional<FunctionFrames> read_function(std::uint64_t id_at, std::string_view entry,
                                                std::size_t offset_bytes);
    std::optional<std::size_t> common_at(std::uint64_t at);
    bool read_common(std::uint64_t at, CommonFrames& common) const;
    std::optional<std::uint64_t> read_value(ByteReader& from, std::uint8_t encoding) const;

    FrameSection section_;
    std::size_t at_ = 0;
    std::vector<CommonFrames> commons_;
    std::size_t damaged_ = 0;
};

// An instruction: its kind, and of the rest what that kind has.
struct FrameStep {
    enum class Kind : std::uint8_t {
        none,
        advance,         // the rules up to here are those of `number` bytes of code
        cfa,             // the frame's address (the standard's CFA) is `reg` + `number`
        cfa_register,    // … is `reg` + the offset before
        cfa_offset,      // … is the register before + `number`
        cfa_expression,  // … is what `expression` says
        saved,           // `reg` is saved at the frame's address + `number`
        saved_where,     // `reg` is saved where `expression` says
        elsewhere,       // `reg` is found in another way
        lost,            // `reg` is nowhere
        kept,            // `reg` is what it was
        restored,        // `reg` is where it was at the function's begin
        remember,        // all rules, on a stack
        recall,          // those on top of the stack
        sign,            // on arm64, the return address is signed from here on, or no more
    };
    Kind kind = Kind::none;
    std::uint64_t reg = 0;    // DWARF's number
    std::int64_t number = 0;  // bytes
    std::string_view expression;
};

// The next instruction of code that is not at its end. False: it is damaged, unknown, or one that
// no compiler writes (DW_CFA_set_loc).
bool read_frame_step(ByteReader& from, const CommonFrames& common, FrameStep& step);

}  // namespace gpufs
