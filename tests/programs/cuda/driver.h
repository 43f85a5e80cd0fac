#pragma once

// What tests need of CUDA's driver interface: the functions of libcuda.so.1 with their names,
// versions and arguments. NVIDIA's documentation has what they mean.

#include <cstddef>
#include <cstdint>

using CuFunction = struct CuFunctionHandle*;
using CuStream = struct CuStreamHandle*;
using CuContext = struct CuContextHandle*;
using CuPointer = std::uint64_t;

struct CuLaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    CuStream stream;
    void* attributes;
    unsigned attribute_count;
};

// Of lines of memory; types: 1 the host's, 2 the device's.
struct CuCopy2D {
    std::size_t from_x, from_y;
    unsigned from_type;
    const void* from_host;
    CuPointer from_device;
    void* from_array;
    std::size_t from_pitch;
    std::size_t to_x, to_y;
    unsigned to_type;
    void* to_host;
    CuPointer to_device;
    void* to_array;
    std::size_t to_pitch;
    std::size_t width, height;
};
struct CuCopy3D {
    std::size_t from_x, from_y, from_z, from_level;
    unsigned from_type;
    const void* from_host;
    CuPointer from_device;
    void* from_array;
    void* from_context;
    std::size_t from_pitch, from_height;
    std::size_t to_x, to_y, to_z, to_level;
    unsigned to_type;
    void* to_host;
    CuPointer to_device;
    void* to_array;
    void* to_context;
    std::size_t to_pitch, to_height;
    std::size_t width, height, depth;
};

// The primary context of a device, which the runtime library takes from a table of the driver's,
// and makes a thread's current one before it asks for it.
inline CuContext primary_context(int device) {
    return reinterpret_cast<CuContext>(0x7e0000000000 +
                                       0x1000 * static_cast<std::uintptr_t>(device));
}

extern "C" {
int cuLaunchKernel(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   CuStream, void**, void**);
int cuLaunchKernel_ptsz(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CuStream, void**, void**);
int cuLaunchCooperativeKernel(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, CuStream, void**);
int cuLaunchKernelEx(const CuLaunchConfig*, CuFunction, void**, void**);
int cuGraphLaunch(void* graph, CuStream);
int cuGraphLaunch_ptsz(void* graph, CuStream);

int cuDevicePrimaryCtxRetain(CuContext*, int device);
int cuCtxCreate_v2(CuContext*, unsigned flags, int device);
int cuCtxSetCurrent(CuContext);
int cuCtxPushCurrent_v2(CuContext);
int cuCtxPopCurrent_v2(CuContext*);
int cuCtxGetDevice(int* device);

int cuMemAlloc_v2(CuPointer*, std::size_t);
int cuMemAllocManaged(CuPointer*, std::size_t, unsigned flags);
int cuMemAllocAsync(CuPointer*, std::size_t, CuStream);
int cuMemAllocAsync_ptsz(CuPointer*, std::size_t, CuStream);
int cuMemAllocPitch_v2(CuPointer*, std::size_t* pitch, std::size_t width, std::size_t height,
                       unsigned element);
int cuMemHostAlloc(void**, std::size_t, unsigned flags);
int cuMemFree_v2(CuPointer);
int cuMemFreeAsync(CuPointer, CuStream);
int cuMemFreeHost(void*);

int cuMemcpyHtoD_v2(CuPointer, const void*, std::size_t);
int cuMemcpyHtoD_v2_ptds(CuPointer, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, CuPointer, std::size_t);
int cuMemcpyDtoDAsync_v2(CuPointer, CuPointer, std::size_t, CuStream);
int cuMemcpyHtoDAsync_v2(CuPointer, const void*, std::size_t, CuStream);
int cuMemcpyAsync(CuPointer, CuPointer, std::size_t, CuStream);
int cuMemcpy2D_v2(const CuCopy2D*);
int cuMemcpy3DAsync_v2(const CuCopy3D*, CuStream);
int cuMemsetD32_v2(CuPointer, unsigned, std::size_t count);

int cuStreamSynchronize(CuStream);
int cuCtxSynchronize();

int cuModuleGetFunction(CuFunction*, void* module, const char* name);
int cuLibraryGetKernel(void** kernel, void* library, const char* name);
int cuKernelGetFunction(CuFunction*, void* kernel);
}
