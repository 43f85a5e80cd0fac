#include "engine/bt/world.h"

#define BOOST_TEST_DYN_LINK
#include <link.h>
#include <sys/syscall.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "base/hex.h"
#include "bt/types/c_types.h"
#include "engine/recording/file.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"
#include "support/skip.h"

namespace ut = boost::unit_test;

// What user_symbol() is asked for.
extern "C" {
extern int gpufs_test_world_numbers[5];
int gpufs_test_world_numbers[5] = {1, 2, 3, 4, 5};
}

namespace gpufs::bt {
namespace {

using Texts = std::vector<std::string>;

std::string types_of(const std::optional<std::vector<Type::Field>>& fields) {
    std::string text;
    for (const Type::Field& field : fields.value())
        text += cat(name_of(*field.type), ' ', field.name, "; ");
    return text;
}

// Where this program was loaded to.
std::uint64_t own_base() {
    std::uint64_t base = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            *static_cast<std::uint64_t*>(to) = info->dlpi_addr;
            return 1;  // the program is the first
        },
        &base);
    return base;
}

BOOST_AUTO_TEST_SUITE(bt_world)

BOOST_AUTO_TEST_CASE(events_come_by_pattern) {
    KernelFacts facts(Tracefs("tests/data/formats/6.12"));
    KernelWorld world(facts);
    BOOST_TEST(
        (world.events("drm:*") == Texts{"drm:drm_vblank_event", "drm:drm_vblank_event_delivered",
                                        "drm:drm_vblank_event_queued"}));
    BOOST_TEST(world.events("drm:nothing*").empty());
    BOOST_TEST_REQUIRE(world.event("drm:drm_vblank_event"));
    BOOST_TEST(world.event("drm:drm_vblank_event")->find("crtc"));
    BOOST_TEST(!world.event("drm:nothing"));
}

BOOST_AUTO_TEST_CASE(a_recording_has_events_and_nothing_else) {
    TraceFile file("tests/data/trace_dat/sched-6.18.dat");
    KernelFacts facts(file.context().events);
    KernelWorld world(facts);
    BOOST_TEST(world.event("sched:sched_switch"));
    BOOST_TEST(world.events("sched:sched_sw*").size() >= 1u);
    BOOST_TEST(!world.has_types());
    BOOST_TEST(!world.find_type("task_struct"));
    BOOST_TEST(!world.find_structure("task_struct"));
    BOOST_TEST(!world.enumerator("PIDTYPE_PID").has_value());
    BOOST_TEST(!world.parameters("vfs_read").has_value());
    BOOST_TEST(!world.raw_tracepoint("sched_switch").has_value());
    BOOST_TEST(world.functions("*").empty());
    BOOST_TEST(world.user_functions("/proc/self/exe", "main").empty());
    BOOST_TEST(!world.kernel_symbol("vfs_read").has_value());
    BOOST_TEST(!world.user_symbol("/proc/self/exe", "gpufs_test_world_numbers").has_value());
    BOOST_TEST(!world.cgroup_id("/").has_value());
}

BOOST_AUTO_TEST_CASE(system_calls_have_numbers) {
    KernelFacts facts(Tracefs("tests/data/formats/6.12"), BpfFeatures({}));
    KernelWorld world(facts);
    BOOST_TEST(world.enumerator("__NR_openat").value().number == SYS_openat);
    BOOST_TEST(!world.enumerator("__NR_no_such_call").has_value());
}

