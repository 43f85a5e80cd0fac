#include "base/kernel_version.h"

#include <charconv>

namespace gpufs {

KernelVersion parse_kernel_release(std::string_view release) {
    KernelVersion version;
    for (unsigned* number : {&version.major, &version.minor, &version.patch}) {
        const char* const end = release.data() + release.size();
        const char* const stop = std::from_chars(release.data(), end, *number).ptr;
        if (stop == release.data() || stop == end || *stop != '.') break;
        release = {stop + 1, end};
    }
    return version;
}

}  // namespace gpufs
