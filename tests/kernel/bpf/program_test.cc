#define BOOST_TEST_DYN_LINK
#include "kernel/bpf/program.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <fstream>

#include "base/error.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/support.h"
#include "kernel/bpf/test_run.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

// What a verifier wrote, and what we make of it. From Linux 4.19, 6.1, 6.18 and 7.3.
struct Log {
    const char* text;
    const char* useful;
    int insn;  // -1: none
};
std::ostream& operator<<(std::ostream& out, const Log& log) {
    return out << log.useful;
}
const Log kLogs[] = {
    {"0: (61) r0 = *(u32 *)(r1 +1000)\n"
     "invalid bpf_context access off=1000 size=4\n",
     "invalid bpf_context access off=1000 size=4", 0},
    {"func#0 @0\n"
     "0: R1=ctx(off=0,imm=0) R10=fp0\n"
     "0: (b7) r2 = 0                        ; R2_w=0\n"
     "1: (95) exit\n"
     "R0 !read_ok\n"
     "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 "
     "mark_read 0\n",
     "R0 !read_ok", 1},
    {"back-edge from insn 4 to 1\n"
     "processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 "
     "mark_read 0\n",
     "back-edge from insn 4 to 1", 4},
    {"unreachable insn 7\n", "unreachable insn 7", 7},
    {"0: R1=ctx() R10=fp0\n"
     "0: (18) r1 = 0xffff888004b0e000       ; R1_w=map_ptr(ks=4,vs=8)\n"
     "2: (bf) r2 = r10                      ; R2_w=fp0 R10=fp0\n"
     "3: (85) call bpf_map_lookup_elem#1\n"
     "invalid indirect read from stack R2 off 0+0 size 4\n"
     "processed 3 insns (limit 1000000)\n",
     "invalid indirect read from stack R2 off 0+0 size 4", 3},
    {"12: (0f) r0 += r1\n"
     "13: R0_w=map_value(off=0,ks=4,vs=8,umax=255)\n"
     "13: (71) r0 = *(u8 *)(r0 +0)\n"
     "invalid access to map value, value_size=8 off=255 size=1\n"
     "R0 max value is outside of the allowed memory range\n"
     "processed 14 insns (limit 1000000)\n",
     "invalid access to map value, value_size=8 off=255 size=1", 13},
    {"1: (05) goto pc-1\n"
     "infinite loop detected at insn 1\n"
     "cur state: R1=ctx() R10=fp0\n"
     "old state: R1=ctx() R10=fp0\n"
     "processed 2 insns\n",
     "infinite loop detected at insn 1", 1},
    {"0: R1=ctx() R10=fp0\n"
     "0: (95) exit\n"
     "R0 !read_ok\n"
     "\n"
     "Verification failed: Register Type Safety: Unreadable register\n"
     "\n"
     "Reason:\n"
     "  R0 has never been initialized on this path, so the verifier cannot use it as an input.\n"
     "\n"
     "At:\n"
     "  insn 0\n"
     "       | ^-- error: R0 is not readable\n"
     "  Instruction context:\n"
     "  >>> 0 | (95) exit\n"
     "\n"
     "Suggestion:\n"
     "  Initialize R0 on every path before this instruction.\n"
     "\n"
     "processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0\n",
     "R0 !read_ok", 0},
    {"Verification failed: Register Type Safety: Unreadable register\n"
     "\n"
     "At:\n"
     "  insn 3\n"
     "\n"
     "processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0\n",
     "Verification failed: Register Type Safety: Unreadable register", 3},
    {"jump out of range from insn 2 to 9\n", "jump out of range from insn 2 to 9", 2},
    {"last insn is not an exit or jmp\n", "last insn is not an exit or jmp", -1},
};
BOOST_AUTO_TEST_SUITE(verifier_log)

BOOST_DATA_TEST_CASE(its_useful_line_and_instruction_are_found, ut::data::make(kLogs), log) {
    const VerifierLog seen{log.text};
    BOOST_TEST(seen.useful_line() == log.useful);
    BOOST_TEST((seen.insn() ? static_cast<int>(*seen.insn()) : -1) == log.insn);
}

