// Gives libcuda.so.1 work whose amounts are known:
//
//   gpufs-cuda-work WHAT [NUMBER...]

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../works.h"
#include "runtime.h"

void require(int result) {
    if (result != 0) std::abort();
}

// Functions that stacks are to name.
__attribute__((noinline)) void launch_layer(CuFunction function) {
    require(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
}
__attribute__((noinline)) void launch_layer_ptsz(CuFunction function) {
    require(cuLaunchKernel_ptsz(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
}
__attribute__((noinline)) CuPointer take_memory(std::size_t bytes) {
    CuPointer taken = 0;
    require(cuMemAlloc_v2(&taken, bytes));
    return taken;
}

// The stubs of a program's kernels, whose names say which kernel they launch.
__attribute__((noinline)) void add_vectors(const float* a, float* b, int count) {
    asm volatile("" : : "r"(a), "r"(b), "r"(count));
}
template <class T>
__attribute__((noinline)) void scale(T* a) {
    asm volatile("" : : "r"(a));
}

namespace {

using works::Numbers;

void in_threads(long threads, const auto& work) {
    std::vector<std::thread> all;
    for (long i = 0; i < threads; ++i) all.emplace_back([&work, i] { work(i); });
    for (std::thread& one : all) one.join();
}

CuStream stream_of(long number) {
    return reinterpret_cast<CuStream>(0x55550000 + 0x100 * number);
}

// The same text where nobody has looked at it yet: its page is not in memory, as most of a
// library's.
const char* unread(const std::string& text) {
    const int file = ::memfd_create("text", MFD_CLOEXEC);
    if (file < 0 || ::write(file, text.c_str(), text.size() + 1) < 0) std::abort();
    void* const at = ::mmap(nullptr, text.size() + 1, PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) std::abort();
    ::close(file);
    return static_cast<const char*>(at);
}

// THREADS COUNT: each thread launches two kernels COUNT times in each way, COUNT + 1 graphs.
void launches(const Numbers& numbers) {
    CuFunction add = nullptr, scaled = nullptr;
    void* kernel = nullptr;
    require(cuModuleGetFunction(&add, nullptr, unread("_Z11add_vectorsPKfPfi")));
    require(cuLibraryGetKernel(&kernel, nullptr, unread("_Z5scaleIfEvPT_")));
    require(cuKernelGetFunction(&scaled, kernel));
    in_threads(numbers[0], [&](long thread) {
        const CuStream stream = stream_of(thread);
        CuLaunchConfig config{{9, 8, 7}, {6, 5, 4}, 0, stream, nullptr, 0};
        for (long i = 0; i < numbers[1]; ++i) {
            require(cuLaunchKernel(add, 70, 50, 30, 32, 4, 2, 0, stream, nullptr, nullptr));
            require(cuLaunchKernel_ptsz(add, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
            require(cuLaunchCooperativeKernel(scaled, 3, 2, 1, 1, 2, 3, 0, stream, nullptr));
            require(cuLaunchKernelEx(&config, scaled, nullptr, nullptr));
            require(cuLaunchKernelEx(&config, static_cast<CuFunction>(kernel), nullptr, nullptr));
            require(cuGraphLaunch(nullptr, stream));
        }
        require(cuGraphLaunch_ptsz(nullptr, stream));
    });
}

// THREADS COUNT: each thread allocates COUNT times in each way, frees all but the first of each,
// and fails to allocate once.
void memory(const Numbers& numbers) {
    in_threads(numbers[0], [&](long) {
        std::vector<CuPointer> device, managed, pool;
        std::vector<void*> host;
        for (long i = 0; i < numbers[1]; ++i) {
            const auto bytes = static_cast<std::size_t>(1000 + i);
            std::size_t pitch = 0;
            require(cuMemAlloc_v2(&device.emplace_back(), bytes));
            require(cuMemAllocPitch_v2(&device.emplace_back(), &pitch, bytes, 10, 4));
            require(cuMemAllocManaged(&managed.emplace_back(), 2 * bytes, 1));
            require(cuMemAllocAsync_ptsz(&pool.emplace_back(), 3 * bytes, nullptr));
            require(cuMemHostAlloc(&host.emplace_back(), 4 * bytes, 0));
        }
        CuPointer none = 0;
        if (cuMemAlloc_v2(&none, std::size_t{1} << 41) != 2) std::abort();
        if (cuMemFree_v2(1) != 1) std::abort();
        for (std::size_t i = 1; i < device.size(); ++i) require(cuMemFree_v2(device[i]));
        for (std::size_t i = 1; i < managed.size(); ++i) require(cuMemFree_v2(managed[i]));
        for (std::size_t i = 1; i < pool.size(); ++i) require(cuMemFreeAsync(pool[i], nullptr));
        for (std::size_t i = 1; i < host.size(); ++i) require(cuMemFreeHost(host[i]));
    });
}

// THREADS COUNT: each thread copies COUNT times in each way, and waits COUNT times.
void copies(const Numbers& numbers) {
    in_threads(numbers[0], [&](long) {
        CuCopy2D lines{};
        lines.from_type = 2, lines.to_type = 1, lines.width = 64, lines.height = 5;
        CuCopy3D planes{};
        planes.from_type = 2, planes.to_type = 2;
        planes.width = 32, planes.height = 3, planes.depth = 2;
        for (long i = 0; i < numbers[1]; ++i) {
            require(cuMemcpy2D_v2(&lines));
            require(cuMemcpy3DAsync_v2(&planes, nullptr));
            require(cuMemcpyHtoD_v2(0, nullptr, 5000));
            require(cuMemcpyHtoD_v2_ptds(0, nullptr, 6000));
            require(cuMemcpyHtoDAsync_v2(0, nullptr, 7000, nullptr));
            require(cuMemcpyDtoH_v2(nullptr, 0, 300));
            require(cuMemcpyDtoDAsync_v2(0, 0, 20, nullptr));
            require(cuMemcpyAsync(0, 0, 1 << 20, nullptr));
            require(cuMemsetD32_v2(0, 0, 25));
            require(cuStreamSynchronize(nullptr));
            require(cuCtxSynchronize());
        }
    });
}

// THREADS COUNT: each thread asks for collectives COUNT times.
void collectives(const Numbers& numbers) {
    constexpr int kHalf = 6, kFloat = 7, kDouble = 8, kByte = 1;
    in_threads(numbers[0], [&](long) {
        for (long i = 0; i < numbers[1]; ++i) {
            require(ncclAllReduce(nullptr, nullptr, 1000, kHalf, 0, nullptr, nullptr));
            require(ncclBroadcast(nullptr, nullptr, 100, kFloat, 0, nullptr, nullptr));
            require(ncclBcast(nullptr, 10, kDouble, 0, nullptr, nullptr));
            require(ncclSend(nullptr, 7, kByte, 1, nullptr, nullptr));
        }
    });
}

// Code that calls a function with an argument, and has a name in the file where perf looks for such
// names, as those of Python's functions are.
void (*named_code())(void (*)(CuFunction), CuFunction) {
#if defined __x86_64__
    const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,  // rax = rdi
                                  0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
#else
    const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2,  // x2 = x0
                             0xaa0103e0, 0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#endif
    void* const at =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    std::memcpy(at, code, sizeof code);
    if (::mprotect(at, 4096, PROT_READ | PROT_EXEC) != 0) std::abort();
    __builtin___clear_cache(static_cast<char*>(at), static_cast<char*>(at) + sizeof code);
    const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
    std::FILE* const list = std::fopen(path.c_str(), "w");
    if (!list) std::abort();
    std::fprintf(list, "%lx %zx py::forward:/model.py\n", reinterpret_cast<unsigned long>(at),
                 sizeof code);
    std::fclose(list);
    return reinterpret_cast<void (*)(void (*)(CuFunction), CuFunction)>(at);
}

// COUNT: launches a kernel COUNT times, and as often by a version of the call, through code with a
// name of its own; allocates COUNT times, and frees the first; waits once.
void stacks(const Numbers& numbers) {
    CuFunction add = nullptr;
    require(cuModuleGetFunction(&add, nullptr, "_Z11add_vectorsPKfPfi"));
    const auto call = named_code();
    for (long i = 0; i < numbers[0]; ++i) {
        call(launch_layer, add);
        call(launch_layer_ptsz, add);
        const CuPointer taken = take_memory(1000);
        if (i == 0) require(cuMemFree_v2(taken));
    }
    require(cuCtxSynchronize());
}

// COUNT: launches COUNT times and a graph on each of some GPUs, by the context of the thread.
void gpus(const Numbers& numbers) {
    CuFunction add = nullptr;
    require(cuModuleGetFunction(&add, nullptr, "_Z11add_vectorsPKfPfi"));
    CuContext first = nullptr, third = nullptr, made = nullptr;
    const auto work = [&](long times) {
        for (long i = 0; i < times * numbers[0]; ++i) launch_layer(add);
        require(cuGraphLaunch(nullptr, nullptr));
    };
    work(1);  // on a GPU that is not known
    require(cuCtxSetCurrent(primary_context(3)));
    require(cuDevicePrimaryCtxRetain(&first, 3));
    work(7);
    require(cuDevicePrimaryCtxRetain(&first, 0));
    require(cuDevicePrimaryCtxRetain(&third, 2));
    require(cuCtxSetCurrent(third));
    work(2);
    require(cuCtxPushCurrent_v2(first));
    work(3);
    require(cuCtxCreate_v2(&made, 0, 5));
    work(4);
    require(cuCtxPopCurrent_v2(&made));
    require(cuCtxPopCurrent_v2(&first));
    work(5);
    in_threads(1, [&](long) {
        int device = 0;
        require(cuCtxGetDevice(&device));
        work(6);
    });
}

// COUNT: launches COUNT times and says how long each launch took: the median of 20 parts.
void bench(const Numbers& numbers) {
    using Clock = std::chrono::steady_clock;
    constexpr long kParts = 20;
    CuFunction add = nullptr;
    require(cuModuleGetFunction(&add, nullptr, "_Z11add_vectorsPKfPfi"));
    std::vector<double> parts;
    for (long part = 0; part < kParts; ++part) {
        const auto begin = Clock::now();
        for (long i = 0; i < numbers[0] / kParts; ++i) launch_layer(add);
        const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
        parts.push_back(took.count() * kParts / static_cast<double>(numbers[0]));
    }
    std::ranges::sort(parts);
    std::printf("%.1f ns a launch\n", parts[kParts / 2]);
}

// COUNT: launches its own kernels by the runtime library: each once, then COUNT times when a line
// has come on the standard input. Another one is asked for in between, and not launched.
void stubs(const Numbers& numbers) {
    const auto add = reinterpret_cast<const void*>(&add_vectors);
    const auto scaled = reinterpret_cast<const void*>(&scale<float>);
    const auto name = [](const void* stub, const char* text) {
        __cudaRegisterFunction(nullptr, static_cast<const char*>(stub), nullptr, text, -1, nullptr,
                               nullptr, nullptr, nullptr, nullptr);
    };
    name(add, "_Z11add_vectorsPKfPfi");
    name(scaled, "_Z5scaleIfEvPT_");
    const auto launch = [&] {
        require(cudaLaunchKernel(add, {5, 6, 7}, {8, 9, 10}, nullptr, 0, nullptr));
        require(cudaLaunchKernel(scaled, {1, 2, 3}, {4, 5, 6}, nullptr, 0, nullptr));
    };
    launch();
    std::puts("ready");
    std::fflush(stdout);
    if (std::getchar() == EOF) return;
    CuFunction other = nullptr;
    require(cuModuleGetFunction(&other, nullptr, "_Z6unusedv"));
    for (long i = 0; i < numbers[0]; ++i) launch();
}

// COUNT: that often, what a program of the runtime library does: two devices are asked for, of
// which there is one; memory is allocated, copied to, waited for, freed.
void runtime(const Numbers& numbers) {
    for (long i = 0; i < numbers[0]; ++i) {
        int device = -1;
        void *memory = nullptr, *event = nullptr;
        CuStream stream = nullptr;
        require(cudaSetDevice(0));
        if (cudaSetDevice(1) != 101) std::abort();
        require(cudaGetDevice(&device));
        require(cudaStreamCreate(&stream));
        require(cudaEventCreate(&event));
        require(cudaMalloc(&memory, static_cast<std::size_t>(1000 * (i + 1))));
        require(cudaMemcpy(memory, nullptr, 500, 1));
        require(cudaEventRecord(event, stream));
        require(cudaEventSynchronize(event));
        require(cudaStreamSynchronize(stream));
        require(cudaFree(memory));
    }
}

const std::map<std::string, works::Work> kWorks = {
    {"runtime", {1, runtime}}, {"launches", {2, launches}},       {"memory", {2, memory}},
    {"copies", {2, copies}},   {"stacks", {1, stacks}},           {"gpus", {1, gpus}},
    {"bench", {1, bench}},     {"collectives", {2, collectives}}, {"stubs", {1, stubs}}};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
