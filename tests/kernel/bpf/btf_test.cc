#define BOOST_TEST_DYN_LINK
#include "kernel/bpf/btf.h"

#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "kernel/bpf/support.h"
#include "kernel/bpf/test_run.h"
#include "support/needs.h"
#include "support/skip.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_btf, *ut::precondition(has_bpf{BpfFeature::btf}))

BOOST_AUTO_TEST_CASE(a_function_is_found_with_its_parameters) {
    const Btf btf = Btf::kernel();
    const auto read = btf.function("vfs_read");
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->id == btf.find_function("vfs_read").value());
    std::string signature;
    for (const BtfValue& parameter : read->parameters)
        signature += parameter.type + ' ' + parameter.name + "; ";
    BOOST_TEST(signature == "struct file * file; char * buf; size_t count; loff_t * pos; ");
    BOOST_TEST(read->parameters[2].size == sizeof(std::size_t));
    BOOST_TEST(read->parameters[0].is_pointer);
    BOOST_TEST(read->returned.value().is_signed);
    BOOST_TEST(read->returned->type == "ssize_t");
    BOOST_TEST(!btf.find_function("no_such_function").has_value());
    BOOST_TEST(!btf.find_function("task_struct").has_value());
}

// Whoever asks often is answered from an index of names, which is made meanwhile.
BOOST_AUTO_TEST_CASE(a_name_is_found_in_the_same_place_however_often_is_asked) {
    const Btf btf = Btf::kernel();
    const auto function = btf.find_function("vfs_read");
    const auto type = btf.find_type("task_struct");
    const auto other = btf.find_type("pid_t");
    BOOST_TEST(function.has_value());
    for (int i = 0; i < 40; ++i) {
        BOOST_TEST((btf.find_function("vfs_read") == function));
        BOOST_TEST((btf.find_type("task_struct") == type));
        BOOST_TEST((btf.find_type("pid_t") == other));
        BOOST_TEST(!btf.find_function("task_struct"));
        BOOST_TEST(!btf.find_function("no_such_function"));
        BOOST_TEST(!btf.find_type("vfs_read"));
    }
}

BOOST_AUTO_TEST_CASE(per_cpu_variables_have_their_places) {
    const Btf btf = Btf::kernel();
    const auto queues = btf.per_cpu_offset("runqueues");
    if (!queues) return test::skip("this kernel's BTF has no per-CPU variables");
    BOOST_TEST((btf.per_cpu_offset("this_cpu_off") != queues));
    BOOST_TEST(!btf.per_cpu_offset("no_such_variable"));
    BOOST_TEST(!btf.per_cpu_offset("task_struct"));
}

