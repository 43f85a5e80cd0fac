#define BOOST_TEST_DYN_LINK
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"
#include "kernel/bpf/btf.h"
#include "kernel/bpf/support.h"
#include "kernel/host/kernel_version.h"
#include "kernel/perf/attach.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

const AttachWay kKprobeWays[] = {
    {"kprobe PMU, perf ioctl", HookWay::ioctl, ProbeWay::pmu},
    {"kprobe_events, perf ioctl", HookWay::ioctl, ProbeWay::tracefs},
    {"kprobe PMU, BPF link", HookWay::newest, ProbeWay::newest},
    {"kprobe_events, BPF link", HookWay::newest, ProbeWay::tracefs},
};

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_kprobe)

BOOST_TEST_DECORATOR(*ut::precondition(has_pmu{"kprobe"}))
BOOST_DATA_TEST_CASE(a_kprobe_counts_each_way, ut::data::make(kKprobeWays), way) {
    if (!is_here(way.hook)) return test::skip("needs BPF links for perf events");
    for (const bool at_return : {false, true}) {
        KprobePlace place;
        place.function = getppid_function();
        place.at_return = at_return;
        check_counts(
            kKprobe,
            [&](int program) { return attach_kprobe(program, place, by(way.hook, way.probe)); },
            call_getppid, way.how);
    }
}

BOOST_TEST_DECORATOR(*ut::precondition(has_pmu{"kprobe"}))
BOOST_DATA_TEST_CASE(a_wrong_kprobe_says_what_is_wrong, ut::data::make(kKprobeWays), way) {
    if (!is_here(way.hook)) return test::skip("needs BPF links for perf events");
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    KprobePlace place;
    place.function = "no_such_function";
    BOOST_CHECK_EXCEPTION(attach_kprobe(program.get(), place, by(way.hook, way.probe)), Error,
                          [](const Error& e) {
                              BOOST_TEST(e.what() ==
                                         "cannot probe kernel function 'no_such_function': this "
                                         "kernel has no such function");
                              return true;
                          });
    BOOST_TEST(our_events() == "");
}

bool module_is_loaded(const std::string& name) {
    return read_file_if_readable("/proc/modules").value_or("").find(name + ' ') !=
           std::string::npos;
}
BOOST_AUTO_TEST_CASE(a_modules_function_can_be_named_with_its_module,
                     *ut::precondition([](ut::test_unit_id) {
                         boost::test_tools::assertion_result yes(module_is_loaded("drm"));
                         yes.message() << "needs the module drm";
                         return yes;
                     })) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    for (const ProbeWay probe : {ProbeWay::newest, ProbeWay::tracefs})
        for (const char* function : {"drm_open", "drm:drm_open"})
            BOOST_TEST(
                attach_kprobe(program.get(), {function, 0, false}, by(HookWay::newest, probe))
                    .missed()
                    .value_or(0) == 0u);
}

BOOST_AUTO_TEST_CASE(misses_of_kernel_probes_are_told, *ut::precondition(has_pmu{"kprobe"})) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    KprobePlace place;
    place.function = getppid_function();
    const Attachment by_tracefs =
        attach_kprobe(program.get(), place, by(HookWay::newest, ProbeWay::tracefs));
    const Attachment by_pmu = attach_kprobe(program.get(), place);
    call_getppid(10);
    BOOST_TEST((by_tracefs.missed() == std::optional<std::uint64_t>(0)));
    BOOST_TEST(by_pmu.missed().has_value() == (running_kernel() >= KernelVersion{6, 7, 0}));
    BOOST_TEST(by_pmu.missed().value_or(0) == 0u);
}

// A kernel without CONFIG_KPROBES.
BOOST_AUTO_TEST_CASE(without_kprobes_the_lack_is_told, *ut::precondition([](ut::test_unit_id unit) {
                         return boost::test_tools::assertion_result(
                             !has_pmu{"kprobe"}(unit) && !test::has_file{"kprobe_events"}(unit));
                     })) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kKprobe, counters);
    for (const ProbeWay probe : {ProbeWay::newest, ProbeWay::pmu, ProbeWay::tracefs})
        BOOST_CHECK_THROW(attach_kprobe(program.get(), {getppid_function(), 0, false},
                                        by(HookWay::newest, probe)),
                          UnsupportedError);
    KprobeSet set;
    set.functions = {getppid_function()};
    const Fd multi = load_counter(kKprobe, counters, kAttachKprobeMulti);
    BOOST_CHECK_THROW(attach_kprobe_multi(multi.get(), set), UnsupportedError);
}

BOOST_AUTO_TEST_CASE(one_link_counts_many_kernel_functions,
                     *ut::precondition(has_bpf{BpfFeature::kprobe_multi})) {
    std::string other = getppid_function();
    other.replace(other.find("getppid"), 7, "getuid");
    for (const bool at_return : {false, true}) {
        KprobeSet set;
        set.functions = {getppid_function(), other};
        set.at_return = at_return;
        check_counts(
            kKprobe, [&](int program) { return attach_kprobe_multi(program, set); },
            [](int times) {
                for (int i = 0; i < times; ++i) ::syscall(i % 2 ? SYS_getppid : SYS_getuid);
            },
            "kprobe_multi link", kAttachKprobeMulti);
    }
}

BOOST_AUTO_TEST_CASE(a_function_is_attached_to_by_its_btf,
                     *ut::precondition(has_bpf{BpfFeature::fentry})) {
    const BpfMap counters = make_counters();
    BpfProgramSpec spec;
    const Insns insns = if_ours(count_in(counters));
    spec.type = BPF_PROG_TYPE_TRACING;
    spec.insns = insns;
    for (const bpf_attach_type type : {BPF_TRACE_FENTRY, BPF_TRACE_FEXIT}) {
        spec.expected_attach_type = type;
        // A function with BTF that a file's read surely comes through.
        spec.attach_btf_id = Btf::kernel().find_function("vfs_read").value();
        const Fd program = load_program(spec);
        const std::uint64_t before = counter(counters);
        Attachment attachment = attach_tracing(program.get());
        BOOST_TEST(attachment.how() == "trampoline");
        const Fd zero = open_file("/dev/zero", 0);
        char byte;
        for (int i = 0; i < kHits; ++i) BOOST_TEST_REQUIRE(::read(zero.get(), &byte, 1) == 1);
        BOOST_TEST(counter(counters) - before >= static_cast<std::uint64_t>(kHits));
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
