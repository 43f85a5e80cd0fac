#include "kernel/host/gpus.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/cat.h"

namespace gpufs {
namespace {

namespace fs = std::filesystem;

// A captured tree below a directory of its own.
class Tree {
public:
    Tree() {
        std::string name = fs::temp_directory_path() / "gpufs-gpus-XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~Tree() { fs::remove_all(root_); }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    void file(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void link(const std::string& path, const std::string& to) const {
        fs::create_directories((root_ / path).parent_path());
        fs::create_symlink(to, root_ / path);
    }
    std::vector<std::string> gpus() const {
        std::vector<std::string> lines;
        for (const Gpu& gpu : find_gpus(root_ / "sys", root_ / "proc/driver/nvidia"))
            lines.push_back(
                cat(gpu.name, '|', gpu.driver, '|', gpu.device, '|', gpu.slot, '|', gpu.model));
        return lines;
    }

private:
    fs::path root_;
};

using Lines = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(gpus)

BOOST_AUTO_TEST_CASE(a_machine_without_any_has_none) {
    BOOST_TEST(Tree().gpus().empty());
}

BOOST_AUTO_TEST_CASE(cards_are_found_once_with_driver_and_device) {
    const Tree tree;
    tree.file("sys/devices/pci0000:00/0000:03:00.0/uevent",
              "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73BF\n"
              "PCI_SLOT_NAME=0000:03:00.0\n");
    for (const char* name : {"card0", "renderD128"})
        tree.link(cat("sys/class/drm/", name, "/device"),
                  "../../../devices/pci0000:00/0000:03:00.0");
    tree.file("sys/class/drm/card0-DP-1/status", "connected\n");
    tree.file("sys/class/drm/version", "drm 1.1.0 20060810\n");
    tree.file("sys/devices/platform/soc/fb000000.gpu/uevent", "DRIVER=panfrost\nOF_NAME=gpu\n");
    tree.link("sys/class/drm/renderD129/device", "../../../devices/platform/soc/fb000000.gpu");
    BOOST_TEST(tree.gpus() == (Lines{"card0|amdgpu|1002:73bf|0000:03:00.0|",
                                     "renderD129|panfrost||fb000000.gpu|"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nvidia_is_found_with_and_without_its_display_driver) {
    const Tree tree;
    const std::string information = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\n";
    tree.file("proc/driver/nvidia/gpus/0000:41:00.0/information", information);
    tree.file("proc/driver/nvidia/gpus/0000:61:00.0/information", information);
    tree.file("sys/devices/pci0000:60/0000:61:00.0/uevent",
              "DRIVER=nvidia\nPCI_ID=10DE:2335\nPCI_SLOT_NAME=0000:61:00.0\n");
    tree.link("sys/class/drm/card1/device", "../../../devices/pci0000:60/0000:61:00.0");
    BOOST_TEST(tree.gpus() == (Lines{"card1|nvidia|10de:2335|0000:61:00.0|NVIDIA H200",
                                     "nvidia0|nvidia||0000:41:00.0|NVIDIA H200"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
