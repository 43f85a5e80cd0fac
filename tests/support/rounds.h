#pragma once

namespace gpufs::test {

// How many rounds a case on random inputs makes of the `all` that it can: under the sanitizers,
// where a round takes ten times as long, an eighth of them. The same cases run without sanitizers,
// too.
int rounds(int all);

}  // namespace gpufs::test
