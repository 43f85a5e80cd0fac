#include "kernel/host/block_devices.h"

#include <filesystem>

#include "base/cat.h"

namespace gpufs {

std::string block_device_name(unsigned major, unsigned minor) {
    std::error_code none;
    const auto device =
        std::filesystem::read_symlink(cat("/sys/dev/block/", major, ':', minor), none);
    return device.filename().string();
}

}  // namespace gpufs
