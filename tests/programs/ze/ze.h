#pragma once

// What tests need of Level Zero: functions of libze_loader.so with their names and arguments.

#include <cstddef>
#include <cstdint>

struct GroupCount {
    std::uint32_t x, y, z;
};
struct CopyRegion {
    std::uint32_t x, y, z, width, height, depth;
};
struct KernelDescription {
    std::uint32_t type;
    const void* next;
    std::uint32_t flags;
    const char* name;
};
struct MemoryDescription {
    std::uint32_t type;
    const void* next;
    std::uint32_t flags;
    std::size_t size;
};

extern "C" {
unsigned zeKernelCreate(void* module, const KernelDescription*, void** kernel);
unsigned zeKernelSetGroupSize(void* kernel, std::uint32_t x, std::uint32_t y, std::uint32_t z);
unsigned zeCommandListAppendLaunchKernel(void* list, void* kernel, const GroupCount*, void* signal,
                                         std::uint32_t waits, void** wait);
unsigned zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, std::size_t,
                                       void* signal, std::uint32_t waits, void** wait);
unsigned zeCommandListAppendMemoryCopyRegion(void* list, void* to, const CopyRegion*,
                                             std::uint32_t pitch, std::uint32_t slice,
                                             const void* from, const CopyRegion*, std::uint32_t,
                                             std::uint32_t, void* signal, std::uint32_t, void**);
unsigned zeCommandListAppendMemoryFill(void* list, void*, const void* pattern,
                                       std::size_t pattern_size, std::size_t, void* signal,
                                       std::uint32_t, void**);
unsigned zeCommandListReset(void* list);
unsigned zeCommandQueueExecuteCommandLists(void* queue, std::uint32_t number, void** lists,
                                           void* fence);
unsigned zeCommandQueueSynchronize(void* queue, std::uint64_t timeout);
unsigned zeEventHostSynchronize(void* event, std::uint64_t timeout);

unsigned zeMemAllocDevice(void* context, const void* how, std::size_t, std::size_t align,
                          void* device, void**);
unsigned zeMemAllocHost(void* context, const void* how, std::size_t, std::size_t align, void**);
unsigned zeMemAllocShared(void* context, const void* how, const void* host, std::size_t,
                          std::size_t align, void* device, void**);
unsigned zeMemFree(void* context, void*);
unsigned zePhysicalMemCreate(void* context, void* device, const MemoryDescription*, void**);
unsigned zePhysicalMemDestroy(void* context, void*);
}

inline constexpr unsigned kNotReady = 1;
inline constexpr unsigned kOutOfDeviceMemory = 0x70000003;
