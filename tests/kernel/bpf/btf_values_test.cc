#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "base/file.h"
#include "base/find_by_name.h"
#include "kernel/bpf/btf.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

// What a member is, by its structure and name.
const BtfMember& member(const std::vector<BtfMember>& members, std::string_view name) {
    const BtfMember* found = find_by_name(members, name);
    BOOST_TEST_REQUIRE(found);
    return *found;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_btf_values, *ut::precondition(has_bpf{BpfFeature::btf}))

BOOST_AUTO_TEST_CASE(a_type_is_found_by_its_name) {
    const Btf btf = Btf::kernel();
    const auto id = btf.find_type("task_struct");
    BOOST_TEST_REQUIRE(id.has_value());
    const BtfType task = btf.type(*id);
    BOOST_TEST((task.kind == BtfType::Kind::structure));
    BOOST_TEST(task.name == "task_struct");
    BOOST_TEST(task.size == btf.resolve("task_struct[1]").offset);
    BOOST_TEST(!btf.find_type("no_such_type").has_value());
    BOOST_TEST(!btf.find_type("").has_value());
    BOOST_TEST(!btf.find_type("vfs_read").has_value());  // a function
    // A name that others end with.
    BOOST_TEST(btf.type(btf.find_type("file").value()).name == "file");
}

BOOST_AUTO_TEST_CASE(a_typedef_is_what_is_behind_it) {
    const Btf btf = Btf::kernel();
    const BtfType pid = btf.type(btf.find_type("pid_t").value());
    BOOST_TEST((pid.kind == BtfType::Kind::integer));
    BOOST_TEST(pid.size == 4u);
    BOOST_TEST(pid.is_signed);
    // A structure without a name of its own has the typedef's.
    const BtfType atomic = btf.type(btf.find_type("atomic_t").value());
    BOOST_TEST((atomic.kind == BtfType::Kind::structure));
    BOOST_TEST(atomic.name == "atomic_t");
    BOOST_TEST(btf.members(atomic.id).at(0).name == "counter");
}

BOOST_AUTO_TEST_CASE(members_are_where_their_paths_say) {
    const Btf btf = Btf::kernel();
    std::size_t compared = 0;
    for (const std::string name : {"task_struct", "file", "sk_buff", "request", "inode"}) {
        const auto id = btf.find_type(name);
        if (!id) continue;  // a kernel without networks or disks
        for (const BtfMember& one : btf.members(*id)) {
            BOOST_TEST_INFO(name << '.' << one.name);
            const BtfAccess access = btf.resolve(name + "." + one.name);
            BOOST_TEST(one.offset == access.offset);
            BOOST_TEST(one.bit_size == access.bit_size);
            BOOST_TEST(one.bit_shift == access.bit_shift);
            const BtfType type = btf.type(one.type);
            BOOST_TEST(type.size == access.size);
            BOOST_TEST(type.is_signed == access.is_signed);
            BOOST_TEST((type.kind == BtfType::Kind::pointer) == access.is_pointer);
            ++compared;
        }
    }
    BOOST_TEST(compared > 100u);
}

BOOST_AUTO_TEST_CASE(a_text_is_an_array_of_characters) {
    const Btf btf = Btf::kernel();
    const auto members = btf.members(btf.find_type("task_struct").value());
    const BtfType comm = btf.type(member(members, "comm").type);
    BOOST_TEST((comm.kind == BtfType::Kind::array));
    BOOST_TEST(comm.count == 16u);
    BOOST_TEST((btf.type(comm.element).kind == BtfType::Kind::character));
}

BOOST_AUTO_TEST_CASE(a_pointer_has_a_target) {
    const Btf btf = Btf::kernel();
    const auto id = btf.find_type("task_struct").value();
    const BtfType parent = btf.type(member(btf.members(id), "real_parent").type);
    BOOST_TEST((parent.kind == BtfType::Kind::pointer));
    BOOST_TEST(parent.size == sizeof(void*));
    BOOST_TEST(btf.type(parent.element).id == id);
    const BtfType stack = btf.type(member(btf.members(id), "stack").type);
    BOOST_TEST((btf.type(stack.element).kind == BtfType::Kind::none));
}

BOOST_AUTO_TEST_CASE(a_union_has_all_its_members_at_its_beginning) {
    const Btf btf = Btf::kernel();
    const auto id = btf.find_type("sigval").value();
    BOOST_TEST(btf.type(id).is_union);
    for (const BtfMember& one : btf.members(id)) BOOST_TEST(one.offset == 0u);
    BOOST_TEST(btf.members(id).size() == 2u);
}

