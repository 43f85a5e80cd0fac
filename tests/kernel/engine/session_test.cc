#define BOOST_TEST_DYN_LINK
#include "engine/session/session.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/session/changes.h"
#include "engine/session/instance_names.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/session_probes.h"
#include "engine/session/settings.h"
#include "engine/session/stale.h"
#include "engine/session/triggers.h"
#include "engine/trace/kernel_events.h"
#include "kernel/host/cpus.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::TempSession;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))

BOOST_AUTO_TEST_CASE(a_refused_write_carries_the_kernels_own_words) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    Changes make;
    make.make_instance(session.tracefs());
    make.apply();
    try {
        session.tracefs().write("events/sched/sched_switch/filter", "nosuch == 2\n",
                                Write::replace);
        BOOST_FAIL("the kernel took it");
    } catch (const SysError& e) {
        BOOST_TEST(e.code() == EINVAL);
        BOOST_TEST(e.evidence().find("Field not found") != std::string::npos);
        BOOST_TEST(e.evidence().find("Command: nosuch == 2") != std::string::npos);
    }
    // A refusal that the kernel does not log must not be blamed on the entry before it.
    try {
        session.tracefs().write("events/sched/sched_switch/trigger", "nosuchaction\n",
                                Write::append);
        BOOST_FAIL("the kernel took it");
    } catch (const SysError& e) {
        BOOST_TEST(e.evidence() == "");
    }
}

BOOST_AUTO_TEST_CASE(changes_are_all_made_or_none) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const Tracefs& at = session.tracefs();
    Changes changes;
    changes.make_instance(at);
    changes.replace(at, "events/sched/sched_switch/filter", "prev_state == 2", "0");
    changes.replace(at, "events/sched/sched_wakeup/filter", "nosuch == 2", "0");
    BOOST_CHECK_THROW(changes.apply(), SysError);
    BOOST_TEST(!session.exists());

    Changes make;
    make.make_instance(at);
    make.replace(at, "events/sched/sched_switch/filter", "prev_state == 1", "0");
    make.append(at, "events/sched/sched_switch/trigger", "stacktrace:3 if prev_prio == 12345",
                "!stacktrace");
    make.apply();
    Changes second;
    second.replace(at, "events/sched/sched_switch/filter", "prev_state == 2", "prev_state == 1");
    second.append(at, "events/sched/sched_switch/trigger", "traceoff:1 if prev_state == 2",
                  "!traceoff");
    second.append(at, "events/sched/sched_switch/trigger", "stacktrace:4", "!stacktrace");
    BOOST_CHECK_THROW(second.apply(), SysError);  // there is one stacktrace already
    const EventState state = read_event_state(at, "sched:sched_switch");
    BOOST_TEST(state.filter == "prev_state == 1");
    BOOST_REQUIRE(state.triggers.size() == 1u);
    BOOST_TEST(state.triggers[0].to_text() == "stacktrace:3 if prev_prio == 12345");
}

BOOST_AUTO_TEST_CASE(a_refused_filter_leaves_the_one_before_it) {
    const TempSession temp;
    const Tracefs at = Session::named(test::top(), temp.name()).tracefs();
    Changes make;
    make.make_instance(at);
    make.replace(at, "events/sched/sched_switch/filter", "prev_state == 1", "0");
    make.apply();
    Changes refused;
    refused.replace(at, "events/sched/sched_switch/filter", "nosuch == 1", "prev_state == 1");
    BOOST_CHECK_THROW(refused.apply(), SysError);
    BOOST_TEST(read_event_state(at, "sched:sched_switch").filter == "prev_state == 1");
}

BOOST_AUTO_TEST_CASE(what_puts_back_goes_on_when_a_signal_comes) {
    const ScratchInstance scratch(test::top());
    const Tracefs& at = scratch.tracefs();
    Changes off;
    off.replace(at, "tracing_on", "0", "1");
    {
        const HoldSignals hold;
        ::raise(SIGTERM);
        off.apply();
        BOOST_TEST(at.read("tracing_on") == "1\n");
        off.apply_to_the_end();
        hold.forget_pending();
    }
    BOOST_TEST(at.read("tracing_on") == "0\n");
}

BOOST_AUTO_TEST_CASE(a_scratch_instance_goes_with_its_owner) {
    std::string root;
    {
        const ScratchInstance scratch(test::top());
        root = scratch.tracefs().root();
        BOOST_TEST(scratch.tracefs().has("tracing_on"));
        // Others that clear up see it is alive.
        BOOST_TEST(remove_stale(test::top()).empty());
        BOOST_TEST(scratch.tracefs().has("tracing_on"));
    }
    BOOST_TEST(!Tracefs(root).has("tracing_on"));
}

