#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "base/embedded.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recipe/check.h"
#include "engine/recipe/files.h"
#include "engine/recipe/run.h"
#include "engine/recipe/trusted_files.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/session_probes.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::TempSession;

Recipe recipe(const std::string& body, const RecipeArguments& arguments = {}) {
    return fill_in(parse_recipe({"x.trig", "recipe x \"q\"\n" + body}), arguments);
}

// What is said when the work is done, with its hint; which kind of error first.
template <class Work>
std::string complaint(Work&& work) {
    const auto words = [](const char* kind, const Error& e) {
        return cat(kind, e.what(), e.hint().empty() ? "" : "\nhint: ", e.hint());
    };
    try {
        work();
    } catch (const UnsupportedError& e) {
        return words("unsupported: ", e);
    } catch (const UsageError& e) {
        return words("usage: ", e);
    } catch (const Error& e) {
        return words("error: ", e);
    }
    return "nothing is wrong";
}

std::string check_complaint(const std::string& body, const RecipeArguments& arguments = {}) {
    return complaint([&] { check_recipe(test::top(), recipe(body, arguments)); });
}

std::string names_of(const RecipeOnKernel& on_kernel) {
    std::string names;
    for (const RecipeOnKernel::Event& event : on_kernel.events) names += event.name + ' ';
    return names;
}

std::string own_path() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

