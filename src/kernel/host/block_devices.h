#pragma once

#include <string>

namespace gpufs {

// The name of a block device ("sda1"), from /sys/dev/block; empty if there is no such device.
std::string block_device_name(unsigned major, unsigned minor);

}  // namespace gpufs
