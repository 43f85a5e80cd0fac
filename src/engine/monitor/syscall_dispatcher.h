#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "base/fd.h"
#include "kernel/bpf/map.h"
#include "kernel/perf/attach.h"
#include "lang/event/event_format.h"
#include "lang/link/link.h"

namespace gpufs {

// A program at the event of all system calls that goes on as the program for the call that is made:
// one place and one program a call, whatever the number of system calls that are looked at. Holds
// one program for each call.
class SyscallDispatcher {
public:
    using LoadCode = std::function<Fd(std::vector<bpf_insn> code)>;

    // An array for tail calls, with room for so many programs.
    static BpfMap make_programs(std::uint32_t most);

    // Where it is attached, and so which kind of program it and those in it are.
    enum class Place { record, raw_tracepoint };

    // `all`: raw_syscalls:sys_enter or sys_exit; at the raw tracepoint sys_enter only.
    SyscallDispatcher(const EventFormat& all, Place place, const SyscallCheck& check,
                      const LoadCode& load);

    bool is_at(const EventFormat& all, Place place) const noexcept {
        return &all_ == &all && place_ == place;
    }
    // Whether a program for this call finds room.
    bool has_room_for(std::int64_t number) const;
    void put(std::int64_t number, const Fd& program);

    // Attaches once, however often it is called.
    void attach(const AttachOptions& how);
    // As Attachment::stop().
    void stop() const;
    std::vector<Attachment> take_attachments();
    // Calls, of whatever kind, at which it did not run.
    std::uint64_t missed() const;
    // Adds to it what the attachments missed that are taken away next.
    void keep_missed();

private:
    const EventFormat& all_;
    Place place_;
    BpfMap programs_;
    Fd program_;
    std::set<std::int64_t> numbers_;
    std::vector<Attachment> attachments_;
    std::uint64_t missed_ = 0;  // of keep_missed()
};

}  // namespace gpufs
