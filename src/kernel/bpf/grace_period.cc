#include "kernel/bpf/grace_period.h"

#include <span>

#include "base/bytes.h"

namespace gpufs {
namespace {

BpfMap make_array(std::uint32_t type, const char* name, int inner_fd = -1) {
    BpfMapSpec spec;
    spec.type = type;
    spec.name = name;
    spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
    spec.max_entries = 1;
    spec.inner_fd = inner_fd;
    return BpfMap::create(spec);
}

}  // namespace

GracePeriod::GracePeriod()
    : inner_(make_array(BPF_MAP_TYPE_ARRAY, "wait_inner")),
      outer_(make_array(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait", inner_.fd())) {}

void GracePeriod::wait() const {
    const std::uint32_t key = 0;
    const int inner = inner_.fd();
    outer_.update(bytes_of(key), bytes_of(inner));
}

}  // namespace gpufs
