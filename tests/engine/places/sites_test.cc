#include "engine/places/sites.h"

#include "base/glob.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "kernel/host/kernel_version.h"
#include "kernel/tracefs/tracefs.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

using Texts = std::vector<std::string>;

// Debian's 6.12, which has both events.
KernelFacts machine() {
    return KernelFacts(Tracefs("tests/data/formats/6.12"));
}

std::string program_with(const std::string& cautions) {
    return cat(cautions, "\n.prog p optional tracepoint sched:sched_wakeup | sched:sched_switch\n",
               "        r0 = 0\n        exit\n");
}

BOOST_AUTO_TEST_SUITE(probe_sites)

BOOST_AUTO_TEST_CASE(a_caution_is_told_where_its_event_is_used) {
    const Program program = assemble({"t.bpf", program_with(".caution sched:sched_wakeup \"many\"\n"
                                                            ".caution sched:sched_switch \"few\"")},
                                     {});
    KernelFacts debian = machine();
    LibraryFiles libraries;
    const ProbeSites found = find_probe_sites(program, debian, libraries);
    BOOST_TEST(found.sites.at(0).event->full_name() == "sched:sched_wakeup");
    BOOST_TEST(found.cautions == Texts{"many"}, boost::test_tools::per_element());
    BOOST_TEST(found.choices.empty());
    BOOST_TEST(found.notes.empty());
}

