#include <algorithm>
#include <chrono>

#include "cmd/command.h"
#include "cmd/live.h"
#include "cmd/options.h"
#include "gpufs/base/text.h"
#include "gpufs/base/units.h"
#include "gpufs/engine/load_linked.h"
#include "gpufs/engine/monitor.h"
#include "gpufs/engine/monitor_files.h"
#include "gpufs/engine/monitor_reader.h"
#include "gpufs/engine/trusted_files.h"
#include "gpufs/lang/assembler.h"
#include "gpufs/lang/program_arguments.h"
#include "gpufs/view/json.h"
#include "gpufs/view/map_text.h"
#include "gpufs/view/value_text.h"

namespace gpufs {
namespace {

using Clock = std::chrono::steady_clock;

struct Choices {
    std::vector<std::string> words;    // NAME|FILE and name=value
    std::vector<std::string> command;  // behind --
    std::string condition;
    std::optional<std::string> duration;
    bool dry_run = false, explain = false, json = false, verbose = false;
};

Program load_program_text(const std::string& name) {
    return assemble(load_monitor(name, read_trusted),
                    [](std::string_view file, const SourceText& from) {
                        return load_included(file, from, read_trusted);
                    });
}

void print_list(Context& ctx) {
    const std::vector<std::string> names = list_monitors();
    std::size_t width = 0;
    for (const std::string& name : names) width = std::max(width, name.size());
    for (const std::string& name : names) {
        std::string about;
        try {
            const Program program = load_program_text(name);
            about = program.summary + '\n' + parameters_text(program);
        } catch (const Error& e) {
            about = cat("(cannot be used: ", lines_of(e.what()).front(), ")\n");
        }
        ctx.out.write(cat(name, std::string(width + 2 - name.size(), ' '), about));
    }
}

// What came out, as text or as a JSON line each.
class Teller {
public:
    Teller(Context& ctx, const Monitor& monitor, bool is_json)
        : ctx_(ctx), monitor_(monitor), is_json_(is_json) {}

    void tell(const RecordLayout& layout, std::span<const std::byte> record) {
        ++records_;
        const std::string& name = layout.title.empty() ? layout.name : layout.title;
        if (is_json_)
            ctx_.out.line(JsonObject()
                              .text("record", layout.name)
                              .raw("values", values_json(layout.layout, record, "id"))
                              .done());
        else
            ctx_.out.line(cat(name, ' ', values_text(layout.layout, record, "id")));
    }

    void tell_maps() {
        for (const MapDeclaration& map : monitor_.program().maps) {
            if (map.aggregation.kind == Aggregation::Kind::none) continue;
            const std::vector<MapEntry> entries = read_map(monitor_, map.name);
            if (is_json_)
                ctx_.out.line(map_json(map, entries));
            else
                ctx_.out.write(map_text(map, entries));
        }
    }

    void tell_end(const MonitorReader& reader) {
        const std::uint64_t missed = monitor_.missed();
        if (is_json_) {
            ctx_.out.line(JsonObject()
                              .raw("summary", JsonObject()
                                                  .number("records", records_)
                                                  .number("lost", reader.lost())
                                                  .number("missed", missed)
                                                  .number("unknown", reader.unknown())
                                                  .done())
                              .done());
            return;
        }
        std::string line = counted(static_cast<std::size_t>(records_), "record");
        line += cat(", ", reader.lost(), " lost");
        if (missed != 0) line += cat(", ", missed, " hits missed by the kernel");
        if (reader.unknown() != 0) line += cat(", ", reader.unknown(), " of no declared layout");
        ctx_.err.line(line);
    }

private:
    Context& ctx_;
    const Monitor& monitor_;
    bool is_json_;
    std::uint64_t records_ = 0;
};

// A refused program shows the verifier's line; with -v the whole log.
Monitor make_monitor(Program program, Monitor::Choice choice, BpfMachine& machine,
                     bool verbose) try {
    return {std::move(program), std::move(choice), machine};
} catch (const RefusedProgram& e) {
    throw Error(e.what(), verbose ? "" : "-v shows the verifier's whole log",
                verbose ? e.log() : e.evidence());
}

int run_monitor(Context& ctx, const Choices& choices) {
    const auto limit = choices.duration ? parse_duration("--duration", *choices.duration)
                                        : std::chrono::nanoseconds(std::chrono::hours(24 * 365));
    Program program = load_program_text(choices.words[0]);
    Monitor::Choice choice;
    choice.parameters = parse_program_arguments(program, std::span(choices.words).subspan(1));
    if (!choices.condition.empty()) choice.condition = SourceText{"--if", choices.condition};

    StopSignals signals;
    BpfMachine machine;
    Monitor monitor = make_monitor(std::move(program), std::move(choice), machine, choices.verbose);
    if (choices.explain || choices.dry_run)
        for (const std::string& line : monitor.explanation())
            (choices.dry_run ? ctx.out : ctx.err).line(line);
    if (choices.dry_run) return kOk;
    ctx.err.flush();

    MonitorReader reader(monitor);
    std::optional<HeldCommand> command;
    if (!choices.command.empty()) command.emplace(choices.command);
    const Stops stops(signals, command ? &*command : nullptr);
    monitor.attach();
    Teller teller(ctx, monitor, choices.json);
    const auto take = [&](const RecordLayout& layout, std::span<const std::byte> record) {
        teller.tell(layout, record);
    };
    const auto begin = Clock::now();
    if (command) command->release();
    int signal = 0;
    std::optional<int> status;
    for (;;) {
        constexpr std::chrono::milliseconds kLongest{60'000};
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(begin + limit - Clock::now());
        if (left.count() > 0) reader.wait(stops.fd(), std::min(left, kLongest));
        reader.drain(take);
        ctx.out.flush();
        if (command) status = command->ended();
        signal = signals.take();
        if (left.count() <= 0 || signal != 0 || status) break;
    }
    monitor.run_end();
    reader.drain(take);
    teller.tell_maps();
    teller.tell_end(reader);
    monitor.detach();
    if (status) ctx.err.line(end_text(*command, *status));
    ctx.out.flush();
    ctx.err.flush();
    if (signal != 0) {
        command.reset();
        return -signal;
    }
    return kOk;
}

}  // namespace

int cmd_run(Context& ctx, Args args) {
    Choices choices;
    Options options(
        "run NAME|FILE [name=value…] [--if EXPR] [--duration T] [-- COMMAND]",
        "Runs a monitor: the BPF programs of a .bpf file, one that is shipped or your own. Prints\n"
        "their records as they come, and what their maps counted at the end: at Ctrl-C, after\n"
        "--duration, or with the COMMAND. Without NAME lists what is shipped.");
    options.condition(choices.condition)
        .duration(choices.duration)
        .flag("explain", choices.explain, "say where each program runs and how, on stderr")
        .flag("dry-run", choices.dry_run, "load, and say the same; attach and run nothing")
        .json(choices.json)
        .verbose(choices.verbose);
    choices.command = take_command(args);
    if (!options.parse(ctx, args, choices.words)) return kOk;
    if (choices.words.empty()) {
        print_list(ctx);
        return kOk;
    }
    const int result = run_monitor(ctx, choices);
    if (result < 0) die_of(-result);
    return result;
}

}  // namespace gpufs