BOOST_AUTO_TEST_CASE(a_path_resolves_to_offsets) {
    const Btf btf = Btf::kernel();
    const BtfAccess tgid = btf.resolve("task_struct.tgid");
    BOOST_TEST(tgid.pointers.empty());
    BOOST_TEST(tgid.size == 4u);
    BOOST_TEST(tgid.is_signed);
    BOOST_TEST(tgid.type == "pid_t");

    const BtfAccess parent = btf.resolve("task_struct.real_parent->tgid");
    BOOST_TEST_REQUIRE(parent.pointers.size() == 1u);
    BOOST_TEST(parent.pointers[0] == btf.resolve("task_struct.real_parent").offset);
    BOOST_TEST(parent.offset == tgid.offset);

    const BtfAccess comm = btf.resolve("task_struct.comm");
    BOOST_TEST(comm.size == 16u);
    BOOST_TEST(comm.is_text);
    BOOST_TEST(comm.type == "char[16]");
    BOOST_TEST(btf.resolve("task_struct.comm[3]").offset == comm.offset + 3);
    const auto links = static_cast<std::uint32_t>(sizeof(void*) * 2);
    BOOST_TEST(btf.resolve("list_head[1]").offset == links);
    BOOST_TEST(btf.resolve("list_head[2].prev").offset == 2 * links + sizeof(void*));

    // Through an anonymous union, and down members that are structures themselves.
    BOOST_TEST(btf.resolve("sk_buff.next").is_pointer);
    BOOST_TEST(btf.resolve("task_struct.se.vruntime").size == 8u);
    BOOST_TEST(btf.resolve("task_struct.mm->pgd").pointers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_bit_field_is_found_in_its_unit) {
    const BtfAccess bits = Btf::kernel().resolve("task_struct.in_execve");
    BOOST_TEST(bits.bit_size == 1u);
    BOOST_TEST(bits.size == 4u);
    BOOST_TEST(bits.bit_shift < 32u);
    BOOST_TEST(bits.offset % 4 == 0u);
}

std::string complaint(const Btf& btf, const std::string& path) {
    try {
        btf.resolve(path);
    } catch (const Error& e) {
        return cat(e.what(), e.hint().empty() ? "" : "; ", e.hint());
    }
    return "none";
}
BOOST_AUTO_TEST_CASE(a_wrong_path_is_explained) {
    const Btf btf = Btf::kernel();
    BOOST_TEST(
        complaint(btf, "task_struct.tgidd") ==
        "'task_struct.tgidd': struct task_struct has no member 'tgidd'; did you mean 'tgid'?");
    BOOST_TEST(complaint(btf, "task_strukt.pid") ==
               "'task_strukt.pid': this kernel has no structure 'task_strukt'");
    BOOST_TEST(complaint(btf, "task_struct.pid.x") ==
               "'task_struct.pid.x': 'pid' is pid_t: it has no members");
    BOOST_TEST(complaint(btf, "task_struct.comm[16]") ==
               "'task_struct.comm[16]': 'comm' has 16 elements");
    BOOST_TEST(complaint(btf, "task_struct.pid[0]") ==
               "'task_struct.pid[0]': 'pid' is pid_t, no array");
    for (const char* path : {"task_struct", "", ".pid", "task_struct..pid", "task_struct.comm[",
                             "task_struct.comm[x]", "task_struct->"})
        BOOST_TEST(complaint(btf, path) == cat("'", path,
                                               "' is no path to a member; such as "
                                               "task_struct.real_parent->tgid"));
}

// What BTF says must be what the kernel does: read our own task through it.
BOOST_AUTO_TEST_CASE(offsets_read_what_they_say, *ut::precondition(has_bpf{BpfFeature::test_run})) {
    const BpfMap counters = make_counters();
    const BtfAccess tgid = Btf::kernel().resolve("task_struct.tgid");
    // counters[0] = probe_read_kernel(current + offset, 4)
    const Insns body = Insns{op::call(BPF_FUNC_get_current_task),
                             op::copy(3, 0),
                             op::add(3, static_cast<std::int32_t>(tgid.offset)),
                             op::store_value(BPF_DW, 10, -16, 0),
                             op::copy(1, 10),
                             op::add(1, -16),
                             op::mov(2, 4),
                             op::call(BPF_FUNC_probe_read_kernel),
                             op::call(BPF_FUNC_get_current_pid_tgid),
                             op::shift_right(0, 32),
                             op::load(BPF_W, 1, 10, -16),
                             op::make(BPF_JMP | BPF_JNE | BPF_X, 0, 1, 2, 0),
                             op::mov(0, 1),
                             op::jump(1),
                             op::mov(0, 0),
                             op::leave()};
    const Fd program = load(BPF_PROG_TYPE_RAW_TRACEPOINT, body);
    BOOST_TEST(test_run(program.get(), {}).returned == 1u);
}

BOOST_AUTO_TEST_CASE(modules_have_their_own_types_on_top_of_the_kernels) {
    const Btf kernel = Btf::kernel();
    for (const std::string& name : btf_modules()) {
        const Btf module = Btf::module(name, kernel);
        // The base's names are not found again among the module's.
        BOOST_TEST(!module.find_function("vfs_read").has_value());
        BOOST_TEST(open_module_btf(name).get() >= 0);
        if (name != "drm") continue;
        const auto open = module.function("drm_open");
        BOOST_TEST_REQUIRE(open.has_value());
        BOOST_TEST(open->id > kernel.find_function("vfs_read").value());
        // Its parameters are types of the base.
        BOOST_TEST(open->parameters.at(0).type == "struct inode *");
        BOOST_TEST(module.resolve("drm_device.driver->name").is_pointer);
        BOOST_TEST(module.resolve("drm_file.pid").is_pointer);
    }
    BOOST_CHECK_THROW(Btf::module("no_such_module", kernel), UnsupportedError);
    BOOST_CHECK_THROW(open_module_btf("no_such_module"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(btf_files)

BOOST_AUTO_TEST_CASE(what_is_no_btf_is_refused) {
    BOOST_CHECK_THROW(Btf("/proc/self/exe"), Error);
    BOOST_CHECK_THROW(Btf("/dev/null"), Error);
    BOOST_CHECK_THROW(Btf("/no/such/file"), SysError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
