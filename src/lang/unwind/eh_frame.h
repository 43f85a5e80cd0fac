#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "lang/dwarf/call_frames.h"
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
    std::size_t functions() const noexcept { return functions_.size(); }
    std::size_t damaged() const noexcept { return reader_.damaged() + unread_; }

private:
    CallFrameReader reader_;
    const UnwindMachine& machine_;
    std::vector<FunctionFrames> functions_;  // sorted by begin
    std::size_t unread_ = 0;                 // whose code is damaged
};

}  // namespace gpufs