BOOST_AUTO_TEST_CASE(an_instance_goes_once_nobody_uses_it) {
    const TempSession session;
    BOOST_REQUIRE(::mkdir(session.directory().c_str(), 0750) == 0);
    const Tracefs instance(session.directory());
    Fd used = open_file(instance.path("tracing_on"), O_RDONLY);
    BOOST_CHECK_EXCEPTION(instance.remove(), SysError,
                          [](const SysError& e) { return e.code() == EBUSY; });
    BOOST_TEST(instance.has("tracing_on"));
    std::thread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        used = Fd();
    });
    instance.remove();
    user.join();
    BOOST_TEST(!instance.has("tracing_on"));
    BOOST_CHECK_EXCEPTION(instance.remove(), SysError,
                          [](const SysError& e) { return e.code() == ENOENT; });
}

BOOST_AUTO_TEST_CASE(what_a_dead_owner_left_is_removed_and_nothing_else) {
    // A process that ended: its pid and start time can no longer be anybody's.
    const std::string dead = cat("gpufs.", ::getpid(), ".1");
    const TempSession other;
    BOOST_REQUIRE(::mkdir(test::top().instance(dead).root().c_str(), 0750) == 0);
    BOOST_REQUIRE(::mkdir(other.directory().c_str(), 0750) == 0);
    BOOST_TEST(join(remove_stale(test::top()), "|") == "instance " + dead);
    BOOST_TEST(!test::top().has("instances/" + dead));
    BOOST_TEST(file_exists(other.directory()));
}

BOOST_AUTO_TEST_CASE(instances_that_no_command_made_stay) {
    // Names that gpufs does not give: others may use them.
    const std::vector<std::string> names{"gpufs.abc", "gpufs.", cat("gpufs.", ::getpid()),
                                         cat("gpufs.", ::getpid(), ".1x"),
                                         cat("gpufs.", ::getpid(), ".1.")};
    for (const std::string& name : names)
        BOOST_REQUIRE(::mkdir(test::top().instance(name).root().c_str(), 0750) == 0);
    BOOST_TEST(remove_stale(test::top()).empty());
    for (const std::string& name : names)
        BOOST_TEST(::rmdir(test::top().instance(name).root().c_str()) == 0, name);
}

// Removes what is not in use until it is killed, as a gpufs that does not see the owners.
[[noreturn]] void clear_blindly() {
    for (;;)
        for (const std::string& name : test::top().instances())
            if (name.starts_with("gpufs.")) ::rmdir(test::top().instance(name).root().c_str());
}

