#include "cmd/probe/static_probes.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "engine/probe/static_events.h"
#include "engine/symbols/code_files.h"
#include "view/json.h"
#include "view/table.h"

namespace gpufs {
namespace {

std::string static_probe_json(const ListedStaticProbe& probe) {
    JsonArray arguments;
    for (const ListedStaticProbe::Argument& argument : probe.arguments)
        arguments.add(JsonObject()
                          .text("type", argument.type)
                          .text("note", argument.note)
                          .boolean("readable", argument.is_readable)
                          .done());
    JsonObject line;
    line.text("file", probe.file).text("provider", probe.provider).text("name", probe.name);
    line.number("places", probe.places).boolean("semaphore", probe.has_semaphore);
    line.raw("arguments", arguments.done());
    return line.done();
}

// "arg0:s32 arg1:u64", "arg1:f64?" where tracefs cannot read one.
std::string argument_types(const ListedStaticProbe& probe) {
    std::vector<std::string> types;
    for (const ListedStaticProbe::Argument& argument : probe.arguments)
        types.push_back(cat("arg", types.size(), ':',
                            argument.is_readable ? argument.type : cat('(', argument.note, ')')));
    return join(types, " ");
}

std::vector<ListedStaticProbe> find_static_probes(const StaticProbeQuestion& question) {
    std::vector<ListedStaticProbe> probes;
    for (const std::string& word : question.files) {
        const auto file = find_code_file(word);
        if (const Absent* absent = std::get_if<Absent>(&file))
            throw UsageError(absent->why, absent->hint);
        std::ranges::move(list_static_probes(std::get<std::string>(file)),
                          std::back_inserter(probes));
    }
    for (const int pid : question.pids) {
        const auto files = mapped_code_files(pid);
        if (files.empty())
            throw Error(cat("process ", pid, " has no program that this user may see"),
                        "it has ended, or it is a kernel thread or another user's");
        for (const std::string& file : files) {
            try {
                std::ranges::move(list_static_probes(file), std::back_inserter(probes));
            } catch (const Error&) {
                // Deleted since, or no ELF file: it has no notes to read.
            }
        }
    }
    return probes;
}

}  // namespace

int print_static_probes(Context& ctx, const StaticProbeQuestion& question) {
    const std::vector<ListedStaticProbe> probes = find_static_probes(question);
    if (question.json) {
        for (const ListedStaticProbe& probe : probes) ctx.out.line(static_probe_json(probe));
        return kOk;
    }
    if (probes.empty()) {
        ctx.err.line("there are no static probes in it");
        return kOk;
    }
    using Align = Table::Align;
    Table table({{"PROBE", Align::left}, {"PLACES", Align::right}, {"ARGUMENTS", Align::left}});
    for (const ListedStaticProbe& probe : probes)
        table.add({printable(cat("usdt:", probe.file, ':', probe.provider, ':', probe.name),
                             question.controls),
                   cat(probe.places), printable(argument_types(probe), question.controls)});
    ctx.out.write(table.to_text());
    return kOk;
}

}  // namespace gpufs
