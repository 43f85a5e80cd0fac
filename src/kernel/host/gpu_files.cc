#include "kernel/host/gpu_files.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/cat.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/sorted.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

// Kernel threads have no files, but refuse to show that to everybody.
bool is_kernel_thread(const std::string& process) {
    const auto stat = parse_task_stat(read_file_if_readable(process + "/stat").value_or(""));
    return !stat || stat->is_kernel_thread;
}

// Its descriptors of GPUs.
std::vector<GpuProcess::File> open_gpu_nodes(DIR* descriptors) {
    std::vector<GpuProcess::File> files;
    char link[PATH_MAX];
    while (const dirent* entry = ::readdir(descriptors)) {
        const ssize_t length = ::readlinkat(::dirfd(descriptors), entry->d_name, link, sizeof link);
        if (length <= 0) continue;
        const std::string_view node = gpu_node_of({link, static_cast<std::size_t>(length)});
        const auto fd = node.empty() ? std::nullopt : Scan(entry->d_name).take_number<int>();
        if (fd) files.push_back({std::string(node), *fd, {}, 0});
    }
    sort_stably(files, {}, &GpuProcess::File::fd);
    return files;
}

}  // namespace

std::string_view gpu_node_of(std::string_view link) {
    struct Kind {
        std::string_view directory, name;
    };
    constexpr Kind kKinds[] = {
        {"/dri/", "card"}, {"/dri/", "renderD"}, {"/accel/", "accel"}, {"/dev/", "nvidia"}};
    constexpr std::string_view kGone = " (deleted)";
    if (link.ends_with(kGone)) link.remove_suffix(kGone.size());
    for (const auto& [directory, name] : kKinds) {
        const std::size_t slash = link.rfind('/');
        if (slash == link.npos || !link.substr(0, slash + 1).ends_with(directory)) continue;
        Scan scan(link.substr(slash + 1));
        if (scan.take(name) && !scan.at_end() && std::ranges::all_of(scan.rest(), is_digit))
            return link.substr(slash + 1);
    }
    return {};
}

GpuProcesses find_gpu_processes(const std::string& root) {
    GpuProcesses found;
    for (const int pid : proc::numbers_in(root)) {
        const std::string directory = cat(root, '/', pid);
        const Directory descriptors{::opendir((directory + "/fd").c_str())};
        if (!descriptors) {
            found.unreadable += errno == EACCES && !is_kernel_thread(directory);
            continue;
        }
        std::vector<GpuProcess::File> files = open_gpu_nodes(descriptors.get());
        std::erase_if(files, [&](GpuProcess::File& file) {
            if (file.node.starts_with("nvidia")) return false;
            auto text = read_file_if_readable(cat(directory, "/fdinfo/", file.fd));
            file.read_ns = monotonic_ns();
            file.fdinfo = std::move(text).value_or("");
            return file.fdinfo.empty();
        });
        if (files.empty()) continue;
        const std::string comm = read_file_if_readable(directory + "/comm").value_or("");
        found.processes.push_back({pid, std::string(trim(comm)), std::move(files)});
    }
    found.taken_ns = monotonic_ns();
    return found;
}

}  // namespace gpufs
