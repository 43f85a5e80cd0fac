#include "kernel/host/block_devices.h"

#include "base/cat.h"
#include "base/path.h"

namespace gpufs {

std::string block_device_name(unsigned major, unsigned minor) {
    return std::string(file_name(link_target(cat("/sys/dev/block/", major, ':', minor))));
}

}  // namespace gpufs
