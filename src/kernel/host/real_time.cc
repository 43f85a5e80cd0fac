#include "kernel/host/real_time.h"

#include <sched.h>

namespace gpufs {

RealTime::RealTime() noexcept {
    if (::sched_getscheduler(0) != SCHED_OTHER) return;
    sched_param priority{};
    priority.sched_priority = 1;
    is_set_ = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
}

RealTime::~RealTime() {
    if (!is_set_) return;
    // This also clears SCHED_RESET_ON_FORK, which needs CAP_SYS_NICE, as setting the priority did.
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
}

}  // namespace gpufs
