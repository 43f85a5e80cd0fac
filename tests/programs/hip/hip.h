#pragma once

// What tests need of HIP: functions of libamdhip64.so with their names, versions and arguments.

#include <cstddef>
#include <cstdint>

struct Dim3 {
    unsigned x, y, z;
};

extern "C" {
int hipLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
                    void* stream);
int hipLaunchKernel_spt(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                        std::size_t shared, void* stream);
int hipModuleLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned shared, void* stream, void**, void**);
int hipGraphLaunch(void* graph, void* stream);
void __hipRegisterFunction(void** modules, const void* stub, char* function, const char* name,
                           unsigned thread_limit, void*, void*, void*, void*, int*);
int hipModuleGetFunction(void** function, void* module, const char* name);

int hipMalloc(void**, std::size_t);
int hipHostMalloc(void**, std::size_t, unsigned flags);
int hipFree(void*);
int hipHostFree(void*);

int hipMemcpy(void* to, const void* from, std::size_t, int kind);
int hipMemcpyAsync(void* to, const void* from, std::size_t, int kind, void* stream);
int hipMemcpyDtoH(void* to, void* from, std::size_t);
int hipMemsetD32(void*, int, std::size_t count);

int hipStreamSynchronize(void*);
int hipDeviceSynchronize();
int hipSetDevice(int device);
}
