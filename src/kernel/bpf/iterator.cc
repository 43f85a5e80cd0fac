#include "kernel/bpf/iterator.h"

#include <linux/bpf.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/text.h"
#include "kernel/bpf/syscall.h"

namespace gpufs {
namespace {

// union bpf_iter_link_info of Linux 6.1, the part for tasks; older headers lack it.
struct TaskChoice {
    __u32 tid = 0, pid = 0, pid_fd = 0;
};

}  // namespace

BpfIterator::BpfIterator(int program, std::uint32_t process) {
    const std::string what = "make an iterator";
    TaskChoice choice;
    choice.pid = process;
    bpf_attr attr = zeroed_attr();
    attr.link_create.prog_fd = static_cast<__u32>(program);
    attr.link_create.attach_type = BPF_TRACE_ITER;
    if (process != 0) {
        attr.link_create.iter_info = address_of(&choice);
        attr.link_create.iter_info_len = sizeof choice;
    }
    link_ = Fd{sys_bpf(BPF_LINK_CREATE, attr)};
    if (!link_) {
        const int code = errno;
        if (code == ESRCH) throw Error(cat("cannot ", what, ": there is no process ", process));
        if (process != 0 && (code == EINVAL || code == E2BIG))
            throw UnsupportedError(cat("cannot ", what, " over one process"),
                                   "Linux 6.1, and an iterator over tasks; or test ctx.task.tgid");
        if (code == EINVAL)
            throw UnsupportedError(cat("cannot ", what, ": this one asks for more than its name"),
                                   "iterators over elements of maps or over cgroups do");
        throw_bpf_error(code, what);
    }
    attr = zeroed_attr();
    attr.iter_create.link_fd = static_cast<__u32>(link_.get());
    walk_ = Fd{sys_bpf(BPF_ITER_CREATE, attr)};
    if (!walk_) {
        const int code = errno;
        throw_bpf_error(code, what);
    }
}

bool BpfIterator::step() {
    std::array<char, kStep> written;
    const ssize_t bytes = ::read(walk_.get(), written.data(), written.size());
    // EAGAIN: a million objects without a byte.
    if (bytes == -1 && errno != EAGAIN && errno != EINTR) {
        const int code = errno;
        throw SysError(code, "run an iterator");
    }
    return bytes != 0;
}

}  // namespace gpufs
