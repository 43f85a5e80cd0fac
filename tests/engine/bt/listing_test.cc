#include "engine/bt/listing.h"

#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/bpf/support.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs::bt {
namespace {

// A kernel that has Debian's events of 6.12, and nothing of BPF.
std::string list(const std::string& pattern, bool has_arguments = false) {
    KernelFacts facts(Tracefs("tests/data/formats/6.12"), BpfFeatures({}));
    ListingRequest request;
    request.pattern = pattern;
    request.has_arguments = has_arguments;
    return join(list_probes(facts, request), "\n");
}

std::string refusal(const std::string& pattern) {
    try {
        return "listed: " + list(pattern);
    } catch (const UsageError& e) {
        return e.hint().empty() ? e.what() : cat(e.what(), "; ", e.hint());
    }
}

BOOST_AUTO_TEST_SUITE(bt_listing)

BOOST_AUTO_TEST_CASE(tracepoints_are_listed_by_pattern) {
    const std::string drm =
        "tracepoint:drm:drm_vblank_event\n"
        "tracepoint:drm:drm_vblank_event_delivered\n"
        "tracepoint:drm:drm_vblank_event_queued";
    BOOST_TEST(list("tracepoint:drm:*") == drm);
    BOOST_TEST(list("t:drm:drm_vblank_event*") == drm);
    BOOST_TEST(list("tracepoint:drm") == drm);
    BOOST_TEST(list("tracepoint:*vblank_event*") == drm);
    BOOST_TEST(list("trace*:drm:*") == drm);
    BOOST_TEST(list("tracepoint:drm:nothing*") == "");
}

BOOST_AUTO_TEST_CASE(a_word_without_a_provider_is_sought_everywhere) {
    BOOST_TEST(list("drm_vblank_event_queued") ==
               "tracepoint:drm:drm_vblank_event_queued\n"
               "rawtracepoint:drm_vblank_event_queued");
    BOOST_TEST(list("*vblank_event_q*") ==
               "tracepoint:drm:drm_vblank_event_queued\n"
               "rawtracepoint:drm_vblank_event_queued");
    BOOST_TEST(list("*cpu-clock*") == "software:cpu-clock:");
    BOOST_TEST(list("*no_such_thing*") == "");
}

BOOST_AUTO_TEST_CASE(arguments_follow_their_probe) {
    BOOST_TEST(list("tracepoint:drm:drm_vblank_event_queued", true) ==
               "tracepoint:drm:drm_vblank_event_queued\n"
               "    struct drm_file * file\n"
               "    int crtc\n"
               "    unsigned int seq");
    BOOST_TEST(list("tracepoint:irq:irq_handler_entry", true) ==
               "tracepoint:irq:irq_handler_entry\n"
               "    int irq\n"
               "    __data_loc char[] name");
    BOOST_TEST(list("tracepoint:sched:sched_process_wait", true) ==
               "tracepoint:sched:sched_process_wait\n"
               "    char comm[16]\n"
               "    pid_t pid\n"
               "    int prio");
}

BOOST_AUTO_TEST_CASE(perf_events_are_listed_with_their_colon) {
    BOOST_TEST(list("software:*")
                   .starts_with("software:cpu-clock:\nsoftware:cpu:\nsoftware:task-clock:\n"));
    BOOST_TEST(list("s:*-faults") ==
               "software:page-faults:\nsoftware:minor-faults:\nsoftware:major-faults:\n"
               "software:alignment-faults:\nsoftware:emulation-faults:");
    BOOST_TEST(list("hardware:branch*") ==
               "hardware:branch-instructions:\nhardware:branches:\nhardware:branch-misses:");
    BOOST_TEST(list("hardware") == list("h:*"));
}

BOOST_AUTO_TEST_CASE(probes_without_names_are_listed_by_their_forms) {
    BOOST_TEST(list("interval:*") == "interval:hz:\ninterval:ms:\ninterval:s:\ninterval:us:");
    BOOST_TEST(list("profile:hz") == "profile:hz:");
    BOOST_TEST(list("BEGIN") == "BEGIN");
    BOOST_TEST(list("watchpoint") == "watchpoint:ADDRESS:LENGTH:MODE");
}

BOOST_AUTO_TEST_CASE(functions_of_a_program_are_listed) {
    BOOST_TEST(list("uprobe:/proc/self/exe:mai[n]") == "uprobe:/proc/self/exe:main");
    BOOST_TEST(list("ur:/proc/self/exe:main") == "uretprobe:/proc/self/exe:main");
    BOOST_TEST(list("*:/proc/self/exe:main") == "uprobe:/proc/self/exe:main");
    BOOST_TEST(list("uprobe:/proc/self/ex*:main") == "uprobe:/proc/self/exe:main");
    BOOST_TEST(list("uprobe:/proc/self/exe:no_such_function") == "");
    // Not a program, among many.
    BOOST_TEST(list("uprobe:/etc/passw*:*") == "");
}

BOOST_AUTO_TEST_CASE(static_probes_of_a_program_are_listed) {
    const std::string probe = "usdt:/proc/self/exe:gpufs_test:probe";
    BOOST_TEST(list("usdt:/proc/self/exe:*") == probe);
    BOOST_TEST(list("usdt:/proc/self/exe:gpufs_test:pro*") == probe);
    BOOST_TEST(list("U:/proc/self/exe:probe") == probe);
    BOOST_TEST(list("usdt:/proc/self/exe:other:probe") == "");
    BOOST_TEST(list(probe, true) == probe + "\n    int32 arg0");
}

BOOST_AUTO_TEST_CASE(files_of_a_process_stand_for_a_path) {
    KernelFacts facts(Tracefs("tests/data/formats/6.12"), BpfFeatures({}));
    ListingRequest request;
    request.pattern = "uprobe:*:main";
    request.pid = ::getpid();
    const auto lines = list_probes(facts, request);
    const std::string own = std::filesystem::read_symlink("/proc/self/exe");
    BOOST_TEST(std::ranges::count(lines, cat("uprobe:", own, ":main")) == 1);
    request.pattern = "usdt:*:gpufs_test:*";
    BOOST_TEST(list_probes(facts, request).size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_listed_is_said) {
    BOOST_TEST(refusal("tracepiont:drm:*") ==
               "Invalid probe type: tracepiont; did you mean 'tracepoint'?");
    BOOST_TEST(refusal("uprobe") ==
               "a probe of programs needs the path of a program or a library; such as libc, or a "
               "process with -p");
    BOOST_TEST(refusal("usdt:/no/such/file:*") == "there is no file '/no/such/file'");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bt_listing, *ut::precondition(test::has_bpf{BpfFeature::btf}))

std::vector<std::string> list_here(const std::string& pattern, bool has_arguments = false) {
    static KernelFacts facts;  // the names of all functions are read once
    ListingRequest request;
    request.pattern = pattern;
    request.has_arguments = has_arguments;
    return list_probes(facts, request);
}

BOOST_AUTO_TEST_CASE(functions_are_listed_where_they_can_be_probed) {
    KernelFacts facts;
    const std::vector<std::string> expected{"kprobe:vfs_read"};
    const auto found = list_here("kprobe:vfs_read");
    BOOST_TEST((facts.has_kprobes() ? found == expected : found.empty()));
    BOOST_TEST((list_here("kprobe:vmlinux:vfs_read") == found));
    BOOST_TEST(list_here("kprobe:no_such_module:vfs_read").empty());
}

BOOST_AUTO_TEST_CASE(typed_functions_have_their_parameters) {
    KernelFacts facts;
    const auto entry = list_here("fentry:vfs_read", true);
    const auto exit = list_here("fexit:vmlinux:vfs_read", true);
    if (!facts.features().has(BpfFeature::fentry)) {
        BOOST_TEST(entry.empty());
        BOOST_TEST(exit.empty());
        return;
    }
    const std::vector<std::string> expected{"fentry:vmlinux:vfs_read", "    struct file * file",
                                            "    char * buf", "    size_t count",
                                            "    loff_t * pos"};
    BOOST_TEST((entry == expected));
    BOOST_TEST(exit.front() == "fexit:vmlinux:vfs_read");
    BOOST_TEST(exit.back() == "    ssize_t retval");
}

BOOST_AUTO_TEST_CASE(raw_tracepoints_have_their_arguments) {
    const auto lines = list_here("rawtracepoint:sched_switch", true);
    BOOST_TEST_REQUIRE(lines.size() >= 4u);
    BOOST_TEST(lines[0] == "rawtracepoint:sched_switch");
    BOOST_TEST(lines[1].starts_with("    bool "));
    BOOST_TEST(list_here("rawtracepoint:sys_enter_openat").empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
