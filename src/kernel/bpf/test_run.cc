#include "kernel/bpf/test_run.h"

#include <cerrno>

#include "kernel/bpf/syscall.h"

namespace gpufs {
namespace {

std::uint64_t address_if(std::span<const std::byte> bytes) {
    return bytes.empty() ? 0 : address_of(bytes.data());
}

}  // namespace

TestRunResult test_run(int program, const TestRun& run) {
    TestRunResult result;
    result.data.resize(run.data_out_bytes);
    result.context.resize(run.context_out_bytes);
    bpf_attr attr = zeroed_attr();
    attr.test.prog_fd = static_cast<__u32>(program);
    attr.test.data_in = address_if(run.data);
    attr.test.data_size_in = static_cast<__u32>(run.data.size());
    attr.test.data_out = address_if(result.data);
    attr.test.data_size_out = static_cast<__u32>(result.data.size());
    attr.test.ctx_in = address_if(run.context);
    attr.test.ctx_size_in = static_cast<__u32>(run.context.size());
    attr.test.ctx_out = address_if(result.context);
    attr.test.ctx_size_out = static_cast<__u32>(result.context.size());
    attr.test.repeat = run.repeat;
    if (run.cpu) {
        attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
        attr.test.cpu = *run.cpu;
    }
    if (sys_bpf(BPF_PROG_TEST_RUN, attr) != 0) {
        const int code = errno;
        throw_bpf_error(code, "run a program for test",
                        "raw tracepoints can from Linux 5.10 on, tracepoints and kprobes cannot");
    }
    result.returned = attr.test.retval;
    result.duration_ns = attr.test.duration;
    if (run.data_out_bytes) result.data.resize(attr.test.data_size_out);
    if (run.context_out_bytes) result.context.resize(attr.test.ctx_size_out);
    return result;
}

}  // namespace gpufs
