#include "kernel/bpf/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace gpufs {

Mapping::Mapping(int fd, std::size_t bytes, int protection, off_t offset, const char* what) {
    void* at = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, offset);
    if (at == MAP_FAILED) {
        const int code = errno;
        throw SysError(code, cat("map ", what),
                       code == EPERM || code == ENOMEM
                           ? "locked memory is limited: raise it (ulimit -l)"
                           : "");
    }
    data_ = static_cast<std::byte*>(at);
    size_ = bytes;
}

std::optional<Mapping> Mapping::of_file(int fd, std::size_t bytes) noexcept {
    void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return std::nullopt;
    Mapping mapping;
    mapping.data_ = static_cast<std::byte*>(at);
    mapping.size_ = bytes;
    return mapping;
}

Mapping::~Mapping() {
    if (data_) ::munmap(data_, size_);
}

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace gpufs