BOOST_AUTO_TEST_CASE(an_error_carries_the_log_and_never_an_errno) {
    const VerifierError e("count", kLogs[0].text);
    BOOST_TEST(e.what() == "the kernel's verifier refused program 'count'");
    BOOST_TEST(e.evidence() == kLogs[0].useful);
    BOOST_TEST(e.log() == kLogs[0].text);
    BOOST_TEST(e.insn().value() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

constexpr auto kRawTracepoint = BPF_PROG_TYPE_RAW_TRACEPOINT;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_program)

BOOST_AUTO_TEST_CASE(a_loaded_program_is_told_about) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(kRawTracepoint, counters);
    const ProgramInfo info = program_info(program.get(), WithInsns::yes);
    BOOST_TEST(info.name == "gpufs_test");
    BOOST_TEST(info.type == kRawTracepoint);
    BOOST_TEST(info.uid == ::getuid());
    BOOST_TEST(info.tag != 0u);
    BOOST_TEST(info.map_ids == std::vector{map_info(counters.fd()).id},
               boost::test_tools::per_element());
    BOOST_TEST_REQUIRE(!info.insns.empty());
    BOOST_TEST(info.insns.back().code == op::leave().code);
    BOOST_TEST(program_info(open_program(info.id).get()).tag == info.tag);
}

struct Bad {
    const char* name;
    Insns insns;
    std::size_t insn;
    const char* useful;
};
std::ostream& operator<<(std::ostream& out, const Bad& bad) {
    return out << bad.name;
}
const Bad kBad[] = {
    {"no value returned", {op::mov(3, 1), op::leave()}, 1, "R0 !read_ok"},
    {"context read past its end",
     {op::mov(0, 0), op::load(BPF_DW, 2, 1, 4096), op::leave()},
     1,
     "invalid bpf_context access off=4096 size=8"},
    {"unreachable code",
     {op::mov(0, 0), op::leave(), op::mov(0, 1), op::leave()},
     2,
     "unreachable insn 2"},
    {"stack past its end",
     {op::mov(0, 0), op::store(BPF_DW, 10, -520, 0), op::leave()},
     1,
     "invalid write to stack R10 off=-520 size=8"},
};
BOOST_DATA_TEST_CASE(a_refusal_has_the_log_and_the_right_instruction, ut::data::make(kBad), bad) {
    try {
        load(kRawTracepoint, bad.insns);
        BOOST_FAIL("the kernel took it");
    } catch (const VerifierError& e) {
        BOOST_TEST(e.insn().value() == bad.insn);
        BOOST_TEST(e.evidence() == bad.useful);
        BOOST_TEST(e.log().find(bad.useful) != std::string::npos);
    }
}

