#pragma once

#include <cstdint>
#include <string_view>

namespace gpufs {

// The number by which a program at several functions knows the one that it runs at: what
// bpf_get_attach_cookie() returns where the target has cookies. FNV-1a of the name in 64 bits,
// never 0.
constexpr std::uint64_t function_cookie(std::string_view function) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : function) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3;
    }
    return hash | 1;
}

}  // namespace gpufs
