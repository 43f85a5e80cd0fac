#pragma once

namespace gpufs::test {

// A static probe as systemtap's sys/sdt.h makes them: gpufs_test:probe, with a semaphore.
void fire_usdt_probe(int value);
// How many listeners the kernel has counted into the semaphore.
int usdt_listeners();

}  // namespace gpufs::test
