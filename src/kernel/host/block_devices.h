#pragma once

#include <string>

namespace gpufs {

// The name of a block device ("sda1"), from /sys/dev/block; empty where there is none.
std::string block_device_name(unsigned major, unsigned minor);

}  // namespace gpufs
