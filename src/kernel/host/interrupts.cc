#include "kernel/host/interrupts.h"

#include <filesystem>

#include "base/cat.h"

namespace gpufs {

std::string interrupt_device(unsigned irq, const std::string& devices) {
    const std::string number = cat(irq);
    std::error_code none;
    for (const auto& device : std::filesystem::directory_iterator(devices, none))
        if (std::filesystem::exists(device.path() / "msi_irqs" / number, none))
            return device.path().filename();
    return {};
}

}  // namespace gpufs
