// A libnccl.so.2 that moves nothing.

#include <cstddef>

extern "C" {
int ncclAllReduce(const void*, void*, std::size_t, int, int, void*, void*) {
    return 0;
}
int ncclBroadcast(const void*, void*, std::size_t, int, int, void*, void*) {
    return 0;
}
int ncclBcast(void* buffer, std::size_t count, int type, int root, void* comm, void* stream) {
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
int ncclSend(const void*, std::size_t, int, int, void*, void*) {
    return 0;
}
}
