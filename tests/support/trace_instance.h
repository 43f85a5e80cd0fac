#pragma once

#include <string>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "support/needs.h"

namespace gpufs::test {

// The tracefs of this machine.
const Tracefs& top();

// A guest is emulated: a tenth of the work takes as long there.
int scaled(int rounds);

// A tracefs instance of one test's own, switched off until record().
class TraceInstance {
public:
    TraceInstance();
    const Tracefs& tracefs() const { return tracefs_; }
    void set(const std::string& file, const std::string& text) const {
        tracefs_.write(file, text, Write::replace);
    }
    // Switches on what there is of these: "sched", "irq/irq_handler_entry".
    void enable(const std::vector<std::string>& events) const;
    // Records while `work` works.
    template <class Work>
    void record(Work&& work) const {
        set("tracing_on", "1");
        work();
        set("tracing_on", "0");
        set("events/enable", "0");
    }
    void mark(const std::string& text) const;

    // Linux 6.1 with the option hash-ptr off prints strings of __get_str as nothing. There it stays
    // on, and pointers, hashed by the kernel, cannot be compared.
    static bool hashes_pointers();

private:
    TempSession session_;  // removes the directory
    Tracefs tracefs_;
};

// Some of everything on two CPUs, scaled(rounds) times: system calls, sleeps, page faults, files,
// sockets, processes, and a marker a round.
void keep_busy(const TraceInstance& instance, int rounds);

}  // namespace gpufs::test