bool was_left_behind(const std::string& name) {
    return std::ranges::count(test::top().instances(), name) > 0 ||
           test::top().read("dynamic_events").find(name) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(recipes)

BOOST_AUTO_TEST_CASE(a_recipe_for_another_kernel_is_refused_with_what_is_near) {
    BOOST_TEST(check_complaint("event sched:sched_swich\n") ==
               "unsupported: x.trig:2:7: error: this kernel has no event sched:sched_swich\n"
               "event sched:sched_swich\n"
               "      ^~~~~~~~~~~~~~~~~\n"
               "hint: did you mean 'sched:sched_switch'?");
    BOOST_TEST(check_complaint("event first nosuch:one, nosuch:two\n") ==
               "unsupported: x.trig:2:13: error: this kernel has none of these\n"
               "event first nosuch:one, nosuch:two\n"
               "            ^~~~~~~~~~~~~~~~~~~~~~");
    BOOST_TEST(check_complaint("event nosuch:*\n") ==
               "unsupported: x.trig:2:7: error: this kernel has no event nosuch:*\n"
               "event nosuch:*\n"
               "      ^~~~~~~~");
}

BOOST_AUTO_TEST_CASE(every_mistake_about_this_kernel_is_told_in_one_run) {
    BOOST_TEST(
        check_complaint("param over time us optional\n"
                        "event sched:sched_switch if prev_stat == 2\n"
                        "    trigger enable_event sched:sched_wakin\n"
                        "event sched:sched_waking if comm > $over\n"
                        "set bufer=4M\n",
                        {{"over", "1ms"}}) ==
        "usage: x.trig:3:29: error: sched:sched_switch has no field 'prev_stat'\n"
        "event sched:sched_switch if prev_stat == 2\n"
        "                            ^~~~~~~~~\n"
        "hint: did you mean 'prev_state'?\n"
        "x.trig:4:26: error: this kernel has no event sched:sched_wakin\n"
        "    trigger enable_event sched:sched_wakin\n"
        "                         ^~~~~~~~~~~~~~~~~\n"
        "hint: did you mean 'sched:sched_waking'?\n"
        "x.trig:5:34: error: 'comm' is text (char comm[16]): text is compared with == != or ~\n"
        "event sched:sched_waking if comm > $over\n"
        "                                 ^\n"
        "x.trig:6:5: error: this kernel has no trace option 'bufer'\n"
        "set bufer=4M\n"
        "    ^~~~~~~~\n"
        "hint: did you mean 'buffer'?");
}

BOOST_AUTO_TEST_CASE(what_pairs_records_is_a_number_of_both) {
    BOOST_TEST(check_complaint("event irq:irq_handler_entry, irq:irq_handler_exit\n"
                               "show longest 3 irq:irq_handler_entry to irq:irq_handler_exit by "
                               "CPU, irq\n") == "nothing is wrong");
    BOOST_TEST(check_complaint("event irq:irq_handler_entry, irq:irq_handler_exit\n"
                               "show longest 3 irq:irq_handler_entry to irq:irq_handler_exit by "
                               "irk, name\n") ==
               "usage: x.trig:3:65: error: irq:irq_handler_entry has no field 'irk'\n"
               "show longest 3 irq:irq_handler_entry to irq:irq_handler_exit by irk, name\n"
               "                                                                ^~~\n"
               "hint: did you mean 'irq'?\n"
               "x.trig:3:70: error: 'name' of irq:irq_handler_entry is no number\n"
               "show longest 3 irq:irq_handler_entry to irq:irq_handler_exit by irk, name\n"
               "                                                                     ^~~~\n"
               "hint: pairs are found by numbers that both have, or by CPU");
}

BOOST_AUTO_TEST_CASE(a_condition_on_a_probe_is_checked_before_there_is_a_probe,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const std::string self = own_path();
    const std::string body =
        "param f file\n"
        "probe late uprobe $f:gpufs_test_measured ns=" +
        test::argument_register(0) +
        ":u32\n"
        "event late if ms > 5\n";
    BOOST_TEST(check_complaint(body, {{"f", self}}) ==
               "usage: x.trig:4:15: error: probe:late has no field 'ms'\n"
               "event late if ms > 5\n"
               "              ^~\n"
               "hint: did you mean 'ns'?");
    BOOST_TEST(check_complaint("param f file\n"
                               "probe late uprobe $f:gpufs_test_measurd\n"
                               "event late\n",
                               {{"f", self}}) == "usage: x.trig:3:19: error: '" + self +
                                                     "' has no function 'gpufs_test_measurd'\n" +
                                                     "probe late uprobe $f:gpufs_test_measurd\n"
                                                     "                  ^~~~~~~~~~~~~~~~~~~~~\n"
                                                     "hint: did you mean 'gpufs_test_measured'?");
    BOOST_TEST(check_complaint("probe late uprobe /no/such:f\nevent late\n") ==
               "usage: x.trig:2:19: error: there is no file '/no/such'\n"
               "probe late uprobe /no/such:f\n"
               "                  ^~~~~~~~~~");
    // Libraries have names, as everywhere.
    BOOST_TEST(check_complaint("probe late uprobe libc:getpiid\nevent late\n")
                   .find("libc.so.6' has no function 'getpiid'\n") != std::string::npos);
    BOOST_TEST(check_complaint("probe late uprobe libc:getpid\nevent late\n") ==
               "nothing is wrong");
}

BOOST_AUTO_TEST_CASE(a_missing_trigger_action_names_the_config_option,
                     *ut::precondition(test::lacks_trigger{"snapshot"})) {
    const std::string said = check_complaint("event sched:sched_switch\n    trigger snapshot\n");
    BOOST_TEST(said.starts_with("unsupported: x.trig:3:13: error: this kernel has no 'snapshot' "
                                "trigger; it has: "),
               said);
    BOOST_TEST(said.find("    trigger snapshot\n            ^~~~~~~~\n") != said.npos);
    BOOST_TEST(said.find("hint: it was built without CONFIG_TRACER_SNAPSHOT; ") != said.npos);
}

BOOST_AUTO_TEST_CASE(of_alternatives_the_first_there_is_is_taken_and_said) {
    const RecipeOnKernel first = check_recipe(
        test::top(), recipe("event first nosuch:one, sched:sched_switch, sched:sched_waking\n"));
    BOOST_TEST(names_of(first) == "sched:sched_switch ");
    BOOST_TEST(first.notes.at(0) == "sched:sched_switch instead of nosuch:one, not in this kernel");
    const RecipeOnKernel any = check_recipe(
        test::top(), recipe("event any nosuch:one, sched:sched_switch, sched:sched_waking\n"
                            "event optional nosuch:two\n"));
    BOOST_TEST(names_of(any) == "sched:sched_switch sched:sched_waking ");
    BOOST_TEST(any.notes.at(0) ==
               "of 3 alternatives this kernel has sched:sched_switch, sched:sched_waking");
    const RecipeOnKernel pattern = check_recipe(test::top(), recipe("event sched:sched_wak*\n"));
    BOOST_TEST(names_of(pattern).find("sched:sched_waking ") != std::string::npos);
    BOOST_TEST(names_of(pattern).find("sched:sched_wakeup ") != std::string::npos);
    BOOST_TEST(check_complaint("event sched:sched_wak*\nevent sched:sched_waking\n") ==
               "usage: x.trig:3:7: error: sched:sched_waking stands on an 'event' line already\n"
               "event sched:sched_waking\n"
               "      ^~~~~~~~~~~~~~~~~~\n"
               "hint: one line has all that is set on an event");
}

BOOST_AUTO_TEST_CASE(a_trigger_fires_for_what_is_recorded_and_a_stack_before_the_stop) {
    const RecipeOnKernel on_kernel = check_recipe(
        test::top(), recipe("event sched:sched_switch if prev_state == 2 || prev_state == 1\n"
                            "    trigger stacktrace\n"
                            "    trigger traceoff count 2 if prev_prio > 5\n"));
    const auto& triggers = on_kernel.events.at(0).triggers;
    // The kernel fires the newest first.
    BOOST_TEST(triggers.at(0).to_text() ==
               "traceoff:2 if (prev_state == 2 || prev_state == 1) && prev_prio > 5");
    BOOST_TEST(triggers.at(1).to_text() == "stacktrace if prev_state == 2 || prev_state == 1");
}

BOOST_AUTO_TEST_CASE(every_shipped_recipe_runs_here_or_says_what_is_missing) {
    for (const EmbeddedFile& file : embedded_recipes()) {
        const Recipe r = parse_recipe({std::string(file.name), std::string(file.text())});
        const auto missing = missing_for(test::top(), fill_in(r, stand_in_arguments(r)));
        BOOST_TEST_INFO_SCOPE(r.name.text << ": " << join(missing, "; "));
        const bool needs_a_gpu = r.name.text == "gpu-hang";
        if (!needs_a_gpu) BOOST_TEST(missing.empty());
        if (!missing.empty()) {
            BOOST_TEST(missing.size() == 1u);
            BOOST_TEST(missing[0] ==
                       "one of 15 events and functions, such as xe:xe_sched_job_timedout and "
                       "xe:xe_exec_queue_reset");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_run_sets_everything_and_takes_it_away,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const RecipeOnKernel on_kernel =
        check_recipe(test::top(), recipe("param f file\n"
                                         "probe late uprobe $f:gpufs_test_measured ns=" +
                                             test::fetch_of_measure() +
                                             "\n"
                                             "event sched:sched_switch if prev_state == 2\n"
                                             "    trigger enable_event late\n"
                                             "    trigger stacktrace count 3\n"
                                             "event late if ns > 5\n"
                                             "    trigger traceoff if ns > 7\n"
                                             "set buffer=64k clock=mono\n",
                                         {{"f", own_path()}}));
    std::string group, instance;
    {
        const RecipeRun run(test::top(), on_kernel);
        const Tracefs& at = run.session().tracefs();
        group = run.session().probe_group();
        instance = at.root().substr(at.root().rfind('/') + 1);
        BOOST_TEST(at.read("events/sched/sched_switch/filter") == "prev_state == 2\n");
        BOOST_TEST(at.read("events/sched/sched_switch/enable").starts_with("1"));
        BOOST_TEST(at.read(cat("events/", group, "/late/filter")) == "ns > 5\n");
        BOOST_TEST(at.read(cat("events/", group, "/late/enable")).starts_with("1"));
        BOOST_TEST(at.read(cat("events/", group, "/late/trigger")) ==
                   "traceoff:unlimited if ns > 5 && ns > 7\n");
        const auto triggers = parse_triggers(at.read("events/sched/sched_switch/trigger"));
        BOOST_TEST(triggers.size() == 2u);
        BOOST_TEST(triggers.at(1).argument == cat(group, ":late"));
        BOOST_TEST(at.read("trace_clock").find("[mono]") != std::string::npos);
        test::gpufs_test_measured(6);
        test::gpufs_test_measured(4);
        const std::string trace = at.read("trace");
        BOOST_TEST(trace.find("ns=6") != std::string::npos, trace);
        BOOST_TEST(trace.find("ns=4") == std::string::npos);
        BOOST_TEST(at.read("tracing_on") == "1\n");
        test::gpufs_test_measured(8);
        BOOST_TEST(at.read("tracing_on") == "0\n");
    }
    BOOST_TEST(!was_left_behind(instance));
    BOOST_TEST(!was_left_behind(group));
}

BOOST_AUTO_TEST_CASE(a_write_that_the_kernel_refuses_leaves_nothing,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const Recipe filled = recipe(
        "param f file\n"
        "probe good uprobe $f:gpufs_test_measured ns=" +
            test::fetch_of_measure() +
            "\n"
            "probe bad uprobe $f:gpufs_test_measured ns=%nosuch:u64\n"
            "event good, bad\n"
            "set buffer=64k\n",
        {{"f", own_path()}});
    const RecipeOnKernel on_kernel = check_recipe(test::top(), filled);
    try {
        const RecipeRun run(session, on_kernel);
        BOOST_FAIL("the kernel took %nosuch");
    } catch (const SysError& e) {
        BOOST_TEST(e.code() == EINVAL);
        BOOST_TEST(std::string(e.what()).find("/bad ") != std::string::npos, e.what());
        BOOST_TEST(e.hint() == "");
    }
    BOOST_TEST(!session.exists());
    BOOST_TEST(probes_of(test::top(), session.probe_group()).size() == 0u);
    BOOST_CHECK_THROW(RecipeRun(test::top(), on_kernel), SysError);
    BOOST_TEST(!was_left_behind(cat("gpufs.", ::getpid(), ".")));
    BOOST_TEST(!was_left_behind(cat("gpufs_", ::getpid(), "_")));
}

BOOST_AUTO_TEST_CASE(a_kept_session_must_be_new) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const RecipeOnKernel on_kernel =
        check_recipe(test::top(), recipe("event sched:sched_process_exit\n"));
    { const RecipeRun run(session, on_kernel); }
    BOOST_TEST(session.exists());
    BOOST_TEST(temp.read("events/sched/sched_process_exit/enable") == "1\n");
    BOOST_TEST(complaint([&] { RecipeRun(session, on_kernel); }) ==
               "error: session '" + temp.name() + "' exists already\n" +
                   "hint: 'gpufs reset --session " + temp.name() +
                   "' removes it, --session NAME takes another");
    BOOST_TEST(temp.read("events/sched/sched_process_exit/enable") == "1\n");
}

BOOST_AUTO_TEST_CASE(a_function_of_the_kernel_is_probed_where_there_are_kprobes,
                     *ut::precondition(test::has_file{"kprobe_events"})) {
    const Recipe filled = recipe(
        "probe open kprobe vfs_open\n"
        "probe gone kprobe no_such_function_anywhere\n"
        "probe absent kprobe nosuchmodule:vfs_open\n"
        "event any gone, open, absent\n");
    const RecipeOnKernel on_kernel = check_recipe(test::top(), filled);
    BOOST_TEST(names_of(on_kernel) == "open ");
    BOOST_TEST(on_kernel.notes.at(0) == "of 3 alternatives this kernel has open");
    const RecipeRun run(test::top(), on_kernel);
    read_file("/proc/self/comm");
    BOOST_TEST(run.session().tracefs().read("trace").find(": open: (") != std::string::npos);
    BOOST_TEST(check_complaint("probe gone kprobe no_such_function_anywhere\nevent gone\n") ==
               "unsupported: x.trig:3:7: error: this kernel has no function "
               "no_such_function_anywhere\n"
               "event gone\n"
               "      ^~~~\n"
               "hint: /proc/kallsyms has the functions of this kernel");
}

BOOST_AUTO_TEST_CASE(without_kprobes_a_recipe_that_needs_one_says_so) {
    if (test::top().has("kprobe_events")) return test::skip("needs a kernel without kprobe events");
    BOOST_TEST(check_complaint("probe open kprobe vfs_open\nevent open\n") ==
               "unsupported: x.trig:3:7: error: this kernel has no kprobe events\n"
               "event open\n"
               "      ^~~~\n"
               "hint: a kernel with CONFIG_KPROBE_EVENTS=y");
}

BOOST_AUTO_TEST_CASE(root_does_not_trust_what_others_can_write) {
    const std::string directory = cat("/tmp/gpufs-recipes-", ::getpid());
    const std::string file = directory + "/mine.trig";
    ::mkdir(directory.c_str(), 0700);
    std::ofstream(file) << "recipe mine \"q\"\nevent sched:sched_switch\n";
    const auto with = [&](mode_t directory_mode, mode_t mode, uid_t owner) {
        ::chmod(directory.c_str(), directory_mode);
        ::chmod(file.c_str(), mode);
        BOOST_TEST(::chown(file.c_str(), owner, 0) == 0);
        return why_not_trusted(file);
    };
    BOOST_TEST(with(0755, 0644, 0) == "");
    BOOST_TEST(with(0755, 0664, 0) == file + " can be written by its group");
    BOOST_TEST(with(0755, 0646, 0) == file + " can be written by everybody");
    BOOST_TEST(with(0755, 0644, 1234) == file + " belongs to uid 1234");
    BOOST_TEST(with(0775, 0644, 0) ==
               "its directory " + directory + " can be written by its group");
    BOOST_TEST(with(0777, 0644, 0) ==
               "its directory " + directory + " can be written by everybody");
    BOOST_TEST(with(01777, 0644, 0) == "");
    // A link is as good as where it leads.
    const std::string link = cat("/tmp/gpufs-recipe-link-", ::getpid(), ".trig");
    BOOST_TEST(::symlink(file.c_str(), link.c_str()) == 0);
    ::chmod(directory.c_str(), 0777);
    BOOST_TEST(why_not_trusted(link) ==
               "its directory " + directory + " can be written by everybody");
    ::setenv("SUDO_UID", "1234", 1);
    BOOST_TEST(with(0755, 0644, 1234) == "");
    BOOST_TEST(with(0755, 0644, 1235) == file + " belongs to uid 1235");
    ::unsetenv("SUDO_UID");
    BOOST_TEST(complaint([] { load_recipe("/dev/null"); }) ==
               "error: '/dev/null' is no regular file");
    ::unlink(link.c_str());
    ::unlink(file.c_str());
    ::rmdir(directory.c_str());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
