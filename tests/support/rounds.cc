#include "support/rounds.h"

#include <algorithm>
#include <cstdlib>

// In programs that are linked with AddressSanitizer.
extern "C" [[gnu::weak]] void __asan_init();

namespace gpufs::test {

int rounds(int all) {
    const bool is_guest = std::getenv("GPUFS_VM_OUT") != nullptr;
    const int part = __asan_init != nullptr ? 8 : is_guest ? 30 : 1;
    return std::max(1, all / part);
}

}  // namespace gpufs::test
