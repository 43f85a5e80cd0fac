// A libamdhip64.so.6 without a GPU.

#include <atomic>
#include <chrono>
#include <thread>

#include "hip.h"

namespace {

std::atomic<std::uintptr_t> next_handle{0x7f0000001000};

int allocate(void** pointer) {
    *pointer = reinterpret_cast<void*>(next_handle += 0x1000);
    return 0;
}

int wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
}

}  // namespace

extern "C" {

int hipLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*) {
    return 0;
}
int hipLaunchKernel_spt(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                        std::size_t shared, void* stream) {
    return hipLaunchKernel(stub, grid, block, arguments, shared, stream);
}
int hipModuleLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void**, void**) {
    return 0;
}
int hipGraphLaunch(void*, void*) {
    return 0;
}
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*,
                           void*, int*) {}
int hipModuleGetFunction(void** function, void*, const char*) {
    return allocate(function);
}

int hipMalloc(void** pointer, std::size_t bytes) {
    return bytes > std::size_t{1} << 40 ? 2 : allocate(pointer);
}
int hipHostMalloc(void** pointer, std::size_t, unsigned) {
    return allocate(pointer);
}
int hipFree(void*) {
    return 0;
}
int hipHostFree(void*) {
    return 0;
}

int hipMemcpy(void*, const void*, std::size_t, int) {
    return wait();
}
int hipMemcpyAsync(void*, const void*, std::size_t, int, void*) {
    return 0;
}
int hipMemcpyDtoH(void*, void*, std::size_t) {
    return wait();
}
int hipMemsetD32(void*, int, std::size_t) {
    return 0;
}

int hipStreamSynchronize(void*) {
    return wait();
}
int hipDeviceSynchronize() {
    return hipStreamSynchronize(nullptr);
}
int hipSetDevice(int) {
    return 0;
}
}
