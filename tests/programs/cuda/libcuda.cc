// A libcuda.so.1 without a GPU: handles are numbers, memory is none, a wait takes a while. Some
// functions are another one with more around it, as NVIDIA's may be: they call it, or jump to it.
// A kernel's handle points to its name behind 8 bytes, as NVIDIA's do; with
// GPUFS_CUDA_HANDLES=numbers it is a number, too, and with GPUFS_CUDA_HANDLES=other another text is
// there.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "driver.h"

namespace {

constexpr int kOutOfMemory = 2;
constexpr std::size_t kMemory = std::size_t{1} << 40;
std::atomic<std::uint64_t> next_handle{0x7f0000001000};

int allocate(CuPointer* pointer, std::size_t bytes) {
    if (bytes > kMemory) return kOutOfMemory;
    *pointer = next_handle += 0x1000;
    return 0;
}

struct Kernel {
    std::uint64_t kind;
    const char* name;
};

bool handles_are(std::string_view what) {
    const char* const choice = std::getenv("GPUFS_CUDA_HANDLES");
    return choice && choice == what;
}

// The name's page is in memory from here on.
template <class Handle>
int handle_of(Handle* handle, const char* name) {
    const char* const copy = ::strdup(handles_are("other") ? "text_of_another_kind" : name);
    if (handles_are("numbers")) return allocate(reinterpret_cast<CuPointer*>(handle), 0);
    *handle = reinterpret_cast<Handle>(new Kernel{1, copy});
    return 0;
}

int wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
}

}  // namespace

extern "C" {

int cuLaunchKernel(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   CuStream, void**, void**) {
    return 0;
}
#if defined __x86_64__
asm(".globl cuLaunchKernel_ptsz\n.type cuLaunchKernel_ptsz, @function\n"
    "cuLaunchKernel_ptsz: nop\njmp cuLaunchKernel@PLT\n.size cuLaunchKernel_ptsz, "
    ".-cuLaunchKernel_ptsz");
#else
asm(".globl cuLaunchKernel_ptsz\n.type cuLaunchKernel_ptsz, @function\n"
    "cuLaunchKernel_ptsz: nop\nb cuLaunchKernel\n.size cuLaunchKernel_ptsz, .-cuLaunchKernel_ptsz");
#endif
int cuLaunchCooperativeKernel(CuFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, CuStream stream,
                              void** params) {
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, nullptr);
}
int cuLaunchKernelEx(const CuLaunchConfig*, CuFunction, void**, void**) {
    return 0;
}
int cuGraphLaunch(void*, CuStream) {
    return 0;
}
int cuGraphLaunch_ptsz(void* graph, CuStream stream) {
    return cuGraphLaunch(graph, stream);
}

int cuDevicePrimaryCtxRetain(CuContext* context, int device) {
    *context = primary_context(device);
    return 0;
}
int cuCtxCreate_v2(CuContext* context, unsigned, int) {
    return allocate(reinterpret_cast<CuPointer*>(context), 0);
}
int cuCtxSetCurrent(CuContext) {
    return 0;
}
int cuCtxPushCurrent_v2(CuContext) {
    return 0;
}
int cuCtxPopCurrent_v2(CuContext*) {
    return 0;
}
int cuCtxGetDevice(int* device) {
    *device = 6;
    return 0;
}

int cuMemAlloc_v2(CuPointer* pointer, std::size_t bytes) {
    return allocate(pointer, bytes);
}
int cuMemAllocManaged(CuPointer* pointer, std::size_t bytes, unsigned) {
    return allocate(pointer, bytes);
}
int cuMemAllocAsync(CuPointer* pointer, std::size_t bytes, CuStream) {
    return allocate(pointer, bytes);
}
int cuMemAllocAsync_ptsz(CuPointer* pointer, std::size_t bytes, CuStream stream) {
    return cuMemAllocAsync(pointer, bytes, stream);
}
int cuMemAllocPitch_v2(CuPointer* pointer, std::size_t* pitch, std::size_t width,
                       std::size_t height, unsigned) {
    *pitch = width;
    return cuMemAlloc_v2(pointer, width * height);
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    return allocate(reinterpret_cast<CuPointer*>(pointer), bytes);
}
int cuMemFree_v2(CuPointer pointer) {
    return pointer == 1;
}
int cuMemFreeAsync(CuPointer, CuStream) {
    return 0;
}
int cuMemFreeHost(void*) {
    return 0;
}

int cuMemcpyHtoDAsync_v2(CuPointer, const void*, std::size_t, CuStream) {
    return 0;
}
int cuMemcpyHtoD_v2(CuPointer to, const void* from, std::size_t bytes) {
    cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
    return cuStreamSynchronize(nullptr);
}
int cuMemcpyHtoD_v2_ptds(CuPointer to, const void* from, std::size_t bytes) {
    return cuMemcpyHtoD_v2(to, from, bytes);
}
int cuMemcpyDtoH_v2(void*, CuPointer, std::size_t) {
    return wait();
}
int cuMemcpyDtoDAsync_v2(CuPointer, CuPointer, std::size_t, CuStream) {
    return 0;
}
int cuMemcpyAsync(CuPointer, CuPointer, std::size_t, CuStream) {
    return 0;
}
int cuMemcpy2D_v2(const CuCopy2D*) {
    return wait();
}
int cuMemcpy3DAsync_v2(const CuCopy3D*, CuStream) {
    return 0;
}
int cuMemsetD32_v2(CuPointer, unsigned, std::size_t) {
    return cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

int cuStreamSynchronize(CuStream) {
    return wait();
}
int cuCtxSynchronize() {
    return wait();
}

int cuModuleGetFunction(CuFunction* function, void*, const char* name) {
    return handle_of(function, name);
}
int cuLibraryGetKernel(void** kernel, void*, const char* name) {
    return handle_of(kernel, name);
}
int cuKernelGetFunction(CuFunction* function, void* kernel) {
    return handle_of(function,
                     handles_are("numbers") ? "" : static_cast<const Kernel*>(kernel)->name);
}
}
