#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/kernel_version.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

namespace ut = boost::unit_test;

// What root can without most capabilities: tracefs still lets it read and write.
namespace gpufs {
namespace {

using test::Ended;
using test::has;

constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

// Sets who may use perf events, for a time.
class Paranoid {
public:
    explicit Paranoid(const std::string& level) : before_(read_file(kParanoid)) { set(level); }
    ~Paranoid() { set(before_); }

private:
    static void set(const std::string& level) { std::ofstream(kParanoid) << level; }

    std::string before_;
};

// `memlock`: the limit on locked memory, which is the machine's own matter.
Ended with_bpf_and_perfmon(const std::vector<std::string>& args,
                           const std::string& memlock = "unlimited") {
    test::Child::Setup setup;
    setup.argv = {"prlimit",
                  "--memlock=" + memlock,
                  "setpriv",
                  "--inh-caps=-all",
                  "--bounding-set=-all,+cap_38,+cap_39",
                  test::gpufs_binary()};
    setup.argv.insert(setup.argv.end(), args.begin(), args.end());
    return test::Child(setup).wait();
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(capabilities, *ut::precondition(test::owns_the_machine) *
                                        ut::precondition(test::has_toy_gpu))

BOOST_AUTO_TEST_CASE(two_capabilities_suffice_where_perf_events_are_open_to_them) {
    const Paranoid level("2");
    const std::string doctor = with_bpf_and_perfmon({"doctor"}).out;
    BOOST_TEST(has(doctor,
                   "yes  capabilities      root, CAP_PERFMON CAP_BPF, "
                   "without CAP_SYS_ADMIN\n"),
               doctor);
    BOOST_TEST(has(doctor, "yes  perf_event_open   tried, works; perf_event_paranoid is 2\n"),
               doctor);
    const std::string list = with_bpf_and_perfmon({"watch", "--list"}).out;
    BOOST_TEST(has(list, "yes  drm"), list);
    const Ended ended = with_bpf_and_perfmon({"watch", "drm", "--duration", "1ms"});
    BOOST_TEST(ended.status == 0, ended.err);
}

// Before Linux 5.11, maps and programs count.
BOOST_AUTO_TEST_CASE(a_limit_of_locked_memory_is_named) {
    const Paranoid level("2");
    const std::string doctor = with_bpf_and_perfmon({"doctor"}, "0").out;
    const Ended ended = with_bpf_and_perfmon({"watch", "drm", "--duration", "1ms"}, "0");
    if (running_kernel() >= KernelVersion{5, 11, 0}) {
        BOOST_TEST(has(doctor, "yes  capabilities "), doctor);
        BOOST_TEST(ended.status == 0, ended.err);
        return;
    }
    BOOST_TEST(has(doctor,
                   "no   capabilities      root, CAP_PERFMON CAP_BPF, without CAP_SYS_ADMIN, "
                   "with a limit of locked memory\n"
                   "                       fix: as root: ulimit -l unlimited, or "
                   "CAP_SYS_RESOURCE: before Linux 5.11, maps and programs count as locked "
                   "memory\n"),
               doctor);
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err ==
               "gpufs: cannot make map 'followed': this user may not\n"
               "hint: as root: ulimit -l unlimited, or CAP_SYS_RESOURCE: before Linux 5.11, maps "
               "and programs count as locked memory\n");
}

BOOST_AUTO_TEST_CASE(what_would_be_refused_is_not_promised) {
    const Paranoid level("3");
    const std::string doctor = with_bpf_and_perfmon({"doctor"}).out;
    BOOST_TEST(has(doctor, "yes  capabilities "), doctor);
    BOOST_TEST(has(doctor,
                   "no   perf_event_open   perf_event_paranoid is 3\n"
                   "                       fix: root, or as root: "
                   "sysctl kernel.perf_event_paranoid=2\n"),
               doctor);
    const std::string list = with_bpf_and_perfmon({"watch", "--list"}).out;
    BOOST_TEST(has(list, "no   drm"), list);
    BOOST_TEST(has(list, "this user may not\n"), list);
    BOOST_TEST(!has(list, "\nyes  "), list);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
