// Gives libamdhip64.so work whose amounts are known:
//
//   gpufs-hip-work WHAT [NUMBER...]

#include <cstdlib>
#include <thread>
#include <vector>

#include "../works.h"
#include "hip.h"

// Stubs of kernels: one whose name the library is told, and one that only the program has.
__attribute__((noinline)) void told_kernel(float* a) {
    asm volatile("" : : "r"(a));
}
__attribute__((noinline)) void own_kernel(float* a) {
    asm volatile("" : : "r"(a));
}

namespace {

using works::Numbers;

void require(int result) {
    if (result != 0) std::abort();
}

// THREADS COUNT: each thread does each of its calls COUNT times, and frees all but one. All but the
// first choose a GPU: that of their number, from 0.
void all(const Numbers& numbers) {
    const auto told = reinterpret_cast<const void*>(&told_kernel);
    const auto own = reinterpret_cast<const void*>(&own_kernel);
    __hipRegisterFunction(nullptr, told, nullptr, "_Z4waveIdEvPT_", 0, nullptr, nullptr, nullptr,
                          nullptr, nullptr);
    void* by_name = nullptr;
    require(hipModuleGetFunction(&by_name, nullptr, "plain_name"));
    std::vector<std::thread> threads;
    for (long thread = 0; thread < numbers[0]; ++thread)
        threads.emplace_back([&, thread, stream = reinterpret_cast<void*>(0x5000 + 8 * thread)] {
            if (thread > 0) require(hipSetDevice(static_cast<int>(thread)));
            for (long i = 0; i < numbers[1]; ++i) {
                require(hipLaunchKernel(told, {1, 2, 3}, {4, 5, 6}, nullptr, 0, stream));
                require(hipLaunchKernel_spt(own, {7, 8, 9}, {10, 11, 12}, nullptr, 0, stream));
                require(hipModuleLaunchKernel(by_name, 13, 14, 15, 16, 17, 18, 0, stream, nullptr,
                                              nullptr));
                require(hipGraphLaunch(nullptr, stream));
                void *device = nullptr, *host = nullptr;
                require(hipMalloc(&device, 1000));
                require(hipHostMalloc(&host, 300, 0));
                if (i != 0) require(hipFree(device));
                if (i != 0) require(hipHostFree(host));
                for (int kind = 0; kind <= 4; ++kind)
                    require(hipMemcpy(nullptr, nullptr, 10, kind));
                require(hipMemcpyAsync(nullptr, nullptr, 70, 1, stream));
                require(hipMemcpyDtoH(nullptr, nullptr, 500));
                require(hipMemsetD32(nullptr, 0, 6));
                require(hipStreamSynchronize(stream));
                require(hipDeviceSynchronize());
            }
            void* none = nullptr;
            if (hipMalloc(&none, std::size_t{1} << 41) != 2) std::abort();
        });
    for (std::thread& one : threads) one.join();
}

const std::map<std::string, works::Work> kWorks = {{"all", {2, all}}};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