// 10,000 steps print more than the first buffer holds.
BOOST_AUTO_TEST_CASE(a_long_log_arrives_whole) {
    const Insns insns = {op::mov(0, 0), op::add(0, 1),
                         op::make(BPF_JMP | BPF_JLT | BPF_K, 0, 0, -2, 5000),
                         op::load(BPF_DW, 2, 1, 4096), op::leave()};
    try {
        load(kRawTracepoint, insns);
        BOOST_FAIL("the kernel took it");
    } catch (const VerifierError& e) {
        BOOST_TEST(e.log().size() > 64u << 10);
        BOOST_TEST(e.insn().value() == 3u);
        BOOST_TEST(e.log().find("0: (b7) r0 = 0") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_empty_program_is_said_to_be_empty) {
    BOOST_CHECK_EXCEPTION(load(kRawTracepoint, {}), Error, [](const Error& e) {
        BOOST_TEST(e.what() == "program 'gpufs_test' has no instructions");
        return true;
    });
}

BOOST_AUTO_TEST_CASE(a_program_type_from_the_future_is_not_supported_here) {
    const Insns insns = {op::mov(0, 0), op::leave()};
    BOOST_CHECK_EXCEPTION(load(999, insns), UnsupportedError, [](const UnsupportedError& e) {
        BOOST_TEST(e.what() ==
                   "cannot load program 'gpufs_test': this kernel knows no such program type or "
                   "attach type (type 999, attach type 0)");
        return true;
    });
}

// In a child that gave up its rights: says which are missing, not only that it may not.
BOOST_AUTO_TEST_CASE(without_capabilities_it_names_them) {
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::string said = "no error";
        if (::setgid(65534) == 0 && ::setuid(65534) == 0) {
            try {
                const Insns insns = {op::mov(0, 0), op::leave()};
                load(kRawTracepoint, insns);
            } catch (const UnsupportedError& e) {
                said = std::string(e.what()) + "\n" + e.hint();
            }
        }
        const auto n = ::write(ends[1], said.data(), said.size());
        ::_exit(n == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    char said[1024];
    const ssize_t n = ::read(ends[0], said, sizeof said);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    BOOST_TEST_REQUIRE(n > 0);
    const std::string hint =
        running_kernel() < KernelVersion{5, 8, 0}
            ? "run as root, or with CAP_SYS_ADMIN"
            : "run as root, or with CAP_BPF and CAP_PERFMON; missing: CAP_BPF, "
              "CAP_PERFMON";
    BOOST_TEST(std::string(said, static_cast<std::size_t>(n)) ==
               "cannot load program 'gpufs_test': this user may not\n" + hint);
}

BOOST_AUTO_TEST_CASE(a_raw_tracepoint_program_runs_by_hand,
                     *ut::precondition(has_bpf{BpfFeature::test_run})) {
    // r0 = the second argument
    const Fd program = load(kRawTracepoint, Insns{op::load(BPF_DW, 0, 1, 8), op::leave()});
    const std::uint64_t arguments[] = {1, 4711};
    TestRun run;
    run.context = std::as_bytes(std::span(arguments));
    BOOST_TEST(test_run(program.get(), run).returned == 4711u);
    run.cpu = 0;
    BOOST_TEST(test_run(program.get(), run).returned == 4711u);
}

BOOST_AUTO_TEST_CASE(a_socket_filter_runs_on_data_as_often_as_told) {
    const BpfMap counters = make_counters();
    const Fd program =
        load(BPF_PROG_TYPE_SOCKET_FILTER, count_in(counters) + Insns{op::mov(0, 42), op::leave()});
    const std::vector<std::byte> packet(64, std::byte{7});
    TestRun run;
    run.data = packet;
    run.repeat = 1000;
    run.data_out_bytes = 256;
    const TestRunResult result = test_run(program.get(), run);
    BOOST_TEST(result.returned == 42u);
    BOOST_TEST(counter(counters) == 1000u);
    BOOST_TEST(result.data.size() > 0u);
}

BOOST_AUTO_TEST_CASE(a_tracepoint_program_cannot_run_by_hand) {
    const Fd program = load(BPF_PROG_TYPE_TRACEPOINT, Insns{op::mov(0, 0), op::leave()});
    BOOST_CHECK_THROW(test_run(program.get(), {}), UnsupportedError);
}

BOOST_AUTO_TEST_CASE(runs_are_counted_while_somebody_asks,
                     *ut::precondition(has_bpf{BpfFeature::test_run})) {
    const Fd program = load(BPF_PROG_TYPE_SOCKET_FILTER, Insns{op::mov(0, 0), op::leave()});
    const std::vector<std::byte> packet(64, std::byte{7});
    TestRun run;
    run.data = packet;
    run.repeat = 100;
    test_run(program.get(), run);
    BOOST_TEST(program_info(program.get()).run_count == 0u);
    {
        const RunTimeStats stats;
        test_run(program.get(), run);
    }
    const ProgramInfo info = program_info(program.get());
    BOOST_TEST(info.run_count == 100u);
    BOOST_TEST(info.run_time_ns > 0u);
    test_run(program.get(), run);
    BOOST_TEST(program_info(program.get()).run_count == 100u);
}

// A callback is taken only with the names of all functions.
BOOST_AUTO_TEST_CASE(a_helper_calls_back_a_named_function,
                     *ut::precondition(has_bpf{BpfFeature::callbacks})) {
    const BpfMap counters = make_counters();
    // main: bpf_loop(10, callback, NULL, 0); callback: counters[0] += 1, go on
    const Insns main = {
        op::mov(1, 10),          op::make(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, 6),
        op::make(0, 0, 0, 0, 0), op::mov(3, 0),
        op::mov(4, 0),           op::call(BPF_FUNC_loop),
        op::mov(0, 0),           op::leave()};
    const Insns insns = main + count_in(counters) + Insns{op::mov(0, 0), op::leave()};
    BpfProgramSpec spec;
    spec.type = BPF_PROG_TYPE_SOCKET_FILTER;
    spec.name = "loop";
    spec.insns = insns;
    BOOST_CHECK_THROW(load_program(spec), VerifierError);
    spec.functions = {{"main", 0}, {"one more", static_cast<std::uint32_t>(main.size())}};
    const Fd program = load_program(spec);
    const std::vector<std::byte> packet(64);
    TestRun run;
    run.data = packet;
    test_run(program.get(), run);
    BOOST_TEST(counter(counters) == 10u);
}

BOOST_AUTO_TEST_CASE(the_version_is_that_of_the_source) {
    const KernelVersion version = running_kernel();
    BOOST_TEST(version.major >= 4u);
    // Debian's uname says 6.1.0 for any 6.1; /proc/version has the real one in parentheses or not
    // at all: the two must at least agree on the series.
    std::string release;
    std::ifstream("/proc/sys/kernel/osrelease") >> release;
    BOOST_TEST(release.starts_with(cat(version.major, '.', version.minor, '.')));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
