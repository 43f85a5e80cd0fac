#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cmd/probe/static_probes.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "engine/trace/kernel_events.h"
#include "lang/event/gpu_systems.h"
#include "lang/trigger/trigger.h"
#include "view/json.h"

namespace gpufs {
namespace {

std::string place_of(const Field& field) {
    if (field.place == Field::Place::data_loc) return "dynamic";
    if (field.place == Field::Place::rel_loc) return "dynamic, relative";
    return {};
}

void print_event(Context& ctx, const EventFormat& event) {
    ctx.out.line(event.full_name());
    std::size_t width = 0;
    for (const Field& field : event.fields)
        if (!field.is_common) width = std::max(width, field.declaration().size());
    for (const Field& field : event.fields) {
        if (field.is_common) continue;
        const std::string declaration = field.declaration();
        std::string line =
            cat("    ", declaration, std::string(width - declaration.size() + 2, ' '), "offset ",
                field.offset, ", ", counted(field.size, "byte"));
        if (field.is_array && !field.is_dynamic() && !field.is_string)
            line += cat(", ", counted(field.size / field.element_size, "element"));
        if (!field.is_string && !field.is_pointer)
            line += field.is_signed ? ", signed" : ", unsigned";
        if (const std::string place = place_of(field); !place.empty()) line += ", " + place;
        ctx.out.line(line);
    }
    ctx.out.line(cat("    print: ", printable(event.print_format)));
}

std::string event_json(const EventFormat& event) {
    JsonArray fields;
    for (const Field& field : event.fields) {
        JsonObject object;
        object.text("name", field.name).text("type", field.type).number("offset", field.offset);
        object.number("size", field.size).boolean("signed", field.is_signed);
        object.boolean("array", field.is_array).boolean("string", field.is_string);
        object.boolean("dynamic", field.is_dynamic()).boolean("common", field.is_common);
        fields.add(object.done());
    }
    JsonObject line;
    line.text("event", event.full_name()).number("id", event.id);
    line.raw("fields", fields.done()).text("print", event.print_format);
    return line.done();
}

// The first event that has no trigger says which triggers this kernel has.
int list_triggers(Context& ctx, const Tracefs& top, bool json) {
    for (const std::string& event : top.events()) {
        const auto file = top.read_if_readable(event_directory(event) + "/trigger");
        const auto actions = file ? available_triggers(*file) : std::nullopt;
        if (!actions) continue;
        for (const std::string& action : *actions)
            ctx.out.line(json ? JsonObject().text("trigger", action).done() : action);
        return kOk;
    }
    throw UnsupportedError("this kernel's trigger files do not say which triggers it has");
}

int list_probes(Context& ctx, const Tracefs& top, bool json) {
    std::set<std::string> probes;
    for (const std::string_view file : {"dynamic_events", "kprobe_events", "uprobe_events"}) {
        const std::string text = top.read_if_readable(file).value_or("");
        for (const std::string_view line : lines_of(text)) probes.emplace(line);
    }
    for (const std::string& probe : probes)
        ctx.out.line(json ? JsonObject().text("probe", probe).done() : printable(probe));
    return kOk;
}

}  // namespace

int cmd_list(Context& ctx, Args args) {
    std::vector<std::string> words;
    std::vector<int> pids;
    bool gpu = false, probes = false, triggers = false, usdt = false, json = false, verbose = false;
    Options options("list [EVENT…] [-v] [--gpu] | --probes | --triggers | --usdt FILE…|-p PID",
                    "Lists events as SYSTEM:EVENT. An EVENT is a name, a whole system or a shell\n"
                    "pattern: 'gpufs list sched', 'gpufs list \"*:drm_*\"'.");
    options.flag("verbose,v", verbose, "with fields and print format")
        .flag("gpu", gpu, "events of GPU drivers, their scheduler and fences only")
        .flag("probes", probes, "the dynamic probes that are defined")
        .flag("triggers", triggers, "the trigger actions this kernel has")
        .flag("usdt", usdt, "the static probes (USDT) of programs and libraries")
        .pids(pids, "--usdt: of what this process has mapped; repeated")
        .output()
        .json(json);
    if (!options.parse(ctx, args, words)) return kOk;
    if (probes + triggers + usdt > 0 &&
        (probes + triggers + usdt + gpu > 1 || (!words.empty() && !usdt)))
        throw UsageError("--probes, --triggers and --usdt go alone");
    if (usdt && words.empty() && pids.empty())
        throw UsageError("--usdt needs a FILE, or a process: -p PID");
    if (!usdt && !pids.empty()) throw UsageError("-p goes with --usdt");
    if (usdt) return print_static_probes(ctx, {words, pids, json});
    const Tracefs top = find_tracefs();
    if (triggers) return list_triggers(ctx, top, json);
    if (probes) return list_probes(ctx, top, json);

    std::size_t shown = 0;
    Events known = kernel_events(top);
    std::vector<std::string> wanted;
    for (const std::string& word : words)
        std::ranges::move(split(word, ','), std::back_inserter(wanted));
    for (const std::string& event : words.empty() ? known.names() : known.match(wanted)) {
        if (gpu && !is_gpu_event(event)) continue;
        ++shown;
        if (!verbose) {
            ctx.out.line(json ? JsonObject().text("event", event).done() : event);
            continue;
        }
        const EventFormat& format = known.require(event);
        if (json)
            ctx.out.line(event_json(format));
        else
            print_event(ctx, format);
    }
    if (shown == 0 && gpu)
        throw UnsupportedError("this kernel has none of the GPU events asked for",
                               "a driver's events exist only while its module is loaded");
    return kOk;
}

}  // namespace gpufs
