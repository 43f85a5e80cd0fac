#include "gpufs/kernel/pid_namespace.h"

#include <sys/stat.h>

#include <string>

#include "gpufs/base/error.h"

namespace gpufs {
namespace {

PidNamespace read_namespace(const std::string& path) {
    struct stat status;
    check(::stat(path.c_str(), &status), [&] { return cat("look at '", path, "'"); });
    return {status.st_dev, status.st_ino};
}

}  // namespace

PidNamespace own_pid_namespace() {
    return read_namespace("/proc/self/ns/pid");
}

PidNamespace pid_namespace_of(int pid) {
    return read_namespace(cat("/proc/", pid, "/ns/pid"));
}

}  // namespace gpufs
