#include "kernel/host/interrupts.h"

#include "support/temp_folder.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

namespace gpufs {
namespace {

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(interrupts)

BOOST_AUTO_TEST_CASE(an_interrupt_is_its_devices_by_the_list_of_messages) {
    const test::TempFolder folder;
    const fs::path& devices = folder.path();
    fs::create_directories(devices / "0000:3b:00.0/msi_irqs");
    fs::create_directories(devices / "0000:af:00.0/msi_irqs");
    fs::create_directories(devices / "0000:00:02.0");
    for (const char* irq :
         {"0000:3b:00.0/msi_irqs/126", "0000:af:00.0/msi_irqs/127", "0000:af:00.0/msi_irqs/128"})
        std::ofstream(devices / irq) << "msix\n";
    BOOST_TEST(interrupt_device(126, devices) == "0000:3b:00.0");
    BOOST_TEST(interrupt_device(128, devices) == "0000:af:00.0");
    BOOST_TEST(interrupt_device(12, devices).empty());
    BOOST_TEST(interrupt_device(126, devices / "none").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
