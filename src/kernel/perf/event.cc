#include "kernel/perf/event.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"
#include "kernel/bpf/syscall.h"

namespace gpufs {
namespace {

constexpr const char* kDevices = "/sys/bus/event_source/devices/";

std::string permission_hint() {
    const std::string level =
        read_file_if_readable("/proc/sys/kernel/perf_event_paranoid").value_or("");
    return cat(missing_capability(), "; kernel.perf_event_paranoid is ", trim(level));
}

}  // namespace

std::optional<Pmu> Pmu::find(std::string_view name) {
    const std::string path = cat(kDevices, name, "/type");
    if (!file_exists(path)) return std::nullopt;
    const std::string text = read_file(path);
    const auto type = whole_number<std::uint32_t>(trim(text));
    if (!type) throw Error(cat(path, " holds no number: '", trim(text), "'"));
    return Pmu{*type};
}

unsigned pmu_config_bit(std::string_view pmu, std::string_view parameter) {
    // "config:0", "config:32-63"
    const std::string path = cat(kDevices, pmu, "/format/", parameter);
    const std::string text = read_file(path);
    Scan format(text);
    const auto bit = format.take("config:") ? format.take_number<unsigned>() : std::nullopt;
    if (!bit) throw Error(cat("cannot read ", path, ": '", trim(text), "'"));
    return *bit;
}

perf_event_attr perf_attr(std::uint32_t type, std::uint64_t config) {
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    return attr;
}

Fd open_perf_event(const perf_event_attr& attr, int pid, int cpu, std::string_view what) {
    perf_event_attr copy = attr;  // the kernel writes its own size here when ours is larger
    Fd event{static_cast<int>(
        ::syscall(SYS_perf_event_open, &copy, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC))};
    if (event) return event;
    const int code = errno;
    if (code == ENOSYS)
        throw UnsupportedError(cat("cannot ", what, ": this kernel has no perf_event_open(2)"),
                               "a kernel with CONFIG_PERF_EVENTS=y");
    if (code == EPERM || code == EACCES)
        throw UnsupportedError(cat("cannot ", what, ": this user may not"), permission_hint());
    if (code == EMFILE)
        throw SysError(code, std::string(what), "each takes a descriptor: raise 'ulimit -n'");
    throw SysError(code, std::string(what));
}

void perf_ioctl(const Fd& event, unsigned long request, unsigned long argument,
                std::string_view what) {
    check(::ioctl(event.get(), request, argument), [&] { return std::string(what); });
}

}  // namespace gpufs
