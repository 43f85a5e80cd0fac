#include "engine/session/scratch_instance.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/file_id.h"
#include "base/path.h"
#include "engine/session/instance_names.h"
#include "engine/session/session_probes.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

bool is_file_at(const Fd& file, const std::string& path) {
    const auto held = file_id(file.get());
    return held && held == file_id(path);
}

}  // namespace

ScratchInstance::ScratchInstance(const Tracefs& top, std::string_view suffix)
    : top_(top), here_(top) {
    const auto stat = parse_task_stat(read_file("/proc/self/stat"));
    if (!stat) throw Error("cannot read the start time in /proc/self/stat");
    const std::string name =
        cat(kInstancePrefix, ::getpid(), '.', stat->start_ticks, suffix.empty() ? "" : ".", suffix);
    here_ = top.instance(name);
    for (unsigned number = 2; !make(); ++number) here_ = top.instance(cat(name, '.', number));
}

std::string ScratchInstance::probe_group() const {
    return group_of_instance(file_name(here_.root()));
}

// Makes the instance and holds it. Returns false if a living owner has one of this name.
bool ScratchInstance::make() {
    // Another gpufs, in whose /proc this process is not, may remove the instance before it is held.
    // Each round needs one that comes at this very moment.
    constexpr int kMostRounds = 1000;
    for (int round = 1;; ++round) {
        if (!here_.make()) {
            if (round == kMostRounds)
                throw SysError(EEXIST, cat("make the instance ", here_.root()));
            // A dead owner's, unless it is in use.
            if (::rmdir(here_.root().c_str()) == -1 && errno == EBUSY) return false;
            continue;
        }
        held_ = Fd{::open(here_.path("tracing_on").c_str(), O_RDONLY | O_CLOEXEC)};
        const int code = held_ ? ENODEV : errno;
        // The kernel knows an instance by the address of its trace_array: the file of one that is
        // being removed can be opened when another has got that address, and holds the other.
        if (held_ && is_file_at(held_, here_.path("tracing_on"))) return true;
        held_ = Fd();
        // ENODEV: the instance was being removed (Linux 6.18).
        if ((code == ENOENT || code == ENODEV) && round < kMostRounds) continue;
        ::rmdir(here_.root().c_str());
        throw SysError(code, cat("open ", here_.path("tracing_on")));
    }
}

ScratchInstance::~ScratchInstance() {
    held_ = Fd();
    try {
        here_.remove();
    } catch (const Error&) {
        // `gpufs reset --stale` removes it, because its owner is gone.
    }
    try {
        remove_probes(top_, probe_group());
    } catch (const Error&) {
        // The next start of gpufs removes them, because their instance is gone.
    }
}

}  // namespace gpufs
