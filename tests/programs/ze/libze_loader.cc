// A libze_loader.so.1 without a GPU.

#include <atomic>
#include <chrono>
#include <thread>

#include "ze.h"

namespace {

std::atomic<std::uintptr_t> next_handle{0x7f0000001000};

unsigned allocate(void** pointer) {
    *pointer = reinterpret_cast<void*>(next_handle += 0x1000);
    return 0;
}

}  // namespace

extern "C" {

unsigned zeKernelCreate(void*, const KernelDescription*, void** kernel) {
    return allocate(kernel);
}
unsigned zeKernelSetGroupSize(void*, std::uint32_t, std::uint32_t, std::uint32_t) {
    return 0;
}
unsigned zeCommandListAppendLaunchKernel(void*, void*, const GroupCount*, void*, std::uint32_t,
                                         void**) {
    return 0;
}
unsigned zeCommandListAppendMemoryCopy(void*, void*, const void*, std::size_t, void*, std::uint32_t,
                                       void**) {
    return 0;
}
unsigned zeCommandListAppendMemoryCopyRegion(void*, void*, const CopyRegion*, std::uint32_t,
                                             std::uint32_t, const void*, const CopyRegion*,
                                             std::uint32_t, std::uint32_t, void*, std::uint32_t,
                                             void**) {
    return 0;
}
unsigned zeCommandListAppendMemoryFill(void*, void*, const void*, std::size_t, std::size_t, void*,
                                       std::uint32_t, void**) {
    return 0;
}
unsigned zeCommandListReset(void*) {
    return 0;
}
unsigned zeCommandQueueExecuteCommandLists(void*, std::uint32_t, void**, void*) {
    return 0;
}
unsigned zeCommandQueueSynchronize(void*, std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
}
unsigned zeEventHostSynchronize(void*, std::uint64_t timeout) {
    return timeout == 0 ? kNotReady : 0;
}

unsigned zeMemAllocDevice(void*, const void*, std::size_t bytes, std::size_t, void*,
                          void** pointer) {
    return bytes > std::size_t{1} << 40 ? kOutOfDeviceMemory : allocate(pointer);
}
unsigned zeMemAllocHost(void*, const void*, std::size_t, std::size_t, void** pointer) {
    return allocate(pointer);
}
unsigned zeMemAllocShared(void*, const void*, const void*, std::size_t, std::size_t, void*,
                          void** pointer) {
    return allocate(pointer);
}
unsigned zeMemFree(void*, void*) {
    return 0;
}
unsigned zePhysicalMemCreate(void*, void*, const MemoryDescription*, void** pointer) {
    return allocate(pointer);
}
unsigned zePhysicalMemDestroy(void*, void*) {
    return 0;
}
}
