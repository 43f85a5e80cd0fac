#include "kernel/perf/attachment.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/syscall.h"
#include "kernel/host/kernel_version.h"
#include "kernel/perf/event.h"

namespace gpufs {
namespace {

[[noreturn]] void throw_hook_error(int code, std::string_view what) {
    if (code == EACCES)
        throw Error(cat("cannot ", what, ": the program reads past the end of the event's record"),
                    "its fields are in the event's format file");
    if (code == E2BIG)
        throw Error(cat("cannot ", what, ": the kernel takes 64 programs on one event"));
    if (code == EEXIST)
        throw Error(cat("cannot ", what, ": this program is attached there already"));
    throw_bpf_error(code, std::string(what));
}

}  // namespace

Attachment::Attachment() = default;
Attachment::Attachment(Attachment&& other) noexcept = default;

Attachment& Attachment::operator=(Attachment&& other) noexcept {
    std::swap(how_, other.how_);
    std::swap(waits_, other.waits_);
    std::swap(links_, other.links_);
    std::swap(events_, other.events_);
    std::swap(dynamic_event_, other.dynamic_event_);
    return *this;
}

Attachment::~Attachment() {
    try {
        detach();
    } catch (const Error&) {
        // Destructors cannot report errors; call detach() to see them.
    }
}

void Attachment::stop() const noexcept {
    for (const Fd& event : events_) ::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<std::uint64_t> Attachment::missed() const {
    if (dynamic_event_) return dynamic_event_->missed();
    std::optional<std::uint64_t> sum;
    // Before 6.7, links have no count; those of raw tracepoints cannot even be queried before 5.8.
    if (running_kernel() < KernelVersion{6, 7, 0}) return sum;
    for (const Fd& link : links_)
        if (const auto missed = link_info(link.get()).missed) sum = sum.value_or(0) + *missed;
    return sum;
}

void Attachment::detach() {
    links_.clear();
    events_.clear();
    if (dynamic_event_) dynamic_event_->remove();
    dynamic_event_.reset();
}

bool AttachmentMaker::hook_by_link(const Fd& event, int program, const AttachOptions& options,
                                   std::string_view what) {
    bpf_attr attr = zeroed_attr();
    attr.link_create.prog_fd = static_cast<__u32>(program);
    attr.link_create.target_fd = static_cast<__u32>(event.get());
    attr.link_create.attach_type = BPF_PERF_EVENT;
    attr.link_create.perf_event.bpf_cookie = options.cookie;
    Fd link{sys_bpf(BPF_LINK_CREATE, attr)};
    if (link) {
        add_link(std::move(link));
        return true;
    }
    const int code = errno;
    if (code != EINVAL) throw_hook_error(code, what);
    if (options.hook == HookWay::link || options.cookie)
        throw UnsupportedError(cat("cannot ", what, " by a BPF link"), "Linux 5.15 or later");
    return false;
}

void AttachmentMaker::hook(Fd event, int program, const AttachOptions& options,
                           std::string_view what) {
    const bool linked =
        options.hook != HookWay::ioctl && hook_by_link(event, program, options, what);
    if (!linked) {
        if (options.cookie)
            throw UnsupportedError(cat("cannot ", what, " with a cookie"), "a BPF link takes one");
        try {
            perf_ioctl(event, PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(program), what);
        } catch (const SysError& e) {
            throw_hook_error(e.code(), what);
        }
    }
    perf_ioctl(event, PERF_EVENT_IOC_ENABLE, 0, what);
    made_.events_.push_back(std::move(event));
    if (std::exchange(named_hook_, true)) return;
    made_.how_ += linked ? ", BPF link" : ", perf ioctl";
}

namespace {

// Calls `close` with each of `count` indices, in so many threads.
void in_threads(std::size_t count, std::size_t threads, const auto& close) {
    std::atomic<std::size_t> next = 0;
    const auto close_some = [&] {
        for (std::size_t i = next++; i < count; i = next++) close(i);
    };
    std::vector<std::jthread> others;
    try {
        while (others.size() + 1 < std::min(threads, count)) others.emplace_back(close_some);
    } catch (const std::system_error&) {
        // No more threads available: the existing ones do all the work.
    }
    close_some();
}

}  // namespace

void detach_all(std::vector<Attachment> all) {
    constexpr std::size_t kThreadsForLinks = 64, kThreadsForEvents = 4;
    std::vector<Attachment*> of_links, of_events;
    for (Attachment& one : all)
        if (one.waits_) (one.events_.empty() ? of_links : of_events).push_back(&one);
    in_threads(of_links.size(), kThreadsForLinks,
               [&](std::size_t i) { of_links[i]->links_.clear(); });
    // Closing several events of one attachment (one per CPU) waits for no grace period: they are
    // clocks.
    in_threads(of_events.size(), kThreadsForEvents, [&](std::size_t i) {
        of_events[i]->links_.clear();
        of_events[i]->events_.clear();
    });
    while (!all.empty()) all.pop_back();
}

namespace {

// The descriptors of this process that are not in `keep`; absent where they cannot be listed, for
// which another descriptor is needed, and /proc.
std::optional<std::vector<int>> other_descriptors(const std::set<int>& keep) try {
    std::vector<int> others;
    for (const std::string& name : list_directory("/proc/self/fd"))
        if (const auto fd = whole_number<int>(name); fd && !keep.contains(*fd))
            others.push_back(*fd);
    return others;
} catch (const Error&) {
    return std::nullopt;
}

// Forks a grandchild that holds all descriptors but `others` until the other end of `gate` is
// closed. A grandchild, so that nobody has to wait for it. Returns true if it exists.
bool hold_in_grandchild(const Fd& gate, const std::vector<int>& others) {
    const pid_t child = ::fork();
    if (child == -1) return false;
    if (child == 0) {
        // Only system calls between fork and exit: another thread may hold any lock.
        const pid_t grandchild = ::fork();
        if (grandchild != 0) ::_exit(grandchild == -1 ? 1 : 0);
        for (const int fd : others) ::close(fd);
        char nothing;
        while (::read(gate.get(), &nothing, 1) == -1 && errno == EINTR) continue;
        ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) == -1 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void detach_in_background(std::vector<Attachment> all) {
    std::vector<Attachment> here, there;
    std::set<int> keep;
    for (Attachment& one : all) {
        const bool waits_here = one.dynamic_event_ || one.events_.empty();
        if (!waits_here)
            for (const auto* fds : {&one.links_, &one.events_})
                for (const Fd& fd : *fds) keep.insert(fd.get());
        (waits_here ? here : there).push_back(std::move(one));
    }
    detach_all(std::move(here));
    if (there.empty()) return;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
        const Fd gate{ends[0]};
        const Fd opener{ends[1]};
        keep.insert(gate.get());
        // Ours are closed before the pipe: the child's are then the last, and wait in its exit.
        const auto others = other_descriptors(keep);
        if (others && hold_in_grandchild(gate, *others)) there.clear();
    }
    detach_all(std::move(there));
}

}  // namespace gpufs
