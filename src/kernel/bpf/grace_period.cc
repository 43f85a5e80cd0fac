#include "kernel/bpf/grace_period.h"

#include <cerrno>

#include "kernel/bpf/syscall.h"

namespace gpufs {
namespace {

Fd make_array(bpf_map_type type, const char* name, std::uint32_t value_bytes, int inner) {
    bpf_attr attr = zeroed_attr();
    attr.map_type = type;
    attr.key_size = sizeof(std::uint32_t);
    attr.value_size = value_bytes;
    attr.max_entries = 1;
    if (inner != -1) attr.inner_map_fd = static_cast<__u32>(inner);
    set_object_name(attr.map_name, name);
    const int fd = sys_bpf_charged(BPF_MAP_CREATE, attr);
    if (fd == -1) throw_bpf_error(errno, "make a map to wait for BPF programs with");
    return Fd(fd);
}

}  // namespace

GracePeriod::GracePeriod()
    : inner_(make_array(BPF_MAP_TYPE_ARRAY, "wait_inner", 8, -1)),
      outer_(make_array(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait", sizeof(std::uint32_t), inner_.get())) {}

void GracePeriod::wait() const {
    const std::uint32_t key = 0;
    const auto value = static_cast<std::uint32_t>(inner_.get());
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(outer_.get());
    attr.key = address_of(&key);
    attr.value = address_of(&value);
    if (sys_bpf(BPF_MAP_UPDATE_ELEM, attr) != 0) throw_bpf_error(errno, "wait for BPF programs");
}

}  // namespace gpufs
