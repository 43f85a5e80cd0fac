#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/symbols/debug_info.h"

namespace gpufs {

// A function whose code a compiler put into that of its caller.
struct InlinedFunction {
    std::string name;       // "std::vector<int, std::allocator<int> >::push_back"
    std::string called_at;  // "main.cc:42"; empty if unknown

    bool operator==(const InlinedFunction&) const = default;
};

// The inlined functions in a file's code, by its debug information.
class InlinedFunctions {
public:
    explicit InlinedFunctions(std::unique_ptr<DebugInfo> info) : info_(std::move(info)) {}

    // Those that an address is in, the innermost first. `address`: link-time address
    // (CodeFile::address_of).
    std::vector<InlinedFunction> find(std::uint64_t address);

private:
    std::unique_ptr<DebugInfo> info_;  // null: there is none
};

}  // namespace gpufs
