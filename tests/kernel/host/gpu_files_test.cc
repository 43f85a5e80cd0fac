#include "kernel/host/gpu_files.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/cat.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

namespace fs = std::filesystem;

// A tree like /proc.
class Proc {
public:
    void process(int pid, const std::string& comm) const {
        for (const char* directory : {"fd", "fdinfo"})
            fs::create_directories(root_ / cat(pid) / directory);
        std::ofstream(root_ / cat(pid) / "comm") << comm << '\n';
    }
    // Without `fdinfo` the file is closed between one look and the next.
    void open(int pid, int fd, const std::string& link, const char* fdinfo = nullptr) const {
        fs::create_symlink(link, root_ / cat(pid) / "fd" / cat(fd));
        if (fdinfo) std::ofstream(root_ / cat(pid) / "fdinfo" / cat(fd)) << fdinfo;
    }
    std::string found() const {
        std::string text;
        for (const GpuProcess& process : find_gpu_processes(root_.path()).processes) {
            text += cat(process.pid, ' ', process.comm, ':');
            for (const GpuProcess::File& file : process.files)
                text += cat(' ', file.fd, '=', file.node, '(', file.fdinfo, ')');
            text += '\n';
        }
        return text;
    }

private:
    const test::TempFolder root_;
};

BOOST_AUTO_TEST_SUITE(gpu_files)

BOOST_AUTO_TEST_CASE(the_device_files_of_gpus_are_known_by_their_paths) {
    for (const auto& [link, node] : {std::pair("/dev/dri/card0", "card0"),
                                     {"/dev/dri/renderD128", "renderD128"},
                                     {"/var/lib/box/dev/dri/card12", "card12"},
                                     {"/dri/card0", "card0"},
                                     {"/dev/dri/card1 (deleted)", "card1"},
                                     {"/dev/accel/accel0", "accel0"},
                                     {"/dev/nvidia0", "nvidia0"},
                                     {"/dev/nvidiactl", ""},
                                     {"/dev/nvidia-uvm", ""},
                                     {"/dev/nvidia", ""},
                                     {"/srv/me/nvidia0", ""},
                                     {"/srv/me/card0", ""},
                                     {"/dev/dri/card", ""},
                                     {"/dev/dri/card0-DP-1", ""},
                                     {"/dev/dri/by-path", ""},
                                     {"socket:[4711]", ""},
                                     {"card0", ""},
                                     {"", ""}})
        BOOST_TEST(gpu_node_of(link) == node, link);
}

BOOST_AUTO_TEST_CASE(processes_are_found_with_their_files_of_gpus_only) {
    const Proc proc;
    proc.process(300, "two words");
    proc.open(300, 3, "/etc/passwd", "pos: 0\n");
    proc.open(300, 11, "/dev/dri/renderD128", "drm-driver: a");
    proc.open(300, 4, "/dev/dri/card0", "drm-driver: b");
    proc.process(40, "cuda");
    proc.open(40, 5, "/dev/nvidia0");
    proc.open(40, 6, "/dev/nvidiactl");
    proc.process(50, "other");
    proc.open(50, 0, "/dev/null", "pos: 0\n");
    BOOST_TEST(proc.found() ==
               "40 cuda: 5=nvidia0()\n"
               "300 two words: 4=card0(drm-driver: b) 11=renderD128(drm-driver: a)\n");
}

BOOST_AUTO_TEST_CASE(what_goes_meanwhile_is_left_out) {
    const Proc proc;
    proc.process(7, "gone");
    proc.open(7, 3, "/dev/dri/card0");
    BOOST_TEST(proc.found().empty());
    BOOST_TEST(find_gpu_processes("/nowhere").processes.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
