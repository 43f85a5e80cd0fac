#pragma once

namespace gpufs::test {

// How many rounds a case on many inputs makes of the `all` that it can: an eighth under the
// sanitizers, where a round takes ten times as long; a thirtieth in an emulated guest, where it
// takes thirty times as long; at least one. The same cases make all of them without sanitizers, on
// the kernel of this machine.
int rounds(int all);

}  // namespace gpufs::test
