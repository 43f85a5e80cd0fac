#include "support/rounds.h"

// In programs that are linked with AddressSanitizer.
extern "C" [[gnu::weak]] void __asan_init();

namespace gpufs::test {

int rounds(int all) {
    return __asan_init == nullptr ? all : all / 8;
}

}  // namespace gpufs::test
