#include "lang/gpu/pci_ids.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

constexpr std::string_view kList =
    "#\n#\tList of PCI ID's\n#\n\n"
    "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
    "\t73bf  Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]\n"
    "\t\t1002 0e3a  Radeon RX 6900 XT\n"
    "10de  NVIDIA Corporation\n"
    "\t2335  GH100 [H200 SXM 141GB]\n"
    "C 03  Display controller\n";

BOOST_AUTO_TEST_SUITE(pci_ids)

BOOST_AUTO_TEST_CASE(a_device_is_its_maker_and_model) {
    BOOST_TEST(pci_name(kList, "1002:73bf") ==
               "AMD/ATI Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]");
    BOOST_TEST(pci_name(kList, "10de:2335") == "NVIDIA Corporation GH100 [H200 SXM 141GB]");
}

BOOST_AUTO_TEST_CASE(models_are_those_of_the_maker) {
    BOOST_TEST(pci_name(kList, "1002:2335") == "AMD/ATI");
    BOOST_TEST(pci_name(kList, "10de:73bf") == "NVIDIA Corporation");
}

BOOST_AUTO_TEST_CASE(what_the_list_lacks_has_no_name) {
    BOOST_TEST(pci_name(kList, "8086:4680").empty());
    BOOST_TEST(pci_name(kList, "").empty());
    BOOST_TEST(pci_name("", "1002:73bf").empty());
    BOOST_TEST(pci_name("1002  AMD", "1002:73bf") == "AMD");
}

BOOST_AUTO_TEST_CASE(the_makers_of_gpus_are_known_without_a_list) {
    BOOST_TEST(gpu_maker("1002:73bf") == "AMD");
    BOOST_TEST(gpu_maker("8086:56a0") == "Intel");
    BOOST_TEST(gpu_maker("ffff:0001").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
