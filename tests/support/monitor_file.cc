#include "support/monitor_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "gpufs/base/cat.h"

namespace gpufs::test {

MonitorFile::MonitorFile(const std::string& text, mode_t mode)
    : path_(cat("/tmp/gpufs-test-", ::getpid(), ".bpf")) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
}

MonitorFile::~MonitorFile() {
    ::unlink(path_.c_str());
}

}  // namespace gpufs::test
