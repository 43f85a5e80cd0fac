#include "lang/gpu/pci_ids.h"

#include "base/cat.h"
#include "base/text.h"

namespace gpufs {
namespace {

// "Advanced Micro Devices, Inc. [AMD/ATI]" is known as AMD/ATI.
std::string_view short_name(std::string_view maker) {
    const auto open = maker.rfind('['), close = maker.rfind(']');
    if (open == maker.npos || close == maker.npos || close < open) return maker;
    return maker.substr(open + 1, close - open - 1);
}

// What stands behind the id on the first line that begins with it, from `at` on; `at` becomes the
// next line.
std::string_view value_behind(std::string_view list, std::string_view id, std::size_t& at) {
    if (!list.substr(at).starts_with(id)) {
        at = list.find(cat('\n', id), at);
        if (at == list.npos) return {};
        ++at;
    }
    const std::size_t end = std::min(list.find('\n', at), list.size());
    const std::string_view value = list.substr(at + id.size(), end - at - id.size());
    at = std::min(end + 1, list.size());
    return trim(value);
}

}  // namespace

std::string pci_name(std::string_view pci_ids, std::string_view device) {
    const auto colon = device.find(':');
    if (colon == device.npos) return {};
    // "1002  Maker", below it "\t73bf  Model" and "\t\tids of subsystems".
    std::size_t at = 0;
    const std::string_view maker = value_behind(pci_ids, cat(device.substr(0, colon), "  "), at);
    if (maker.empty()) return {};
    std::string_view models = pci_ids.substr(at);
    for (std::size_t end = 0; end < models.size();) {
        const char first = models[end];
        if (first != '\t' && first != '#' && first != '\n') {
            models = models.substr(0, end);
            break;
        }
        end = std::min(models.find('\n', end), models.size() - 1) + 1;
    }
    std::size_t begin = 0;
    const std::string_view model =
        value_behind(models, cat('\t', device.substr(colon + 1), "  "), begin);
    return model.empty() ? std::string(short_name(maker)) : cat(short_name(maker), ' ', model);
}

std::string_view gpu_maker(std::string_view device) {
    constexpr std::pair<std::string_view, std::string_view> kMakers[] = {
        {"1002:", "AMD"},           {"1022:", "AMD"},          {"8086:", "Intel"},
        {"10de:", "NVIDIA"},        {"1af4:", "Red Hat"},      {"1b36:", "Red Hat"},
        {"1234:", "QEMU"},          {"1013:", "Cirrus Logic"}, {"15ad:", "VMware"},
        {"80ee:", "VirtualBox"},    {"1414:", "Microsoft"},    {"1a03:", "ASPEED"},
        {"102b:", "Matrox"},        {"1da3:", "Habana Labs"},  {"17cb:", "Qualcomm"},
        {"1ed5:", "Moore Threads"}, {"0014:", "Loongson"}};
    for (const auto& [id, maker] : kMakers)
        if (device.starts_with(id)) return maker;
    return {};
}

}  // namespace gpufs
