#include <limits>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/settings.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/proc_task.h"
#include "view/json.h"

namespace gpufs {
namespace {

// All settings as one object: numbers are numbers, switches true or false, lists arrays.
std::string settings_json(const std::vector<Setting>& settings) {
    JsonObject line;
    for (const auto& [name, value] : settings) {
        JsonArray list;
        if (name == "buffer") {
            line.number("buffer_bytes", parse_size(name, value));
        } else if (name == "clock") {
            line.text(name, value);
        } else if (name == "cpus") {
            for (const unsigned cpu : parse_cpu_list(name, value)) list.add_number(cpu);
            line.raw(name, list.done());
        } else if (name == "pids") {
            for (const std::string& pid : split(value, ',')) list.add(pid);
            line.raw(name, value == "none" ? "null" : list.done());
        } else {
            line.boolean(name, value == "on");
        }
    }
    return line.done();
}

// Throws Error for a task that is not there. What are no numbers, plan_settings() refuses.
void require_tasks(const std::string& pids) {
    for (const std::string& pid : split(pids, ','))
        if (const auto tid = whole_number<unsigned>(pid)) {
            if (*tid > static_cast<unsigned>(std::numeric_limits<int>::max()))
                throw UsageError(cat("pids: no task has the number ", pid));
            require_initial_pids();
            proc::require_tgid(static_cast<int>(*tid));
        }
}

}  // namespace

int cmd_options(Context& ctx, Args args) {
    std::vector<std::string> words;
    SessionChoice choice;
    bool dry_run = false, json = false;
    Options options("options [NAME=VALUE…]",
                    "Sets how the session's buffer records; without NAME=VALUE, shows it.\n"
                    "    buffer=4M             size of the buffer of each CPU\n"
                    "    clock=mono            what time stamps are taken from\n"
                    "    pids=1234,1240        only these tasks (none: all)\n"
                    "    children=on           and what they fork from now on\n"
                    "    cpus=0-3              only these CPUs (all: every one)\n"
                    "    userstacktrace=on     any trace option of this kernel, on or off");
    options.session(choice).dry_run(dry_run).output().json(json);
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.empty()) {
        const std::vector<Setting> settings = all_settings(require_session(choice));
        if (json)
            ctx.out.line(settings_json(settings));
        else
            for (const auto& [name, value] : settings) ctx.out.line(cat(name, "=", value));
        return kOk;
    }
    std::vector<Setting> settings;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == word.npos || equals == 0)
            throw UsageError(cat("'", word, "' is not NAME=VALUE"), "such as buffer=4M");
        settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    for (const Setting& setting : settings)
        if (setting.name == "pids") require_tasks(setting.value);
    const SessionPlan plan = plan_settings(open_session(choice), settings);
    apply_or_print(ctx, plan.changes, dry_run);
    if (!dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

}  // namespace gpufs
