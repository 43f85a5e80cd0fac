#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The name of a PCI device "1002:73bf" in the list of the PCI ID project (pci.ids): maker and
// model, "AMD Navi 21 [Radeon RX 6800]"; the maker alone if the list lacks the model, empty if it
// lacks both. Makers that have a short name in brackets get that.
std::string pci_name(std::string_view pci_ids, std::string_view device);

// The makers of GPUs, for machines without the list: "AMD" for "1002:73bf"; empty if not known.
std::string_view gpu_maker(std::string_view device);

}  // namespace gpufs
