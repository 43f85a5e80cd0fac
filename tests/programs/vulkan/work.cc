// Gives libvulkan.so work whose amounts are known:
//
//   gpufs-vulkan-work WHAT [NUMBER...]

#include <cstdlib>
#include <thread>
#include <vector>

#include "../works.h"
#include "vulkan.h"

namespace {

using works::Numbers;

void require(int result, int wanted = 0) {
    if (result != wanted) std::abort();
}

// THREADS COUNT: each thread does each of its calls COUNT times, and frees all memory but one.
void all(const Numbers& numbers) {
    std::vector<std::thread> threads;
    for (long thread = 0; thread < numbers[0]; ++thread)
        threads.emplace_back([&, queue = reinterpret_cast<void*>(0x5000 + 8 * thread)] {
            for (long i = 0; i < numbers[1]; ++i) {
                std::uint32_t image = 0;
                require(
                    vkAcquireNextImageKHR(nullptr, nullptr, UINT64_MAX, nullptr, nullptr, &image));
                require(vkQueueSubmit(queue, 2, nullptr, nullptr));
                require(vkQueueSubmit2(queue, 3, nullptr, nullptr));
                require(vkQueuePresentKHR(queue, nullptr));
                require(vkWaitForFences(nullptr, 1, nullptr, 1, UINT64_MAX));
                require(vkQueueWaitIdle(queue));
                const AllocateInfo info{5, nullptr, 1000, 0};
                void* memory = nullptr;
                require(vkAllocateMemory(nullptr, &info, nullptr, &memory));
                if (i != 0) vkFreeMemory(nullptr, memory, nullptr);
            }
            require(vkWaitForFences(nullptr, 1, nullptr, 1, 0), kTimeout);
            require(vkQueueSubmit(queue, 0, nullptr, nullptr), kDeviceLost);
        });
    for (std::thread& one : threads) one.join();
}

const std::map<std::string, works::Work> kWorks = {{"all", {2, all}}};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
