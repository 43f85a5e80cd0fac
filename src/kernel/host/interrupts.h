#pragma once

#include <string>

namespace gpufs {

// The PCI device ("0000:3b:00.0") that has a message-signalled interrupt of its own, from the
// directory of sysfs that lists PCI devices; empty if none has it.
std::string interrupt_device(unsigned irq, const std::string& devices = "/sys/bus/pci/devices");

}  // namespace gpufs
