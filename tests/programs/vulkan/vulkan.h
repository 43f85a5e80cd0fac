#pragma once

// What tests need of Vulkan: functions of libvulkan.so with their names and arguments.

#include <cstddef>
#include <cstdint>

struct AllocateInfo {
    std::uint32_t type;
    const void* next;
    std::uint64_t size;
    std::uint32_t memory_type;
};

extern "C" {
int vkQueueSubmit(void* queue, std::uint32_t number, const void* submits, void* fence);
int vkQueueSubmit2(void* queue, std::uint32_t number, const void* submits, void* fence);
int vkQueuePresentKHR(void* queue, const void* present);
int vkQueueWaitIdle(void* queue);
int vkWaitForFences(void* device, std::uint32_t number, void* const* fences, std::uint32_t all,
                    std::uint64_t timeout);
int vkAcquireNextImageKHR(void* device, void* swapchain, std::uint64_t timeout, void* semaphore,
                          void* fence, std::uint32_t* image);
int vkAllocateMemory(void* device, const AllocateInfo*, const void* allocator, void** memory);
std::uintptr_t vkFreeMemory(void* device, void* memory, const void* allocator);
}

inline constexpr int kTimeout = 2;
inline constexpr int kDeviceLost = -4;
