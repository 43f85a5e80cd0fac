#include "support/needs.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kernel_version.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/trigger/trigger.h"
#include "support/run_gpufs.h"

namespace gpufs::test {
namespace {

constexpr const char* kTracing = "/sys/kernel/tracing";

boost::test_tools::assertion_result answer(bool yes, const std::string& need) {
    boost::test_tools::assertion_result result(yes);
    result.message() << need;
    return result;
}

// In a function of its own, because the child of a vfork borrows this stack frame. Its parent
// sleeps uninterruptibly until the child exits.
void vfork_slowly(useconds_t us) {
    const int pid = ::vfork();
    if (pid == 0) {
        ::usleep(us);
        ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
}

bool kernel_has_trigger(const std::string& action) {
    const Tracefs top(kTracing);
    for (const std::string& event : top.events()) {
        const auto file = top.read_if_readable(event_directory(event) + "/trigger");
        const auto actions = file ? available_triggers(*file) : std::nullopt;
        if (actions) return std::ranges::count(*actions, action) > 0;
    }
    return false;
}

}  // namespace

boost::test_tools::assertion_result can_trace(boost::unit_test::test_unit_id) {
    return answer(::access("/sys/kernel/tracing/tracing_on", W_OK) == 0,
                  "needs root and a mounted tracefs");
}

boost::test_tools::assertion_result has_file::operator()(boost::unit_test::test_unit_id) const {
    return answer(file_exists(cat(kTracing, "/", file)), cat("needs tracefs's ", file));
}

boost::test_tools::assertion_result lacks_file::operator()(boost::unit_test::test_unit_id) const {
    return answer(!file_exists(cat(kTracing, "/", file)),
                  cat("needs a kernel without tracefs's ", file));
}

boost::test_tools::assertion_result has_trigger::operator()(boost::unit_test::test_unit_id) const {
    return answer(kernel_has_trigger(action), cat("needs the ", action, " trigger"));
}

boost::test_tools::assertion_result has_two_cpus(boost::unit_test::test_unit_id) {
    return answer(possible_cpus().size() > 1, "needs two CPUs");
}

boost::test_tools::assertion_result has_types(boost::unit_test::test_unit_id) {
    return answer(file_exists("/sys/kernel/btf/vmlinux"), "needs the kernel's types (BTF)");
}

bool has_kernel_symbol(std::string_view name) {
    const std::string symbols = read_file("/proc/kallsyms");
    return symbols.find(cat(' ', name, '\n')) != symbols.npos;
}

boost::test_tools::assertion_result has_program::operator()(boost::unit_test::test_unit_id) const {
    return answer(std::system(cat("command -v ", name, " >/dev/null 2>&1").c_str()) == 0,
                  cat("needs ", name));
}

boost::test_tools::assertion_result lacks_trigger::operator()(
    boost::unit_test::test_unit_id) const {
    return answer(!kernel_has_trigger(action),
                  cat("needs a kernel without the ", action, " trigger"));
}

boost::test_tools::assertion_result owns_the_machine(boost::unit_test::test_unit_id) {
    return answer(std::getenv("GPUFS_VM_OUT") != nullptr,
                  "changes the top-level buffer: runs in the virtual machines");
}

TempSession::TempSession() {
    static int made = 0;
    name_ = cat("test", ::getpid(), "_", ++made);
}

TempSession::~TempSession() {
    // A hist trigger with variables keeps its instance: those are to be removed first.
    if (::rmdir(directory().c_str()) != 0 && errno == EBUSY) gpufs({"reset", "--session", name_});
}

std::string TempSession::directory() const {
    return cat(kTracing, "/instances/gpufs-", name_);
}

std::string TempSession::read(const std::string& file) const {
    return read_file(cat(directory(), "/", file));
}

long long traced_of(long long switches) {
    return running_kernel() >= KernelVersion{6, 18, 0} ? switches / 2 : switches;
}

void block_in_d_state(int times, int ms) {
    for (int i = 0; i < times; ++i) vfork_slowly(static_cast<useconds_t>(ms) * 1000);
}

extern "C" [[gnu::noinline]] void gpufs_test_measured(unsigned long long ns) {
    asm volatile("" ::"r"(ns) : "memory");
}

std::string argument_register(std::size_t number) {
#if defined(__aarch64__)
    return cat("%x", number);
#elif defined(__riscv)
    return cat("%a", number);
#else
    constexpr const char* kRegisters[] = {"%di", "%si", "%dx"};
    return kRegisters[number];
#endif
}

std::string fetch_of_measure() {
    return argument_register(0) + ":u64";
}

namespace {

std::vector<std::string> gpufs_instances() {
    std::vector<std::string> names = list_directory(cat(kTracing, "/instances"));
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("gpufs"); });
    return names;
}

// Taken before main(): somebody may be at work on this machine.
const std::vector<std::string> kInstancesBefore = gpufs_instances();

}  // namespace

std::string our_instances() {
    std::string names;
    for (const std::string& name : gpufs_instances())
        if (std::ranges::find(kInstancesBefore, name) == kInstancesBefore.end())
            names += name + '\n';
    return names;
}

}  // namespace gpufs::test
