#include "kernel/host/process_text.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/cat.h"
#include "base/fd.h"

namespace gpufs {
namespace {

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t kPageIsPresent = std::uint64_t{1} << 63;

// Whoever hangs may do so because of a page that does not come: whoever reads that hangs, too.
bool is_in_memory(const Fd& pagemap, std::uint64_t page) {
    std::uint64_t entry = 0;
    const auto at = static_cast<off_t>(page * sizeof entry);
    return ::pread(pagemap.get(), &entry, sizeof entry, at) == sizeof entry &&
           (entry & kPageIsPresent) != 0;
}

bool read_process_bytes(int tid, std::uint64_t address, void* bytes, std::size_t count) {
    const iovec here{bytes, count};
    const iovec there{std::bit_cast<void*>(static_cast<std::uintptr_t>(address)), count};
    return ::process_vm_readv(tid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(count);
}

}  // namespace

std::optional<ProcessText> read_process_text(int tid, std::uint64_t address, std::size_t most) {
    const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const Fd pagemap{::open(cat("/proc/", tid, "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)};
    std::string text;
    while (text.size() < most) {
        // The text may end right before a page that is not mapped.
        const std::uint64_t from = address + text.size();
        const std::size_t count = std::min(most - text.size(), page_bytes - from % page_bytes);
        const std::size_t known = text.size();
        text.resize(known + count);
        if (!is_in_memory(pagemap, from / page_bytes) ||
            !read_process_bytes(tid, from, text.data() + known, count))
            return std::nullopt;
        const auto end = text.find('\0', known);
        if (end != text.npos) return ProcessText{text.substr(0, end), false};
    }
    return ProcessText{std::move(text), true};
}

}  // namespace gpufs
