#pragma once

#include <sys/types.h>

#include <string>

namespace gpufs::test {

// A .bpf file of this test's own, below /tmp; removed at the end. One at a time.
class MonitorFile {
public:
    explicit MonitorFile(const std::string& text, mode_t mode = 0644);
    ~MonitorFile();
    MonitorFile(const MonitorFile&) = delete;
    MonitorFile& operator=(const MonitorFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace gpufs::test
