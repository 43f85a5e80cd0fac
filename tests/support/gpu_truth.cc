#include "support/gpu_truth.h"

#include <cstdlib>
#include <sstream>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/run_gpufs.h"

namespace gpufs::test {
namespace {

constexpr const char* kRenamedEvents = "/renamed_events.ko";

boost::test_tools::assertion_result is_there(const char* file, const char* need) {
    boost::test_tools::assertion_result result(file_exists(file));
    result.message() << need;
    return result;
}

bool runs(const std::string& command) {
    const Ended ended = Child({{"sh", "-c", command}, {}, false, false, {}}).wait();
    BOOST_TEST(ended.status == 0, ended.err);
    return ended.status == 0;
}

std::vector<std::string> program_beside_gpufs(const std::string& name,
                                              std::vector<std::string> words) {
    const std::string binary = gpufs_binary();
    words.insert(words.begin(), cat(binary.substr(0, binary.rfind('/') + 1), name));
    return words;
}

}  // namespace

boost::test_tools::assertion_result has_toy_gpu(boost::unit_test::test_unit_id) {
    return is_there("/dev/toy_gpu", "needs the toy GPU: runs in the virtual machines");
}

boost::test_tools::assertion_result has_toy_display(boost::unit_test::test_unit_id) {
    return is_there("/sys/module/toy_display",
                    "needs the toy displays: runs in the virtual machines");
}

boost::test_tools::assertion_result has_vgem_and_virtio(boost::unit_test::test_unit_id) {
    auto vgem = is_there("/sys/module/vgem", "needs vgem: runs in the virtual machines");
    return vgem ? is_there("/sys/module/virtio_gpu", "needs virtio-gpu and QEMU's device") : vgem;
}

boost::test_tools::assertion_result has_toy_driver(boost::unit_test::test_unit_id) {
    return is_there("/dev/toy_driver", "needs the toy driver: runs in the virtual machines");
}

std::string kernel_series() {
    const std::string release = read_file("/proc/sys/kernel/osrelease");
    return release.substr(0, release.find_first_of(".-", release.find('.') + 1));
}

std::vector<std::string> driver_work(const std::vector<std::string>& lines) {
    std::string script = cat("printf ", kGame, " >/proc/$$/comm");
    for (const std::string& some : lines)
        script += cat(" && printf '%s' '", some, "' >/dev/toy_driver");
    return {"sh", "-c", script};
}

std::vector<std::string> gpu_work(std::vector<std::string> words) {
    return program_beside_gpufs(kGpuWork, std::move(words));
}
std::vector<std::string> drm_work(std::vector<std::string> words) {
    return program_beside_gpufs(kDrmWork, std::move(words));
}
std::vector<std::string> nvidia_work(std::vector<std::string> words) {
    return program_beside_gpufs(kNvidiaWork, std::move(words));
}

std::vector<GpuJob> gpu_jobs(const std::string& told) {
    std::vector<GpuJob> jobs;
    for (const std::string_view line : lines_of(told)) {
        std::istringstream words{std::string(line)};
        std::string what;
        GpuJob job;
        if (words >> what && what == "job" &&
            words >> job.ring >> job.context >> job.number >> job.queued_ns >> job.began_ns >>
                job.ended_ns >> job.on_context >> job.on_number)
            jobs.push_back(std::move(job));
    }
    return jobs;
}

std::vector<bool> scheduler_layouts() {
    if (file_exists("/sys/kernel/tracing/events/gpu_scheduler/drm_sched_job_done")) return {true};
    const char* modules = std::getenv("GPUFS_VM_MODULES");
    if (modules && file_exists(cat(modules, kRenamedEvents))) return {false, true};
    return {false};
}

namespace {

void run_all_of(const std::string& command) {
    const Ended ended = Child({{"sh", "-c", command}, {}, false, false, {}}).wait();
    BOOST_TEST(ended.status == 0, ended.err);
}

}  // namespace

NvidiaModules::NvidiaModules(const std::string& nvidia) {
    run_all_of(cat("cd \"$GPUFS_VM_MODULES\" && insmod ", nvidia, ".ko && insmod nvidia-uvm.ko"));
}

// What looked at the modules holds them until the kernel has let go of it, in its own time.
NvidiaModules::~NvidiaModules() {
    run_all_of(
        "for i in $(seq 300); do rmmod nvidia-uvm nvidia 2>/dev/null; "
        "[ -e /sys/module/nvidia ] || exit 0; sleep 0.1; done; exit 1");
}

RenamedEvents::RenamedEvents(bool are_wanted) {
    if (!are_wanted || scheduler_layouts().front()) return;
    are_loaded_ = runs(cat("exec insmod \"$GPUFS_VM_MODULES\"", kRenamedEvents));
    BOOST_TEST_REQUIRE(are_loaded_);
}

RenamedEvents::~RenamedEvents() {
    // Probes let go of a module some time after they are closed.
    if (are_loaded_) runs("until rmmod renamed_events; do sleep 0.1; done");
}

}  // namespace gpufs::test
