#pragma once

#include <string>

namespace gpufs::test {

// Has the case that runs now counted as skipped, and says why; the caller returns. For what only
// the case itself can find out: what is known beforehand is a precondition (needs.h).
void skip(const std::string& reason);

// What skip() was told since the last call; empty where it was not called.
std::string take_skip_reason();

}  // namespace gpufs::test
