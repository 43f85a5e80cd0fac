#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/symbol.h"

namespace gpufs {

// The functions that a text names. Where it has no addresses they get some, one for each name and
// offset, which mean nothing outside of this recording.
class TextSymbols {
public:
    // Of "schedule", "schedule+0x2b/0xd0", "schedule+0x2b/0xd0 [amdgpu]", "schedule
    // (ffffffff821f8c03)".
    std::uint64_t address_of(std::string_view text);
    std::optional<Symbol> find(std::uint64_t address) const;

private:
    struct Known {
        std::string name, module;
        std::uint64_t offset = 0, size = 0;
    };
    std::unordered_map<std::string, std::uint64_t> addresses_;  // by text
    std::unordered_map<std::uint64_t, Known> known_;
    std::uint64_t last_ = 0xffff'f000'0000'0000;
};

}  // namespace gpufs
