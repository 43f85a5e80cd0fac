#include "cmd/run_program.h"

#include "cmd/live.h"
#include "cmd/options.h"
#include "gpufs/base/text.h"
#include "gpufs/engine/load_linked.h"
#include "gpufs/engine/monitor.h"
#include "gpufs/engine/monitor_reader.h"
#include "gpufs/view/json.h"
#include "gpufs/view/map_text.h"
#include "gpufs/view/value_text.h"

namespace gpufs {
namespace {

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

// Returns an exit status, or a signal that ended the run as a negative number.
int run(Context& ctx, Program program, RunChoices choices) {
    LiveRun live(choices.duration);
    Monitor::Choice choice{std::move(choices.parameters), {}};
    if (!choices.condition.empty()) choice.condition = SourceText{"--if", choices.condition};
    BpfMachine machine;
    Monitor monitor = make_monitor(std::move(program), std::move(choice), machine, choices.verbose);
    if (choices.explain || choices.dry_run)
        for (const std::string& line : monitor.explanation())
            (choices.dry_run ? ctx.out : ctx.err).line(line);
    if (choices.dry_run) return kOk;
    ctx.err.flush();

    live.hold(std::move(choices.command));
    MonitorReader reader(monitor, live.stop_fd());
    monitor.attach();
    Teller teller(ctx, monitor, choices.json);
    const auto take = [&](const RecordLayout& layout, std::span<const std::byte> record) {
        teller.tell(layout, record);
    };
    live.begin();
    do {
        reader.wait(live.left());
        reader.drain(take);
        ctx.out.flush();
    } while (!live.is_over());
    monitor.run_end();
    reader.drain(take);
    teller.tell_maps();
    teller.tell_end(reader);
    monitor.detach();
    if (const std::string line = live.command_end(); !line.empty()) ctx.err.line(line);
    ctx.out.flush();
    ctx.err.flush();
    return live.finish();
}

}  // namespace

void add_run_options(Options& options, RunChoices& choices) {
    options.condition(choices.condition)
        .duration(choices.duration)
        .flag("explain", choices.explain, "say where each program runs and how, on stderr")
        .flag("dry-run", choices.dry_run, "load, and say the same; attach and run nothing")
        .json(choices.json)
        .verbose(choices.verbose);
}

int run_program(Context& ctx, Program program, RunChoices choices) {
    const int status = run(ctx, std::move(program), std::move(choices));
    if (status < 0) die_of(-status);
    return status;
}

}  // namespace gpufs
