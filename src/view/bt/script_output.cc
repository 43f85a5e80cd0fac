#include "view/bt/script_output.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/cat.h"
#include "base/text.h"
#include "view/bt/json_words.h"
#include "view/losses.h"

namespace gpufs::bt {

namespace {

std::string code_text(std::int64_t code) {
    return std::generic_category().message(static_cast<int>(-code));
}

// What went wrong in a helper, with what to do about it.
std::string helper_message(std::string_view helper, std::int64_t code) {
    if (helper == "map_update_elem" && code == -E2BIG)
        return "Map full; can't update element. Try increasing max_map_keys config or manually "
               "setting the max entries in a map declaration e.g. `let @a = hash(5000)`";
    if (helper == "map_delete_elem" && code == -ENOENT)
        return "Can't delete map element because it does not exist.";
    if (helper == "map_lookup_elem") return "Can't lookup map element because it does not exist.";
    return code_text(code);
}

// {"type": "attached_probes", "count": 2, "data": {"probes": 2}}
std::string count_line(std::string_view type, std::string_view what, std::uint64_t count) {
    return gpufs::cat(R"({"type": ")", type, R"(", "count": )", count, R"(, "data": {")", what,
                      R"(": )", count, "}}\n");
}

std::string place_members(const OutputPlace& place) {
    return gpufs::cat(R"(, "filename": )", json_quote(place.file), R"(, "line": )", place.line,
                      R"(, "col": )", place.column, "}\n");
}

}  // namespace

// A script's lines may come in pieces.
void ScriptOutput::add(std::string_view text) {
    if (program_.empty()) {
        out += text;
        return;
    }
    while (!text.empty()) {
        if (!is_in_line_) out += gpufs::cat(program_, ": ");
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        out += text.substr(0, end);
        is_in_line_ = text[end - 1] != '\n';
        text.remove_prefix(end);
    }
}

std::string ScriptOutput::type_member(std::string_view type) const {
    const std::string program =
        program_.empty() ? "" : gpufs::cat(R"("program": )", json_quote(program_), ", ");
    return gpufs::cat('{', program, R"("type": ")", type, '"');
}

void ScriptOutput::tell(std::string_view type, std::string_view text) {
    if (form_ == Form::text) return add(text);
    out += gpufs::cat(type_member(type), R"(, "data": )");
    append_json_quoted(out, text);
    out += "}\n";
}

void ScriptOutput::join(std::string_view text) {
    tell("join", printable_lines(text, controls_));
    if (form_ == Form::text) add("\n");
}

void ScriptOutput::value(const SentValue& value, Bytes bytes) {
    if (form_ == Form::text) {
        std::string text;
        writer_.text(text, *value.type, bytes);
        make_lines_printable(text, 0, value.is_own ? Controls::raw : controls_);
        return add(gpufs::cat(text, '\n'));
    }
    out += gpufs::cat(type_member("value"), R"(, "data": )");
    writer_.json(out, *value.type, bytes);
    out += "}\n";
}

void ScriptOutput::map(const ScriptMap& map, std::span<const MapElement> elements, MapPart part) {
    part.program = program_;
    part.controls = controls_;
    if (form_ == Form::text)
        append_map(out, map, elements, writer_, part);
    else
        append_map_json(out, map, elements, writer_, part);
}

void ScriptOutput::end_of_run() {
    if (form_ == Form::text) out += "\n\n";
}

void ScriptOutput::message(Severity severity, const OutputPlace& place, std::string_view text) {
    const bool is_error = severity == Severity::error;
    if (form_ == Form::json) {
        out += gpufs::cat(type_member(is_error ? "errorf" : "warnf"), R"(, "msg": )",
                          json_quote(text), place_members(place));
        return;
    }
    if (text.ends_with('\n')) text.remove_suffix(1);
    err += gpufs::cat(place.text, is_error ? ": ERROR: " : ": WARNING: ", text, '\n');
}

void ScriptOutput::expanded_from(Severity severity, const OutputPlace& use) {
    if (form_ == Form::json) return;
    message(severity, use, "expanded from");
    err += use.context;
}

void ScriptOutput::helper_error(const OutputPlace& place, std::string_view helper,
                                std::int64_t code) {
    if (writer_.is_old()) return old_helper_error(place, helper, code);
    if (form_ == Form::json) {
        out += gpufs::cat(type_member("helper_error"), R"(, "msg": )", json_quote(code_text(code)),
                          R"(, "helper": )", json_quote(helper), R"(, "retcode": )", code,
                          place_members(place));
        return;
    }
    message(Severity::warning, place,
            gpufs::cat(helper_message(helper, code), "\nAdditional Info - helper: ", helper,
                       ", retcode: ", code));
    err += place.context;
}

void ScriptOutput::old_helper_error(const OutputPlace& place, std::string_view helper,
                                    std::int64_t code) {
    if (form_ == Form::json) {
        out += gpufs::cat(R"({"type": "helper_error", "helper": )", json_quote(helper),
                          R"(, "retcode": )", code, R"(, "line": )", place.line, R"(, "col": )",
                          place.column, "}\n");
        return;
    }
    // Of a lookup there is no error but that nothing is there.
    message(Severity::warning, place,
            gpufs::cat("Failed to ", helper, ": ",
                       code == 0 ? "0" : gpufs::cat(code_text(code), " (", code, ')')));
    err += place.context;
}

std::string ScriptOutput::attaching(std::uint64_t probes) {
    return gpufs::cat("Attaching ", counted(probes, "probe"), "...");
}

void ScriptOutput::attached_probes(std::uint64_t probes) {
    if (form_ == Form::json)
        out += count_line("attached_probes", "probes", probes);
    else if (!writer_.is_old())
        err += gpufs::cat("Attached ", counted(probes, "probe"), '\n');
}

void ScriptOutput::losses(const LossLedger& losses, std::span<const Tally> tallies) {
    const bool is_complete = losses.is_complete();
    if (form_ == Form::json && !is_complete)
        out += count_line("lost_events", "events", losses.total().least);
    const auto is_zero = [](const Tally& tally) { return tally.count == 0; };
    if (!is_complete || !std::ranges::all_of(tallies, is_zero))
        err += end_text(losses, tallies) + '\n';
}

}  // namespace gpufs::bt
