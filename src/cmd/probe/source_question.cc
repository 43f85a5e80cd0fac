#include "cmd/probe/source_question.h"

#include "base/error.h"
#include "base/hex.h"
#include "base/text.h"
#include "engine/probe/code_spots.h"
#include "engine/probe/found_place.h"
#include "engine/probe/source_events.h"
#include "engine/probe/source_listing.h"
#include "engine/probe/variable_fetch.h"
#include "lang/probe/definition.h"
#include "view/json.h"
#include "view/table.h"

namespace gpufs {
namespace {

using Align = Table::Align;

std::string variable_json(const CodeSpot& spot, const std::string& place,
                          const ListedVariable& one) {
    return JsonObject()
        .text("place", place)
        .text("address", hex(spot.address))
        .text("function", spot.function)
        .text("name", one.name)
        .text("type", one.c_type)
        .text("scope", one.scope)
        .text("where", one.place)
        .text_or_null("fetch", one.fetch)
        .text_or_null("trouble", one.trouble)
        .text_or_null("program", one.program)
        .done();
}

std::string way_of(const ListedVariable& one) {
    if (!one.fetch.empty()) return one.fetch;
    return one.program.empty() ? cat("- (", one.trouble, ')') : cat("by programs: ", one.program);
}

std::string variables_table(const std::vector<ListedVariable>& variables, Controls controls) {
    Table table({{"NAME", Align::left},
                 {"TYPE", Align::left},
                 {"SCOPE", Align::left},
                 {"WHERE", Align::left},
                 {"READ AS", Align::left}});
    for (const ListedVariable& one : variables)
        table.add({printable(one.name, controls), printable(one.c_type, controls), one.scope,
                   one.place, way_of(one)});
    return table.to_text();
}

}  // namespace

int list_place_variables(Context& ctx, const SourceQuestion& question) {
    if (question.words.size() != 1)
        throw UsageError("vars needs a place", "gpufs probe vars -x FILE SOURCE:LINE, or FUNCTION");
    const SourceText source{"probe", question.words.front()};
    const Span whole{0, source.text.size()};
    ProbePlace place =
        parse_probe_place(source, whole, source.text, names_code_file, question.file.value_or(""));
    const bool is_code =
        place.kind == ProbePlace::Kind::in_file || place.kind == ProbePlace::Kind::source_line;
    if (!is_code)
        throw SourceError(source, whole, "variables are those of a program or library",
                          "-x FILE names it");
    const auto info =
        require_debug_info(source, whole, require_code_file(source, whole, place.file));
    std::vector<std::string> notes;
    for (const CodeSpot& spot : find_spots(*info, source, whole, place, true, notes)) {
        const auto line = line_of(*info, spot.address);
        const std::string where = line ? cat(line->file, ':', line->line) : hex(spot.address);
        const auto variables = list_variables(*info, spot, question.globals);
        if (question.json) {
            for (const ListedVariable& one : variables)
                ctx.out.line(variable_json(spot, where, one));
            continue;
        }
        ctx.out.line(printable(cat(where, " in ", spot.function, ", at ", hex(spot.address)),
                               question.controls));
        if (variables.empty())
            ctx.out.line("no variables");
        else
            ctx.out.write(variables_table(variables, question.controls));
    }
    for (const std::string& note : notes) ctx.err.line(note);
    for (const std::string& name : info->missing())
        ctx.err.line(cat("debug information is missing: there is no '", name, "'"));
    return kOk;
}

int list_source_lines(Context& ctx, const SourceQuestion& question) {
    if (question.words.size() != 1 || !question.file)
        throw UsageError("lines needs a file and a function or source file of it",
                         "gpufs probe lines -x FILE FUNCTION");
    const SourceText source{"probe", question.words.front()};
    const Span whole{0, source.text.size()};
    const auto info =
        require_debug_info(source, whole, require_code_file(source, whole, *question.file));
    for (const SourceListing& listing : list_source(*info, source, whole, source.text)) {
        if (question.json) {
            for (const SourceListing::Line& line : listing.lines)
                ctx.out.line(JsonObject()
                                 .text("file", listing.path)
                                 .text_or_null("function", listing.function)
                                 .number("line", line.number)
                                 .boolean("probe", line.can_probe)
                                 .text("text", line.text)
                                 .done());
            continue;
        }
        ctx.out.line(printable(
            listing.function.empty() ? listing.path : cat(listing.function, " in ", listing.path),
            question.controls));
        std::string text;
        for (const SourceListing::Line& line : listing.lines) {
            const std::string number = cat(line.number);
            text +=
                cat(std::string(number.size() < 6 ? 6 - number.size() : 0, ' '), number,
                    line.can_probe ? " * " : "   ", printable(line.text, question.controls), '\n');
        }
        ctx.out.write(text);
        if (!listing.has_text) ctx.err.line(cat("the source file is not here: ", listing.path));
    }
    return kOk;
}

}  // namespace gpufs
