#include <set>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/signals.h"
#include "cmd/run/bt_options.h"
#include "cmd/run/script_run.h"
#include "cmd/shared/command.h"
#include "cmd/shared/recording_input.h"
#include "engine/bt/kernel_info.h"
#include "engine/bt/listing.h"
#include "engine/places/kernel_facts.h"

namespace gpufs {
namespace {

int list(Context& ctx, const BtChoices& choices) {
    KernelFacts facts;
    bt::ListingRequest request;
    request.has_arguments = choices.run.verbose;
    if (!choices.script.pids.empty()) request.pid = choices.script.pids.front();
    std::vector<std::string> patterns{*choices.pattern};
    if (choices.program) {
        patterns = probes_of(choices.script, facts);
    } else if (is_regular_file(patterns.front())) {
        ScriptChoices script = choices.script;
        script.source = read_script(patterns.front());
        patterns = probes_of(script, facts);
    } else if (patterns.front().ends_with(".bt")) {
        ctx.err.line(cat("WARNING: It appears that '", patterns.front(),
                         "' is a filename but the file does not exist. Treating '",
                         patterns.front(), "' as a search pattern."));
    }
    std::set<std::string> told;
    for (const std::string& pattern : patterns) {
        request.pattern = pattern;
        if (!told.insert(pattern).second) continue;
        for (const std::string& line : bt::list_probes(facts, request)) ctx.out.line(line);
    }
    return kOk;
}

int show_info(Context& ctx) {
    KernelFacts facts;
    for (const std::string& line : bt::kernel_info(facts)) ctx.out.line(line);
    return kOk;
}

}  // namespace

int cmd_bt(Context& ctx, Args args) {
    ctx.voice = Voice::bpftrace;
    BtChoices choices = parse_bt_line(args);
    if (choices.is_help) {
        ctx.out.write(bt_help());
        return kOk;
    }
    if (choices.is_version) {
        ctx.out.line(cat("bpftrace v0.26 (its language, by gpufs ", version(), ')'));
        return kOk;
    }
    if (choices.is_info) return show_info(ctx);
    if (choices.pattern) return list(ctx, choices);
    check_is_not_input("-o", choices.output, choices.script.source.name, "the script");
    if (choices.output) ctx.out.write_to(*choices.output);
    choices.script.says_attached = !choices.is_quiet;
    // A signal that comes when the script has ended by itself is one that ends it.
    const HoldSignals hold;
    // As bpftrace has it, a script looks at the whole machine, and its end by a signal is a
    // success.
    const int status = run_script(ctx, choices.script, std::move(choices.run));
    hold.forget_pending();
    return status < 0 ? kOk : status;
}

}  // namespace gpufs
