#include "base/error.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/settings.h"
#include "view/json.h"

namespace gpufs {

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
    options.session(choice).dry_run(dry_run).json(json);
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.empty()) {
        JsonObject line;
        for (const Setting& setting : all_settings(require_session(choice))) {
            if (json)
                line.text(setting.name, setting.value);
            else
                ctx.out.line(cat(setting.name, "=", setting.value));
        }
        if (json) ctx.out.line(line.done());
        return kOk;
    }
    std::vector<Setting> settings;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == word.npos || equals == 0)
            throw UsageError(cat("'", word, "' is not NAME=VALUE"), "such as buffer=4M");
        settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    const SessionPlan plan = plan_settings(open_session(choice), settings);
    apply_or_print(ctx, plan.changes, dry_run);
    if (!dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

}  // namespace gpufs
