#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A shared library that the dynamic loader knows.
struct CachedLibrary {
    std::string name;  // "libc.so.6"
    std::string path;  // "/lib/x86_64-linux-gnu/libc.so.6"
};

// Whether the loader takes the library on a processor of these levels of the architecture
// ("x86-64-v3"): one in a folder glibc-hwcaps/LEVEL is for those only (ld.so(8)).
bool is_for_processor(std::string_view path, const std::vector<std::string_view>& levels);

// The libraries for this machine's programs in the bytes of glibc's /etc/ld.so.cache, in its order.
// Format 1.1 of glibc 2.2 and later (sysdeps/generic/dl-cache.h), also behind the old one. Empty
// for other bytes; leaves out entries that point outside of them.
std::vector<CachedLibrary> parse_loader_cache(std::string_view bytes);

}  // namespace gpufs
