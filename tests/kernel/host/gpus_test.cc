#include "kernel/host/gpus.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/cat.h"
#include "base/text.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

namespace fs = std::filesystem;

// A captured tree below a directory of its own.
class Tree {
public:
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
            lines.push_back(cat(gpu.name, '|', gpu.driver, '|', gpu.device, '|', gpu.slot, '|',
                                gpu.model, '|', join(gpu.nodes, " ")));
        return lines;
    }

private:
    const test::TempFolder root_;
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
    BOOST_TEST(tree.gpus() == (Lines{"card0|amdgpu|1002:73bf|0000:03:00.0||card0 renderD128",
                                     "renderD129|panfrost||fb000000.gpu||renderD129"}),
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
    BOOST_TEST(
        tree.gpus() == (Lines{"card1|nvidia|10de:2335|0000:61:00.0|NVIDIA H200|card1 nvidia1",
                              "nvidia0|nvidia||0000:41:00.0|NVIDIA H200|nvidia0"}),
        boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nvidias_device_file_has_the_minor_that_its_driver_tells) {
    const Tree tree;
    tree.file("proc/driver/nvidia/gpus/0000:41:00.0/information",
              "Model: \t\t NVIDIA H200\nDevice Minor: \t 7\nGPU Excluded:\t No\n");
    tree.file("sys/bus/pci/devices/0000:41:00.0/uevent",
              "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2335\nPCI_SLOT_NAME=0000:41:00.0\n");
    BOOST_TEST(tree.gpus() == Lines{"nvidia7|nvidia|10de:2335|0000:41:00.0|NVIDIA H200|nvidia7"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(displays_and_accelerators_on_pci_need_no_driver) {
    const Tree tree;
    tree.file("sys/bus/pci/devices/0000:03:00.0/uevent", "PCI_CLASS=30000\nPCI_ID=1002:73BF\n");
    tree.file("sys/bus/pci/devices/0000:04:00.0/uevent",
              "DRIVER=vfio-pci\nPCI_CLASS=120000\nPCI_ID=8086:7D1D\n");
    tree.file("sys/bus/pci/devices/0000:05:00.0/uevent",
              "DRIVER=e1000e\nPCI_CLASS=20000\nPCI_ID=8086:10D3\n");
    tree.file("sys/devices/pci0000:00/0000:00:0b.0/uevent",
              "DRIVER=intel_vpu\nPCI_CLASS=120000\nPCI_ID=8086:643E\n"
              "PCI_SLOT_NAME=0000:00:0b.0\n");
    tree.link("sys/class/accel/accel0/device", "../../../devices/pci0000:00/0000:00:0b.0");
    BOOST_TEST(tree.gpus() == (Lines{"accel0|intel_vpu|8086:643e|0000:00:0b.0||accel0",
                                     "0000:03:00.0||1002:73bf|0000:03:00.0||",
                                     "0000:04:00.0|vfio-pci|8086:7d1d|0000:04:00.0||"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_virtual_gpu_is_the_pci_device_that_carries_it) {
    const Tree tree;
    const std::string pci = "sys/devices/pci0000:00/0000:00:02.0";
    tree.file(pci + "/uevent",
              "DRIVER=virtio-pci\nPCI_CLASS=38000\nPCI_ID=1AF4:1050\nPCI_SLOT_NAME=0000:00:02.0\n");
    tree.file(pci + "/virtio0/uevent", "DRIVER=virtio_gpu\nMODALIAS=virtio:d10v1AF4\n");
    tree.link("sys/class/drm/card0/device", "../../../devices/pci0000:00/0000:00:02.0/virtio0");
    tree.link("sys/bus/pci/devices/0000:00:02.0", "../../../devices/pci0000:00/0000:00:02.0");
    // A display behind USB is not the GPU of its host controller.
    const std::string usb = "sys/devices/pci0000:00/0000:00:14.0";
    tree.file(usb + "/uevent", "DRIVER=xhci_hcd\nPCI_CLASS=C0330\nPCI_SLOT_NAME=0000:00:14.0\n");
    tree.file(usb + "/usb1/1-2/1-2:1.0/uevent", "DRIVER=udl\n");
    tree.link("sys/class/drm/card1/device",
              "../../../devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0");
    BOOST_TEST(tree.gpus() == (Lines{"card0|virtio_gpu|1af4:1050|0000:00:02.0||card0",
                                     "card1|udl||1-2:1.0||card1"}),
               boost::test_tools::per_element());
}

// Linux 6.2 and later have the PCI device itself behind the card.
BOOST_AUTO_TEST_CASE(virtios_driver_is_the_one_below_the_pci_device) {
    const Tree tree;
    const std::string pci = "sys/devices/pci0000:00/0000:00:02.0";
    tree.file(pci + "/uevent",
              "DRIVER=virtio-pci\nPCI_CLASS=38000\nPCI_ID=1AF4:1050\nPCI_SLOT_NAME=0000:00:02.0\n");
    tree.file(pci + "/virtio1/uevent", "DRIVER=virtio_gpu\nMODALIAS=virtio:d10v1AF4\n");
    tree.link("sys/class/drm/card0/device", "../../../devices/pci0000:00/0000:00:02.0");
    BOOST_TEST(tree.gpus() == Lines{"card0|virtio_gpu|1af4:1050|0000:00:02.0||card0"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_device_that_its_driver_made_has_the_drivers_name) {
    const Tree tree;
    tree.file("sys/devices/platform/vgem/uevent", "MODALIAS=platform:vgem\n");
    tree.file("sys/devices/platform/toy_display.1/uevent", "MODALIAS=platform:toy_display\n");
    tree.file("sys/devices/faux/vkms/uevent", "DRIVER=faux_driver\n");
    tree.link("sys/class/drm/card2/device", "../../../devices/platform/vgem");
    tree.link("sys/class/drm/card10/device", "../../../devices/platform/toy_display.1");
    tree.link("sys/class/drm/card11/device", "../../../devices/faux/vkms");
    BOOST_TEST(tree.gpus() ==
                   (Lines{"card2|vgem||vgem||card2", "card10|toy_display||toy_display.1||card10",
                          "card11|vkms||vkms||card11"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_name_that_the_driver_reports_is_the_model) {
    const Tree tree;
    const std::string pci = "sys/devices/pci0000:00/0000:03:00.0";
    tree.file(pci + "/uevent", "DRIVER=amdgpu\nPCI_ID=1002:740F\nPCI_SLOT_NAME=0000:03:00.0\n");
    tree.file(pci + "/product_name", "AMD Instinct MI210\n");
    tree.link("sys/class/drm/renderD128/device", "../../../devices/pci0000:00/0000:03:00.0");
    BOOST_TEST(tree.gpus() ==
                   Lines{"renderD128|amdgpu|1002:740f|0000:03:00.0|AMD Instinct MI210|renderD128"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
