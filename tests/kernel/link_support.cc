#include "kernel/link_support.h"

#include <sys/prctl.h>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "gpufs/base/cat.h"
#include "gpufs/base/error.h"
#include "gpufs/kernel/bpf_program.h"
#include "gpufs/kernel/tracefs.h"
#include "support/trace_instance.h"

namespace gpufs::test {

Fd load_named(std::uint32_t type, std::span<const bpf_insn> insns, const std::string& name) {
    BpfProgramSpec spec;
    spec.type = type;
    spec.name = "gpufs_test";
    spec.insns = insns;
    try {
        return load_program(spec);
    } catch (const VerifierError& e) {
        BOOST_TEST_MESSAGE(e.log());
        throw Error(cat(name, ": ", e.what(), ": ", e.evidence()));
    }
}

EventFormat format_of(const std::string& event) {
    const auto text = top().read_if_readable(event_directory(event) + "/format");
    if (!text) throw Error(cat("this kernel has no event ", event));
    return parse_event_format(event.substr(0, event.find(':')), *text);
}

Relocation reference(Relocation::Kind kind, std::string name, std::int64_t addend) {
    Relocation relocation;
    relocation.kind = kind;
    relocation.name = std::move(name);
    relocation.addend = addend;
    return relocation;
}

OwnTask::OwnTask() {
    ::prctl(PR_GET_NAME, name_before_);
    ::sched_getaffinity(0, sizeof cpus_before_, &cpus_before_);
}

OwnTask::~OwnTask() {
    ::prctl(PR_SET_NAME, name_before_);
    ::sched_setaffinity(0, sizeof cpus_before_, &cpus_before_);
}

void OwnTask::become(const RecordTask& task) const {
    ::prctl(PR_SET_NAME, task.comm.c_str());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(task.cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

std::uint32_t OwnTask::cpu(std::size_t n) const {
    std::vector<std::uint32_t> allowed;
    for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus_before_)) allowed.push_back(cpu);
    return allowed[n % allowed.size()];
}

}  // namespace gpufs::test
