#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

namespace gpufs::fuzz {

// What a fuzzer does with each input. Whatever it lets out, and a false expect(), is a finding.
void one(std::span<const std::uint8_t> bytes);

inline void expect(bool holds) {
    if (!holds) std::abort();
}

inline std::string text_of(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}

}  // namespace gpufs::fuzz

// libFuzzer calls it. One definition: each fuzzer is one file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gpufs::fuzz::one({data, size});
    return 0;
}
