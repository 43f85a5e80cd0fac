#pragma once

// What tests need of CUDA's runtime library, libcudart.so.12, and of NCCL, libnccl.so.2.

#include <cstddef>

#include "driver.h"

struct Dim3 {
    unsigned x, y, z;
};

extern "C" {
int cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                     std::size_t shared_bytes, CuStream stream);
int cudaMalloc(void** memory, std::size_t bytes);
int cudaFree(void* memory);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaStreamCreate(CuStream* stream);
int cudaStreamSynchronize(CuStream stream);
int cudaEventCreate(void** event);
int cudaEventRecord(void* event, CuStream stream);
int cudaEventSynchronize(void* event);
int cudaGetDevice(int* device);
int cudaSetDevice(int device);
void __cudaRegisterFunction(void** binary, const char* stub, char* function, const char* name,
                            int thread_limit, void*, void*, void*, void*, int*);

int ncclAllReduce(const void*, void*, std::size_t count, int type, int op, void*, void*);
int ncclBroadcast(const void*, void*, std::size_t count, int type, int root, void*, void*);
int ncclBcast(void*, std::size_t count, int type, int root, void*, void*);
int ncclSend(const void*, std::size_t count, int type, int peer, void*, void*);
}
