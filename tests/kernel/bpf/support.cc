#include "kernel/bpf/support.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "kernel/bpf/info.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/cpus.h"
#include "kernel/perf/event.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/insn/helpers.h"

extern "C" {
[[gnu::noinline]] int gpufs_test_target(int n) {
    return n + 1;
}
[[gnu::noinline]] int gpufs_test_other(int n) {
    return n + 2;
}
}

namespace gpufs::test {
namespace {

boost::test_tools::assertion_result answer(bool yes, const std::string& need) {
    boost::test_tools::assertion_result result(yes);
    result.message() << need;
    return result;
}

BpfFeatures& features() {
    static BpfFeatures asked;
    return asked;
}

// This process's number as programs see it: that of the outermost pid namespace.
std::int32_t our_tgid() {
    const std::string status = read_file("/proc/self/status");
    const auto at = status.find("\nNSpid:");
    return at == status.npos
               ? ::getpid()
               : static_cast<std::int32_t>(std::strtol(status.c_str() + at + 7, nullptr, 10));
}

}  // namespace

Insns operator+(Insns a, const Insns& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Insns load_map(int dst, const BpfMap& map) {
    return {op::make(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, map.fd()),
            op::make(0, 0, 0, 0, 0)};
}

Insns if_ours(Insns body) {
    const Insns head = {op::copy(6, 1), op::call(BPF_FUNC_get_current_pid_tgid),
                        op::shift_right(0, 32),
                        op::jump_unless(0, our_tgid(), static_cast<int>(body.size()))};
    return head + body + Insns{op::mov(0, 0), op::leave()};
}

Insns count_in(const BpfMap& counters, std::uint32_t index) {
    return Insns{op::store_value(BPF_W, 10, -4, static_cast<std::int32_t>(index)), op::copy(2, 10),
                 op::add(2, -4)} +
           load_map(1, counters) +
           Insns{op::call(BPF_FUNC_map_lookup_elem), op::jump_if_zero(0, 2), op::mov(1, 1),
                 op::make(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD)};
}

Fd load(std::uint32_t type, std::span<const bpf_insn> insns, std::uint32_t attach_type) {
    BpfProgramSpec spec;
    spec.type = type;
    spec.name = "gpufs_test";
    spec.insns = insns;
    spec.expected_attach_type = attach_type;
    return load_program(spec);
}

Fd load_counter(std::uint32_t type, const BpfMap& counters, std::uint32_t attach_type) {
    return load(type, if_ours(count_in(counters)), attach_type);
}

BpfMap make_map(std::uint32_t type, std::uint32_t key, std::uint32_t value, std::uint32_t entries,
                std::uint32_t flags) {
    return BpfMap::create({type, "gpufs_test", key, value, entries, flags});
}

BpfMap make_counters(std::uint32_t entries) {
    return make_map(BPF_MAP_TYPE_ARRAY, 4, 8, entries);
}

std::uint64_t counter(const BpfMap& counters, std::uint32_t index) {
    std::uint64_t value = 0;
    BOOST_TEST_REQUIRE(
        counters.lookup(bytes_of(index), std::as_writable_bytes(std::span(&value, 1))));
    return value;
}

std::uint64_t sum_of_cpus(const BpfMap& map, std::span<const std::byte> value) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < value.size(); at += map.copy_bytes())
        sum += value_of<std::uint64_t>(value.subspan(at));
    return sum;
}

std::uint64_t event_id(const std::string& event) {
    return std::stoull(find_tracefs().read(event_directory(event) + "/id"));
}

bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

std::string self() {
    char path[4096];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
    return {path, static_cast<std::size_t>(n > 0 ? n : 0)};
}
std::uint64_t offset_of(const char* function) {
    const auto found = find_functions(self(), function);
    BOOST_TEST_REQUIRE(found.size() == 1u);
    return found[0].offset;
}
void call_targets(int times) {
    for (int i = 0; i < times; ++i) gpufs_test_target(i);
}

AttachOptions by(HookWay hook, ProbeWay probe) {
    AttachOptions options;
    options.hook = hook;
    options.probe = probe;
    options.group = "gpufs_test";
    return options;
}

bool program_is_gone(std::uint32_t id) {
    return comes_true([&] {
        try {
            open_program(id);
            return false;
        } catch (const SysError& error) {
            return error.code() == ENOENT;
        }
    });
}
std::string our_events() {
    std::string found;
    const Tracefs tracefs = find_tracefs();
    for (const char* file : {"kprobe_events", "uprobe_events"})
        if (const auto text = tracefs.read_if_readable(file))
            if (text->find("gpufs_test") != text->npos) found += *text;
    return found;
}

void check_counts(std::uint32_t type, const std::function<Attachment(int)>& attach,
                  const std::function<void(int)>& work, const std::string& how,
                  std::uint32_t attach_type) {
    const BpfMap counters = make_counters();
    std::uint32_t id = 0;
    {
        Fd program = load_counter(type, counters, attach_type);
        id = program_info(program.get()).id;
        work(7);
        Attachment attachment = attach(program.get());
        BOOST_TEST(attachment.how() == how);
        program = Fd();  // the attachment keeps the program
        work(kHits);
        BOOST_TEST(counter(counters) == static_cast<std::uint64_t>(kHits));
        attachment.detach();
        work(7);
    }
    BOOST_TEST(counter(counters) == static_cast<std::uint64_t>(kHits));
    BOOST_TEST(program_is_gone(id));
    BOOST_TEST(our_events() == "");
}

std::ostream& operator<<(std::ostream& out, const AttachWay& way) {
    return out << way.how;
}

bool is_here(HookWay hook) {
    return hook == HookWay::ioctl || features().has(BpfFeature::perf_link);
}

boost::test_tools::assertion_result has_bpf::operator()(boost::unit_test::test_unit_id) const {
    for (const BpfFeatureName& name : bpf_feature_names())
        if (name.feature == feature)
            return answer(features().has(feature), cat("needs ", name.what, ": ", name.fix));
    return answer(false, "unknown feature");
}

boost::test_tools::assertion_result has_helper::operator()(boost::unit_test::test_unit_id) const {
    const ProbeAnswer asked =
        features().ask_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, static_cast<unsigned>(number));
    return answer(asked.support == Support::yes, cat("needs bpf_", helper_name(number)));
}
boost::test_tools::assertion_result lacks_helper::operator()(boost::unit_test::test_unit_id) const {
    const ProbeAnswer asked =
        features().ask_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, static_cast<unsigned>(number));
    return answer(asked.support == Support::no,
                  cat("needs a kernel without bpf_", helper_name(number)));
}

boost::test_tools::assertion_result has_pmu::operator()(boost::unit_test::test_unit_id) const {
    return answer(Pmu::find(name).has_value(), cat("needs perf's ", name));
}

}  // namespace gpufs::test
