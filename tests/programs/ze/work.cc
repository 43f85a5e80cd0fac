// Gives libze_loader.so work whose amounts are known:
//
//   gpufs-ze-work WHAT [NUMBER...]

#include <cstdlib>
#include <thread>
#include <vector>

#include "../works.h"
#include "ze.h"

namespace {

using works::Numbers;

void require(unsigned result) {
    if (result != 0) std::abort();
}

void* handle(std::uintptr_t number) {
    return reinterpret_cast<void*>(number);
}

void* kernel(const char* name, const GroupCount& group) {
    const KernelDescription description{0x1d, nullptr, 0, name};
    void* made = nullptr;
    require(zeKernelCreate(nullptr, &description, &made));
    require(zeKernelSetGroupSize(made, group.x, group.y, group.z));
    return made;
}

// THREADS COUNT: each thread does each of its calls COUNT times, and frees all but one of each
// kind.
void all(const Numbers& numbers) {
    void* const wave = kernel("_Z4waveIdEvPT_", {4, 5, 6});
    void* const plain = kernel("plain_name", {10, 11, 12});
    std::vector<std::thread> threads;
    for (long thread = 0; thread < numbers[0]; ++thread)
        threads.emplace_back([&, thread] {
            void* const queue = handle(0x5000 + 8 * thread);
            void* const list = handle(0x6000 + 8 * thread);
            void* const immediate = handle(0x7000 + 8 * thread);
            const GroupCount few{1, 2, 3}, many{7, 8, 9};
            const CopyRegion lines{0, 0, 0, 10, 3, 0}, box{0, 0, 0, 10, 3, 2};
            for (long i = 0; i < numbers[1]; ++i) {
                for (int twice = 0; twice < 2; ++twice)
                    require(zeCommandListAppendLaunchKernel(list, wave, &few, nullptr, 0, nullptr));
                require(
                    zeCommandListAppendMemoryCopy(list, nullptr, nullptr, 70, nullptr, 0, nullptr));
                for (const CopyRegion* region : {&lines, &box})
                    require(zeCommandListAppendMemoryCopyRegion(list, nullptr, region, 10, 30,
                                                                nullptr, region, 10, 30, nullptr, 0,
                                                                nullptr));
                require(zeCommandListAppendMemoryFill(list, nullptr, nullptr, 4, 24, nullptr, 0,
                                                      nullptr));
                void* lists[] = {list, list};
                require(zeCommandQueueExecuteCommandLists(queue, 2, lists, nullptr));
                require(zeCommandListReset(list));
                require(
                    zeCommandListAppendLaunchKernel(immediate, plain, &many, nullptr, 0, nullptr));
                require(zeCommandQueueSynchronize(queue, UINT64_MAX));
                void *device = nullptr, *host = nullptr, *shared = nullptr, *physical = nullptr;
                const MemoryDescription pages{0x1c, nullptr, 0, 4096};
                require(zeMemAllocDevice(nullptr, nullptr, 1000, 0, nullptr, &device));
                require(zeMemAllocHost(nullptr, nullptr, 300, 0, &host));
                require(zeMemAllocShared(nullptr, nullptr, nullptr, 200, 0, nullptr, &shared));
                require(zePhysicalMemCreate(nullptr, nullptr, &pages, &physical));
                if (i == 0) continue;
                for (void* memory : {device, host, shared}) require(zeMemFree(nullptr, memory));
                require(zePhysicalMemDestroy(nullptr, physical));
            }
            void* none = nullptr;
            if (zeEventHostSynchronize(nullptr, 0) != kNotReady) std::abort();
            if (zeMemAllocDevice(nullptr, nullptr, std::size_t{1} << 41, 0, nullptr, &none) !=
                kOutOfDeviceMemory)
                std::abort();
        });
    for (std::thread& one : threads) one.join();
}

const std::map<std::string, works::Work> kWorks = {{"all", {2, all}}};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
