#include "view/gpu/gpu_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

const Gpu kAmd{"card0",        "amdgpu",      "1002:73bf",
               "0000:03:00.0", "AMD Navi 21", {"card0", "renderD128"}};
const Gpu kMali{"card1", "panfrost", "", "fb000000.gpu", "", {"card1", "renderD129"}};
const Gpu kUnbound{"0000:04:00.0", "", "8086:56a0", "0000:04:00.0", "Intel", {}};
const Gpu kNvidia{"nvidia0", "nvidia", "10de:2335", "0000:41:00.0", "NVIDIA H200", {"nvidia0"}};

BOOST_AUTO_TEST_SUITE(gpu_text_view)

BOOST_AUTO_TEST_CASE(a_gpu_is_a_line) {
    BOOST_TEST(gpu_text(kAmd, 2) ==
               "card0: amdgpu, AMD Navi 21 1002:73bf, at 0000:03:00.0, renderD128, "
               "open in 2 processes");
    BOOST_TEST(gpu_text(kMali, 1) ==
               "card1: panfrost, at fb000000.gpu, renderD129, open in 1 process");
    BOOST_TEST(gpu_text(kUnbound, 0) == "0000:04:00.0: no driver bound, Intel 8086:56a0");
    BOOST_TEST(gpu_text({"card3", "vgem", "", "vgem", "", {"card3"}}, 0) ==
               "card3: vgem, open in no process");
    BOOST_TEST(gpu_text(kNvidia, 0) ==
               "nvidia0: nvidia, NVIDIA H200 10de:2335, at 0000:41:00.0, open in no process");
}

BOOST_AUTO_TEST_CASE(a_gpu_is_an_object) {
    BOOST_TEST(gpu_json(kAmd, 2) ==
               R"({"gpu":"card0","driver":"amdgpu","device":"1002:73bf","slot":"0000:03:00.0",)"
               R"("model":"AMD Navi 21","nodes":["card0","renderD128"],"holders":2})");
    BOOST_TEST(gpu_json(kUnbound, 0) ==
               R"({"gpu":"0000:04:00.0","driver":null,"device":"8086:56a0",)"
               R"("slot":"0000:04:00.0","model":"Intel","nodes":[],"holders":0})");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_seen_of_nvidias_driver_is_told) {
    BOOST_TEST(gpu_note(kAmd).empty());
    BOOST_TEST(gpu_note(kNvidia) ==
               "nvidia0: nvidia schedules jobs by itself, drm does not see them; fence and vblank "
               "see nothing of it while nvidia-drm is not loaded");
    Gpu with_drm = kNvidia;
    with_drm.nodes = {"card1", "renderD129", "nvidia0"};
    with_drm.name = "card1";
    BOOST_TEST(gpu_note(with_drm) ==
               "card1: nvidia schedules jobs by itself, drm does not see them; fence and vblank "
               "see the fences and frames of nvidia-drm");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
