// Names of functions: whatever a file says, taking it apart ends, and makes no long text of it.

#include "fuzz/fuzz.h"
#include "lang/symbols/function_name.h"
#include "lang/symbols/rust_name.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kMost = 4096 + 2048 + 16;
    const std::string symbol = "_R" + std::string(text_of(bytes));
    if (const auto name = rust_name(symbol)) expect(name->size() <= kMost);
    function_name(std::string(text_of(bytes)));
}

}  // namespace gpufs::fuzz
