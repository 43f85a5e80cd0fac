#include "engine/monitor/syscall_dispatcher.h"

#include <span>
#include <utility>

#include "base/bytes.h"
#include "kernel/bpf/info.h"

namespace gpufs {
namespace {

// More than any architecture has numbers of its own: of x86-64's, the last are below 600.
constexpr std::uint32_t kMostCalls = 1024;

}  // namespace

BpfMap SyscallDispatcher::make_programs(std::uint32_t most) {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_PROG_ARRAY;
    spec.name = "calls";
    spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
    spec.max_entries = most;
    return BpfMap::create(spec);
}

SyscallDispatcher::SyscallDispatcher(const EventFormat& all, Place place, const SyscallCheck& check,
                                     const LoadCode& load)
    : all_(all),
      place_(place),
      programs_(make_programs(kMostCalls)),
      program_(load(jump_by_syscall(check, programs_.fd()))) {}

bool SyscallDispatcher::has_room_for(std::int64_t number) const {
    return number >= 0 && number < kMostCalls && !numbers_.contains(number);
}

void SyscallDispatcher::put(std::int64_t number, const Fd& program) {
    const auto key = static_cast<std::uint32_t>(number);
    const int fd = program.get();
    programs_.update(bytes_of(key), bytes_of(fd));
    numbers_.insert(number);
}

void SyscallDispatcher::attach(const AttachOptions& how) {
    if (!attachments_.empty()) return;
    attachments_.push_back(
        place_ == Place::raw_tracepoint
            ? attach_raw_tracepoint(program_.get(), all_.name)
            : attach_tracepoint(program_.get(), static_cast<std::uint64_t>(all_.id), how));
}

std::vector<Attachment> SyscallDispatcher::take_attachments() {
    return std::exchange(attachments_, {});
}

void SyscallDispatcher::keep_missed() {
    for (const Attachment& one : attachments_) missed_ += one.missed().value_or(0);
}

void SyscallDispatcher::stop() const {
    for (const Attachment& one : attachments_) one.stop();
}

std::uint64_t SyscallDispatcher::missed() const {
    std::uint64_t misses = missed_ + program_info(program_.get()).recursion_misses;
    for (const Attachment& one : attachments_) misses += one.missed().value_or(0);
    return misses;
}

}  // namespace gpufs