// Of what is missing that is told which matters to what is there.
BOOST_AUTO_TEST_CASE(a_caution_can_be_for_what_another_program_misses) {
    const Program program = assemble(
        {"t.bpf", program_with(".caution without gone in p \"of use\"\n"
                               ".caution without gone in other \"of no use\"\n"
                               ".caution without p \"there\"\n"
                               ".prog gone optional tracepoint sched:no_such\n  exit 0\n"
                               ".prog other optional tracepoint sched:no_such\n  exit 0\n")},
        {});
    KernelFacts debian = machine();
    LibraryFiles libraries;
    BOOST_TEST(find_probe_sites(program, debian, libraries).cautions == Texts{"of use"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_event_is_left_alone_on_the_releases_that_a_caution_names) {
    const Program program =
        assemble({"t.bpf", program_with(cat(".caution sched:sched_wakeup on \"", running_release(),
                                            "\" \"asking crashes it\"\n"
                                            ".caution sched:sched_switch on \"0.99*\" \"never\""))},
                 {});
    KernelFacts debian = machine();
    LibraryFiles libraries;
    const ProbeSites found = find_probe_sites(program, debian, libraries);
    BOOST_TEST(found.sites.at(0).event->full_name() == "sched:sched_switch");
    BOOST_TEST(found.cautions == Texts{"asking crashes it"}, boost::test_tools::per_element());
    BOOST_TEST(found.choices.at(0) ==
               cat("p: took 'sched:sched_switch', because 'sched:sched_wakeup' is to be left alone "
                   "on ",
                   running_release()));
}

BOOST_AUTO_TEST_CASE(a_pattern_of_events_goes_on_without_those_left_alone) {
    const Program program =
        assemble({"t.bpf",
                  ".caution sched:sched_wakeup_new on \"*\" \"asking crashes it\"\n"
                  ".prog p tracepoint sched:sched_wakeup*\n"
                  "        r0 = 0\n        exit\n"},
                 {});
    KernelFacts debian = machine();
    LibraryFiles libraries;
    const ProbeSites found = find_probe_sites(program, debian, libraries);
    BOOST_TEST_REQUIRE(found.sites.size() == 1u);
    BOOST_TEST(found.sites[0].event->full_name() == "sched:sched_wakeup");
    BOOST_TEST(found.cautions == Texts{"asking crashes it"}, boost::test_tools::per_element());
}

// Two programs of one block, as a script has them: the events that are left, and the cautions.
struct Block {
    Texts events, cautions;
};
Block sites_of_block(const std::string& first, const std::string& second,
                     ProbeProgram::IfAbsent if_absent) {
    Program program = assemble({"t.bpf", cat(".prog p tracepoint ", first,
                                             "\n        r0 = 0\n        exit\n"
                                             ".prog q tracepoint ",
                                             second, "\n        r0 = 0\n        exit\n")},
                               {});
    for (ProbeProgram& one : program.programs) {
        one.at = program.programs.front().at;
        one.if_absent = if_absent;
    }
    KernelFacts debian = machine();
    LibraryFiles libraries;
    Block block;
    const ProbeSites found = find_probe_sites(program, debian, libraries);
    for (const ProbeSite& site : found.sites) block.events.push_back(site.event->full_name());
    block.cautions = found.cautions;
    return block;
}

BOOST_AUTO_TEST_CASE(a_block_does_without_what_is_not_there_while_something_is) {
    using IfAbsent = ProbeProgram::IfAbsent;
    const Block found = sites_of_block("sched:nonsense", "sched:sched_wakeup", IfAbsent::caution);
    BOOST_TEST(found.events == Texts{"sched:sched_wakeup"}, boost::test_tools::per_element());
    BOOST_TEST(found.cautions == Texts{"t.bpf:1:20: left out, because this kernel has no event "
                                       "'sched:nonsense'"},
               boost::test_tools::per_element());
    BOOST_TEST(
        sites_of_block("sched:sched_wakeup", "sched:nonsense", IfAbsent::nothing).cautions.empty());
    BOOST_CHECK_THROW(sites_of_block("sched:sched_wakeup", "sched:nonsense", IfAbsent::mistake),
                      UsageError);
    BOOST_CHECK_THROW(sites_of_block("sched:nonsense", "sched:none", IfAbsent::caution),
                      UsageError);
}

BOOST_AUTO_TEST_CASE(a_raw_tracepoint_is_taken_where_the_kernel_tells_what_its_arguments_are) {
    const auto taken = [](const std::string& offset, const Texts& fields = {}) {
        const Program program = assemble(
            {"t.bpf",
             cat(".prog p raw_tracepoint sched:sched_switch | tracepoint sched:sched_switch\n"
                 "        .if raw\n        r0 = btf(",
                 offset,
                 ")\n        .else\n        r0 = @prev_pid(r1)\n        .endif\n"
                 "        r0 = 0\n        exit\n")},
            {});
        KernelFacts debian(Tracefs("tests/data/formats/6.12"), BpfFeatures({BpfFeature::btf}));
        LibraryFiles libraries;
        const ProbeSites found = find_probe_sites(program, debian, libraries, {fields});
        return std::pair(found.sites.at(0).target->kind, join(found.choices, "\n"));
    };
    using Kind = ProbeTarget::Kind;
    BOOST_TEST((taken("task_struct.pid ? 2468") == std::pair(Kind::raw_tracepoint, std::string())));
    BOOST_TEST((taken("task_struct.pid ? 2468", {"comm"}).first == Kind::raw_tracepoint));
    BOOST_TEST(
        (taken("task_struct.pid ? 2468", {"prev_pid", "next_pid"}) ==
         std::pair(Kind::tracepoint,
                   std::string("p: took tracepoint 'sched:sched_switch', because --if asks for its "
                               "fields"))));
    BOOST_TEST(
        (taken("task_struct.pid") ==
         std::pair(
             Kind::tracepoint,
             std::string("p: took tracepoint 'sched:sched_switch', because this kernel does not "
                         "tell where 'task_struct.pid' is"))));
}

// Release candidates 1 to 4 of 6.17 may crash: the shipped monitor leaves the event alone there.
BOOST_AUTO_TEST_CASE(drm_leaves_an_event_alone_on_the_kernels_that_crash) {
    const Program program = assemble_file(cat(kBpfFolder, "/drm.bpf"));
    const auto caution = std::ranges::find(
        program.cautions, "gpu_scheduler:drm_sched_job_unschedulable", &Caution::event);
    BOOST_TEST_REQUIRE((caution != program.cautions.end()));
    for (const char* release : {"6.17.0-rc1", "6.17.0-rc4+", "6.17-rc3-amd64", "6.17~rc2-amd64"})
        BOOST_TEST(glob_match(caution->release, release));
    for (const char* release : {"6.17.0-rc5", "6.17.0", "6.17.4-arch1", "6.18.0-rc1", "6.16.0-rc4"})
        BOOST_TEST(!glob_match(caution->release, release));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
