#include "kernel/lang/link_support.h"

#include <sys/prctl.h>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "kernel/bpf/program.h"
#include "kernel/tracefs/tracefs.h"
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

std::uint64_t id_of(const std::string& event) {
    return std::stoull(top().read(event_directory(event) + "/id"));
}

Seen::Seen(std::size_t bytes)
    : map_(BpfMap::create(
          {BPF_MAP_TYPE_ARRAY, "seen", 4, static_cast<std::uint32_t>(bytes), 1, 0})) {
    MapDeclaration seen;
    seen.name = "seen";
    seen.type = BPF_MAP_TYPE_ARRAY;
    seen.value.bytes = bytes;
    program_.maps.push_back(seen);
}

std::vector<std::uint64_t> Seen::counts() const {
    std::vector<std::uint64_t> counts(map_.spec().value_bytes / 8);
    read(std::as_writable_bytes(std::span(counts)));
    return counts;
}

std::string Seen::text() const {
    std::string text(map_.spec().value_bytes, '\0');
    read(std::as_writable_bytes(std::span(text)));
    return text.c_str();
}

Linked Seen::linked(const ir::Code& code, LinkTarget target) const {
    ProbeProgram probe;
    probe.name = "test";
    probe.code = code.assemble();
    target.map_fds["seen"] = map_.fd();
    return link(program_, probe, target);
}

Fd Seen::load(std::uint32_t type, const ir::Code& code, LinkTarget target) const {
    return load_named(type, linked(code, std::move(target)).insns, "seen");
}

Fd Seen::load(const SyscallCheck& check, const ir::Code& code) const {
    LinkTarget target;
    target.context = LinkTarget::Context::raw_arguments;
    Linked made = linked(code, std::move(target));
    add_syscall_check(check, made);
    return load_named(BPF_PROG_TYPE_RAW_TRACEPOINT, made.insns, "seen");
}

void Seen::count(ir::Code& code, std::size_t counter) {
    const auto at = static_cast<std::int64_t>(counter * 8);
    const ir::Temp address = code.symbol(reference(Relocation::Kind::map_value, "seen", at));
    code.atomic(AtomicOp::add, address, 1, ir::kU64);
}

void Seen::read(std::span<std::byte> into) const {
    const std::uint32_t key = 0;
    map_.lookup(std::as_bytes(std::span(&key, 1)), into);
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