BOOST_AUTO_TEST_CASE(an_enum_has_words) {
    const Btf btf = Btf::kernel();
    const auto id = btf.find_type("pid_type").value();
    BOOST_TEST((btf.type(id).kind == BtfType::Kind::enumeration));
    const auto words = btf.words(id);
    const std::vector<std::pair<std::int64_t, std::string>> expected{{0, "PIDTYPE_PID"},
                                                                     {1, "PIDTYPE_TGID"},
                                                                     {2, "PIDTYPE_PGID"},
                                                                     {3, "PIDTYPE_SID"},
                                                                     {4, "PIDTYPE_MAX"}};
    BOOST_TEST((words == expected));
    BOOST_TEST(btf.words(btf.find_type("task_struct").value()).empty());
}

BOOST_AUTO_TEST_CASE(an_enumerator_is_found_in_any_enum) {
    const Btf btf = Btf::kernel();
    BOOST_TEST(btf.enumerator("PIDTYPE_SID").value().number == 3);
    BOOST_TEST(btf.enumerator("BPF_MAP_TYPE_ARRAY").value().number == 2);
    BOOST_TEST(btf.enumerator("HRTIMER_RESTART").value().number == 1);
    BOOST_TEST(btf.enumerator("PERF_COUNT_SW_CPU_CLOCK").value().number == 0);
    BOOST_TEST(!btf.enumerator("NO_SUCH_ENUMERATOR").has_value());
    BOOST_TEST(!btf.enumerator("task_struct").has_value());
    BOOST_TEST(!btf.enumerator("").has_value());
}

BOOST_AUTO_TEST_CASE(an_enum_with_negative_numbers_is_signed) {
    const Btf btf = Btf::kernel();
    // include/linux/sysctl.h and others have few; this one is old and stays.
    const auto id = btf.find_type("perf_event_state");
    BOOST_TEST_REQUIRE(id.has_value());
    BOOST_TEST(btf.type(*id).is_signed);
    BOOST_TEST(btf.enumerator("PERF_EVENT_STATE_ACTIVE").value().number == 1);
    BOOST_TEST(btf.enumerator("PERF_EVENT_STATE_OFF").value().number == -1);
    BOOST_TEST(btf.resolve("perf_event.state").is_signed);
}

BOOST_AUTO_TEST_CASE(a_raw_tracepoint_s_typedef_is_a_function) {
    const Btf btf = Btf::kernel();
    const auto found = btf.function_typedef("btf_trace_sched_switch");
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST_REQUIRE(found->parameters.size() >= 4u);  // the tracer's own first
    BOOST_TEST(found->parameters[1].type == "bool");
    BOOST_TEST(found->parameters[2].type == "struct task_struct *");
    BOOST_TEST(!found->returned.has_value());
    BOOST_TEST(!btf.function_typedef("pid_t").has_value());
    BOOST_TEST(!btf.function_typedef("no_such_typedef").has_value());
}

// Kernels before 6.16 do not let their types be mapped: they are read as a copy of them is.
BOOST_AUTO_TEST_CASE(types_of_a_file_are_the_same) {
    const test::TempFile copy(read_file(kKernelBtf));
    const Btf file(copy.path());
    const Btf btf = Btf::kernel();
    for (const char* name : {"task_struct", "file", "pid_type", "atomic_t", "no_such_type"}) {
        BOOST_TEST_INFO(name);
        const auto id = btf.find_type(name);
        BOOST_TEST((file.find_type(name) == id));
        if (!id) continue;
        BOOST_TEST(file.type(*id).name == btf.type(*id).name);
        BOOST_TEST(file.type(*id).size == btf.type(*id).size);
        const auto expected = btf.members(*id), found = file.members(*id);
        BOOST_TEST_REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            BOOST_TEST(found[i].name == expected[i].name);
            BOOST_TEST(found[i].offset == expected[i].offset);
            BOOST_TEST(found[i].type == expected[i].type);
        }
        BOOST_TEST((file.words(*id) == btf.words(*id)));
    }
    BOOST_TEST((file.enumerator("PIDTYPE_SID") == btf.enumerator("PIDTYPE_SID")));
    BOOST_TEST((file.find_function("vfs_read") == btf.find_function("vfs_read")));
    BOOST_TEST((file.functions() == btf.functions()));
}

BOOST_AUTO_TEST_CASE(all_functions_are_named) {
    const Btf btf = Btf::kernel();
    const auto names = btf.functions();
    BOOST_TEST(names.size() > 1000u);
    BOOST_TEST(std::ranges::is_sorted(names));
    BOOST_TEST(std::ranges::binary_search(names, "vfs_read"));
    BOOST_TEST(!std::ranges::binary_search(names, "task_struct"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
