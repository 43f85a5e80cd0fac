#include "support/page_times.h"

#include <fcntl.h>

#include <cstring>

#include "base/file.h"
#include "engine/recording/file_header.h"

namespace gpufs::test {

std::string with_page_times(const std::string& recording,
                            const std::map<std::size_t, std::uint64_t>& times) {
    std::string bytes = read_file(recording);
    const Fd file = open_file(recording, O_RDONLY);
    const TraceFileHeader header(file.get(), recording);
    for (const auto& [cpu, time] : times)
        std::memcpy(bytes.data() + header.buffers.at(1).cpus.at(cpu).offset, &time, sizeof time);
    return bytes;
}

}  // namespace gpufs::test