BOOST_AUTO_TEST_CASE(an_instance_is_made_while_others_clear_up) {
    const pid_t cleaner = ::fork();
    if (cleaner == 0) clear_blindly();
    std::vector<pid_t> owners;
    for (int i = 0; i < 4; ++i) {
        owners.push_back(::fork());
        if (owners.back() != 0) continue;
        try {
            for (int round = 0; round < test::scaled(25); ++round) {
                const ScratchInstance scratch(test::top());
                remove_stale(test::top());
                if (!scratch.tracefs().has("tracing_on")) ::_exit(2);
            }
        } catch (const Error&) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    for (const pid_t owner : owners) {
        int status = -1;
        BOOST_TEST(::waitpid(owner, &status, 0) == owner);
        BOOST_TEST(status == 0);
    }
    ::kill(cleaner, SIGKILL);
    ::waitpid(cleaner, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(two_owners_of_one_name_have_instances_of_their_own) {
    // As two processes of different pid namespaces may have.
    const ScratchInstance one(test::top()), other(test::top());
    BOOST_TEST(other.tracefs().root() == one.tracefs().root() + ".2");
    BOOST_TEST(other.probe_group() == one.probe_group() + "_2");
    BOOST_TEST(remove_stale(test::top()).empty());
    BOOST_TEST(other.tracefs().has("tracing_on"));
}

// By the instance's name its group is known, and by the group the instance.
BOOST_AUTO_TEST_CASE(the_second_owner_of_a_suffix_keeps_its_probes,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const ScratchInstance one(test::top(), "pairs"), other(test::top(), "pairs");
    BOOST_TEST(other.tracefs().root() == one.tracefs().root() + ".2");
    BOOST_TEST(other.probe_group() == one.probe_group() + "_2");
    test::top().write("uprobe_events",
                      cat("p:", other.probe_group(), "/probe ", test::gpufs_binary(), ":0x100\n"),
                      Write::append);
    BOOST_TEST(remove_stale(test::top()).empty());
    BOOST_TEST(probes_of(test::top(), other.probe_group()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(names_of_instances_and_their_groups_lead_to_each_other) {
    const std::pair<const char*, const char*> both[] = {
        {"gpufs", "gpufs"},
        {"gpufs-my_run", "gpufs_my_run"},
        {"gpufs.12.345", "gpufs_12_345"},
        {"gpufs.12.345.pairs.2", "gpufs_12_345_pairs_2"}};
    for (const auto& [instance, group] : both) {
        BOOST_TEST(group_of_instance(instance) == group);
        BOOST_TEST(instance_of_group(group) == instance);
    }
    for (const char* others : {"gpufs_", "gpufs__x", "gpufsx", "sched", "gpufs_a-b"})
        BOOST_TEST(instance_of_group(others) == "");
}

BOOST_AUTO_TEST_CASE(a_session_that_another_command_made_first_is_used) {
    const TempSession temp;
    const Tracefs at = Session::named(test::top(), temp.name()).tracefs();
    Changes make;
    make.make_instance(at);
    make.apply();
    BOOST_CHECK_NO_THROW(make.apply());
    // A refused command does not remove it.
    make.replace(at, "events/sched/sched_switch/filter", "nosuch == 1", "0");
    BOOST_CHECK_THROW(make.apply(), SysError);
    BOOST_TEST(file_exists(temp.directory()));
}

BOOST_AUTO_TEST_CASE(probes_of_a_dead_owner_are_removed_and_a_sessions_stay,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const std::string dead_group = cat("gpufs_", ::getpid(), "_1");
    const TempSession session, gone;
    const std::string session_group = Session::named(test::top(), session.name()).probe_group();
    const std::string gone_group = Session::named(test::top(), gone.name()).probe_group();
    BOOST_REQUIRE(::mkdir(session.directory().c_str(), 0750) == 0);
    for (const std::string& group : {dead_group, session_group, gone_group})
        test::top().write("uprobe_events",
                          cat("p:", group, "/probe ", test::gpufs_binary(), ":0x100\n"),
                          Write::append);
    BOOST_TEST(probes_of(test::top(), dead_group).size() == 1u);
    BOOST_TEST(join(remove_stale(test::top()), "|") ==
               cat("probes in group ", dead_group, "|probes in group ", gone_group));
    BOOST_TEST(probes_of(test::top(), dead_group).empty());
    BOOST_TEST(probes_of(test::top(), gone_group).empty());
    BOOST_TEST(probes_of(test::top(), session_group).size() == 1u);
    remove_probes(test::top(), session_group);
    BOOST_TEST(probes_of(test::top(), session_group).empty());
}

BOOST_AUTO_TEST_CASE(an_instances_triggers_are_found_to_act_on_it) {
    if (test::top().read("tracing_on") == "1\n")
        BOOST_TEST(triggers_stay_in_instance(test::top()).value());
    else
        BOOST_TEST(!triggers_stay_in_instance(test::top()).has_value());
}

BOOST_AUTO_TEST_CASE(every_event_is_found_by_its_format_and_parses) {
    Events known = kernel_events(test::top());
    std::size_t parsed = 0;
    for (const std::string& name : known.names()) {
        const EventFormat& event = known.require(name);
        BOOST_TEST(event.full_name() == name);
        for (const Field& field : event.fields)
            if (!field.is_common)
                BOOST_TEST(
                    declares_field(test::top().read(event_directory(name) + "/format"), field.name),
                    name << " " << field.name);
        ++parsed;
    }
    BOOST_TEST(parsed > 100u);
}

BOOST_AUTO_TEST_CASE(settings_are_read_back_as_they_were_set) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    plan_settings(session, {{"clock", "mono"},
                            {"children", "on"},
                            {"pids", "1,2"},
                            {"userstacktrace", "on"},
                            {"cpus", "0"}})
        .changes.apply();
    std::string changed;
    for (const Setting& setting : changed_settings(session))
        changed += cat(setting.name, "=", setting.value, " ");
    BOOST_TEST(changed == "clock=mono pids=1,2 children=on cpus=0 userstacktrace=on ");
    plan_settings(session, {{"pids", "none"},
                            {"cpus", "all"},
                            {"children", "off"},
                            {"clock", "local"},
                            {"userstacktrace", "off"}})
        .changes.apply();
    BOOST_TEST(changed_settings(session).empty());
}

// Whether a CPU is online or not: a session may have one that went off since.
BOOST_AUTO_TEST_CASE(each_cpu_of_the_machine_can_be_recorded_on) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const std::string all = cpu_list_to_text(possible_cpus());
    plan_settings(session, {{"cpus", all}}).changes.apply();
    BOOST_TEST(temp.read("tracing_cpumask") == test::top().read("tracing_cpumask"));
    const unsigned none = possible_cpus().back() + 1;
    BOOST_CHECK_EXCEPTION(plan_settings(session, {{"cpus", cat(none)}}), UsageError,
                          [&](const UsageError& e) {
                              return std::string(e.what()) == cat("there is no CPU ", none) &&
                                     e.hint() == "there are: " + all;
                          });
}

BOOST_AUTO_TEST_CASE(a_new_instance_has_no_changed_settings) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    Changes make;
    make.make_instance(session.tracefs());
    make.apply();
    std::string changed;
    for (const Setting& setting : changed_settings(session))
        changed += cat(setting.name, "=", setting.value, " ");
    BOOST_TEST(changed == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
