#include "kernel/host/interrupts.h"

#include "base/cat.h"
#include "base/file.h"

namespace gpufs {

std::string interrupt_device(unsigned irq, const std::string& devices) {
    const std::string number = cat(irq);
    for (const std::string& device : list_directory_if_readable(devices))
        if (file_exists(cat(devices, '/', device, "/msi_irqs/", number))) return device;
    return {};
}

}  // namespace gpufs
