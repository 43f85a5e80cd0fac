#pragma once

#include <boost/test/tools/assertion_result.hpp>
#include <boost/test/tree/decorator.hpp>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace gpufs::test {

// Preconditions of tests on the real kernel. A test is skipped, loudly, only where the kernel lacks
// what it needs: each of these looks at the kernel itself.

// Root and a mounted tracefs.
boost::test_tools::assertion_result can_trace(boost::unit_test::test_unit_id);
// A file of tracefs ("snapshot", "kprobe_events").
struct has_file {
    std::string file;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// The reverse: for what gpufs does where it is missing.
struct lacks_file {
    std::string file;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// A trigger action of this kernel.
struct has_trigger {
    std::string action;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// The reverse: for what gpufs says where it is missing.
struct lacks_trigger {
    std::string action;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// A program in $PATH, which tests/install-packages.sh installs.
struct has_program {
    std::string name;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
boost::test_tools::assertion_result has_two_cpus(boost::unit_test::test_unit_id);
// The kernel's types (BTF).
boost::test_tools::assertion_result has_types(boost::unit_test::test_unit_id);
// Whether the kernel tells where a function or a variable of it is; of variables not every one does
// (CONFIG_KALLSYMS_ALL).
bool has_kernel_symbol(std::string_view name);
// A machine whose top-level buffer is the test's own: the guest of tests/guests.
boost::test_tools::assertion_result owns_the_machine(boost::unit_test::test_unit_id);

// How many of so many switches are sure to be traced: hosted kernels of version 6.18 were seen to
// leave switches away from some tasks out, for programs and for buffers alike.
long long traced_of(long long switches);

// A session of this test's own: its name for --session, and its removal at the end.
class TempSession {
public:
    TempSession();
    ~TempSession();
    TempSession(const TempSession&) = delete;
    TempSession& operator=(const TempSession&) = delete;

    const std::string& name() const { return name_; }
    // Its directory below instances/.
    std::string directory() const;
    std::string read(const std::string& file) const;

private:
    std::string name_;
};

// Makes tasks sleep in uninterruptible state: vforks, with a child that sleeps for `ms` before it
// exits, `times` times.
void block_in_d_state(int times, int ms);

// A program's own measure of its delays: does nothing, has a name, and takes the nanoseconds in the
// first argument's register, which fetch_of_measure() names in the kernel's words.
extern "C" void gpufs_test_measured(unsigned long long ns);
std::string fetch_of_measure();
// The register of a function's first, second or third argument (0, 1, 2), as probes write it:
// "%di".
std::string argument_register(std::size_t number);

// The names below instances/ that begin with "gpufs" and were not there when the tests began.
std::string our_instances();

}  // namespace gpufs::test
