// A libvulkan.so.1 without a GPU.

#include <atomic>
#include <chrono>
#include <thread>

#include "vulkan.h"

namespace {

std::atomic<std::uintptr_t> next_handle{0x7f0000001000};

int wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
}

}  // namespace

extern "C" {

int vkQueueSubmit(void*, std::uint32_t number, const void*, void*) {
    return number == 0 ? kDeviceLost : 0;
}
int vkQueueSubmit2(void*, std::uint32_t, const void*, void*) {
    return 0;
}
int vkQueuePresentKHR(void*, const void*) {
    return 0;
}
int vkQueueWaitIdle(void*) {
    return wait();
}
int vkWaitForFences(void*, std::uint32_t, void* const*, std::uint32_t, std::uint64_t timeout) {
    return timeout == 0 ? kTimeout : wait();
}
int vkAcquireNextImageKHR(void*, void*, std::uint64_t, void*, void*, std::uint32_t*) {
    return 0;
}
int vkAllocateMemory(void*, const AllocateInfo*, const void*, void** memory) {
    *memory = reinterpret_cast<void*>(next_handle += 0x1000);
    return 0;
}
// It returns nothing in truth: what the register holds then is no result.
std::uintptr_t vkFreeMemory(void*, void*, const void*) {
    return 0x1234;
}
}