BOOST_AUTO_TEST_CASE(symbols_of_a_program_have_their_addresses) {
    KernelFacts facts(Tracefs("tests/data/formats/6.12"), BpfFeatures({}));
    KernelWorld world(facts);
    const auto numbers = world.user_symbol("/proc/self/exe", "gpufs_test_world_numbers");
    BOOST_TEST_REQUIRE(numbers.has_value());
    BOOST_TEST(numbers->bytes == sizeof gpufs_test_world_numbers);
    BOOST_TEST(numbers->address + own_base() ==
               reinterpret_cast<std::uintptr_t>(&gpufs_test_world_numbers));
    BOOST_TEST(!world.user_symbol("/proc/self/exe", "no_such_symbol").has_value());
    BOOST_TEST(!world.user_symbol("/no/such/file", "main").has_value());
    BOOST_TEST((world.user_functions("/proc/self/exe", "mai[n]") == Texts{"main"}));
    BOOST_TEST(world.user_functions("/no/such/file", "main").empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_world, *ut::precondition(test::has_bpf{BpfFeature::btf}))

BOOST_AUTO_TEST_CASE(structures_have_typed_members) {
    KernelFacts facts;
    KernelWorld world(facts);
    BOOST_TEST(world.has_types());
    const auto task = world.find_structure("task_struct");
    BOOST_TEST_REQUIRE(task);
    const auto type = [&](const char* name) { return name_of(*member(*task, name)->type); };
    BOOST_TEST(type("comm") == "string[16]");
    BOOST_TEST(type("pid") == "int32");
    BOOST_TEST(type("real_parent") == "struct task_struct *");
    BOOST_TEST(type("stack") == "void *");
    BOOST_TEST(type("tasks") == "struct list_head");
    BOOST_TEST((member(*task, "real_parent")->type->space == Space::kernel));
    BOOST_TEST(task->bytes == facts.btf_offset("task_struct[1]").value());
    BOOST_TEST(std::int64_t(member(*task, "comm")->offset) ==
               facts.btf_offset("task_struct.comm").value());
    // What is embedded is looked up by its name.
    const auto list = world.find_structure("list_head");
    BOOST_TEST_REQUIRE(list);
    BOOST_TEST(list->bytes == member(*task, "tasks")->type->bytes);
    BOOST_TEST(!world.find_structure("no_such_structure"));
    BOOST_TEST(!world.find_structure("pid_t"));
}

BOOST_AUTO_TEST_CASE(types_come_by_their_names_in_c) {
    KernelFacts facts;
    KernelWorld world(facts);
    BOOST_TEST(name_of(*world.find_type("pid_t")) == "int32");
    BOOST_TEST(name_of(*world.find_type("sector_t")) == "uint64");
    BOOST_TEST(name_of(*world.find_type("atomic_t")) == "struct atomic_t");
    BOOST_TEST(world.find_type("atomic_t")->bytes == 4u);
    const TypePtr task = world.find_type("task_struct");
    BOOST_TEST(name_of(*task) == "struct task_struct");
    BOOST_TEST((task->structure == world.find_structure("task_struct")));
    const TypePtr kinds = world.find_type("pid_type");
    BOOST_TEST(name_of(*kinds) == "enum pid_type");
    BOOST_TEST_REQUIRE(kinds->words.size() == 5u);
    BOOST_TEST(kinds->words[3].second == "PIDTYPE_SID");
    BOOST_TEST(!world.find_type("no_such_type"));
    BOOST_TEST(world.enumerator("PIDTYPE_SID").value().number == 3);
}

BOOST_AUTO_TEST_CASE(a_structure_without_a_name_is_in_its_member) {
    KernelFacts facts;
    KernelWorld world(facts);
    // struct qstr { union { struct { u32 hash; u32 len; }; u64 hash_len; }; ... }: anonymous.
    const auto text = world.find_structure("qstr");
    BOOST_TEST_REQUIRE(text);
    BOOST_TEST(member(*text, "hash_len")->offset == 0u);
    BOOST_TEST(member(*text, "hash")->offset + member(*text, "len")->offset == 4u);
    // struct kernel_siginfo's _sifields has structures without names.
    const auto info = world.find_structure("kernel_siginfo");
    BOOST_TEST_REQUIRE(info);
    BOOST_TEST(member(*info, "si_signo"));
    const Type::Field* fields = member(*info, "_sifields");
    BOOST_TEST_REQUIRE(fields);
    const Type::Field* timer = nullptr;
    if (fields->type->is(Type::Kind::structure)) {
        const auto inner = fields->type->structure ? fields->type->structure
                                                   : world.find_structure(fields->type->name);
        BOOST_TEST_REQUIRE(inner);
        timer = member(*inner, "_timer");
    }
    BOOST_TEST_REQUIRE(timer);
    BOOST_TEST_REQUIRE(timer->type->structure);
    BOOST_TEST(member(*timer->type->structure, "_overrun"));
}

BOOST_AUTO_TEST_CASE(functions_have_prototypes) {
    KernelFacts facts;
    KernelWorld world(facts);
    const std::string read = types_of(world.parameters("vfs_read"));
    BOOST_TEST(read.starts_with("struct file * file; "));
    BOOST_TEST(read.ends_with("uint64 count; int64 * pos; int64 retval; "));
    BOOST_TEST(types_of(world.parameters("vmlinux:vfs_read")) == read);
    BOOST_TEST(!world.parameters("no_such_function").has_value());
    BOOST_TEST(!world.parameters("no_such_module:vfs_read").has_value());
}

BOOST_AUTO_TEST_CASE(raw_tracepoints_have_arguments) {
    KernelFacts facts;
    KernelWorld world(facts);
    const std::string types = types_of(world.raw_tracepoint("sched_switch"));
    BOOST_TEST(types.starts_with("bool "));
    BOOST_TEST(types.find("; struct task_struct * ") != std::string::npos);
    BOOST_TEST(!world.raw_tracepoint("no_such_event").has_value());
}

BOOST_AUTO_TEST_CASE(functions_and_types_of_modules_are_known) {
    KernelFacts facts;
    KernelWorld world(facts);
    std::size_t looked_at = 0;
    for (const std::string& name : btf_modules()) {
        const Btf module = Btf::module(name, *facts.btf());
        for (const std::string& function : module.functions()) {
            BOOST_TEST_INFO(name << ':' << function);
            const auto found = world.parameters(cat(name, ':', function));
            BOOST_TEST_REQUIRE(found.has_value());
            BOOST_TEST(found->size() >= module.function(function)->parameters.size());
            if (++looked_at % 5 == 0) break;
        }
    }
    if (looked_at == 0) test::skip("no module with BTF is loaded");
}

BOOST_AUTO_TEST_CASE(symbols_of_the_kernel_have_their_addresses) {
    KernelFacts facts;
    KernelWorld world(facts);
    const auto address = world.kernel_symbol("vfs_read");
    BOOST_TEST_REQUIRE(address.has_value());
    const std::string text = read_file_if_readable("/proc/kallsyms").value();
    BOOST_TEST(text.find(cat(hex(*address).substr(2), " T vfs_read\n")) != std::string::npos);
    BOOST_TEST(!world.kernel_symbol("no_such_symbol").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
