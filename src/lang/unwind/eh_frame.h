#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "lang/unwind/machine.h"
#include "lang/unwind/rule.h"

namespace gpufs {

// The call frame information of a program or library (.eh_frame), of which only that is kept what
// is needed to walk stacks: rules for the CFA and the registers that are followed.
//
// Anything in the bytes is read without harm: what is damaged is left out, and counted.
class EhFrame {
public:
    // `bytes` are the section's, as linked at `address`; they and `machine`, whose code it is, are
    // kept by reference. The information may end before the bytes do.
    EhFrame(std::string_view bytes, std::uint64_t address, const UnwindMachine& machine);

    // Visits the rules in order of their addresses: each holds up to the next one's address. Where
    // no function is, Kind::none holds. Neighbours differ, except across gaps.
    using Visit = std::function<void(std::uint64_t address, const UnwindRule& rule)>;
    void for_each(const Visit& visit);

    // Functions, and those of them that could not be read.
    std::size_t functions() const noexcept { return entries_.size(); }
    std::size_t damaged() const noexcept { return damaged_; }

private:
    // What functions have in common, at an offset of the section.
    struct Common {
        std::size_t at = 0;
        std::uint64_t code_step = 1;
        std::int64_t data_step = 1;
        std::uint64_t return_register = 0;
        std::uint8_t encoding = 0;  // of addresses: DW_EH_PE_*
        bool has_data = false;      // augmentation data, with its length in front
        bool is_signal = false;
        std::string_view code;
    };
    struct Entry {
        std::uint64_t begin, end;
        std::size_t common;  // an index
        std::string_view code;
    };
    void read_entries();
    bool read_common(std::size_t at, Common& common) const;
    std::size_t common_at(std::size_t at);

    std::string_view bytes_;
    std::uint64_t address_;
    const UnwindMachine& machine_;
    std::vector<Common> commons_;
    std::vector<Entry> entries_;  // sorted by begin
    std::size_t damaged_ = 0;
};

}  // namespace gpufs
