#pragma once

#include <boost/test/tools/assertion_result.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace gpufs::test {

// The GPU that does nothing, on time, and the displays without a picture: tests/guests/modules.
boost::test_tools::assertion_result has_toy_gpu(boost::unit_test::test_unit_id);
boost::test_tools::assertion_result has_toy_display(boost::unit_test::test_unit_id);
// Drivers of the kernel's own that need no hardware: vgem, and virtio-gpu for QEMU's device.
boost::test_tools::assertion_result has_vgem_and_virtio(boost::unit_test::test_unit_id);

// The events of this kernel's GPU drivers, fired by a module that has no device.
boost::test_tools::assertion_result has_toy_driver(boost::unit_test::test_unit_id);
// The kernel's version as far as tests/data/formats has it: "6.12".
std::string kernel_series();

// A command of the name kGame that has it do what the lines say, which
// tests/guests/modules/toy_driver.c explains.
inline constexpr const char* kGame = "game";
std::vector<std::string> driver_work(const std::vector<std::string>& lines);

// What gives them work: gpufs-gpu-work WORDS...
inline const std::string kGpuWork = "gpufs-gpu-work";
std::vector<std::string> gpu_work(std::vector<std::string> words);
// And to those of the kernel: gpufs-drm-work WORDS...
inline const std::string kDrmWork = "gpufs-drm-work";
std::vector<std::string> drm_work(std::vector<std::string> words);
// And to that of NVIDIA's: gpufs-nvidia-work WORDS...
inline const std::string kNvidiaWork = "gpufs-nvidia-work";
std::vector<std::string> nvidia_work(std::vector<std::string> words);

// A job as the device saw it. 0: that never was.
struct GpuJob {
    std::string ring;
    std::uint64_t context = 0, number = 0;  // of the fence that says it has ended
    std::uint64_t queued_ns = 0, began_ns = 0, ended_ns = 0;
    std::uint64_t on_context = 0, on_number = 0;
};
// Those that the work told of.
std::vector<GpuJob> gpu_jobs(const std::string& told);

// Which names the scheduler's events can have here; the first are the kernel's own. false: those
// before Linux 6.17; true: those since then, of which an older kernel may have a module.
std::vector<bool> scheduler_layouts();

// While this lives, the scheduler's events are told by the names of Linux 6.17, too.
class RenamedEvents {
public:
    explicit RenamedEvents(bool are_wanted);
    ~RenamedEvents();
    RenamedEvents(const RenamedEvents&) = delete;
    RenamedEvents& operator=(const RenamedEvents&) = delete;

private:
    bool are_loaded_ = false;
};

}  // namespace gpufs::test
