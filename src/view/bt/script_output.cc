#include "view/bt/script_output.h"

#include <cerrno>
#include <system_error>

#include "base/cat.h"
#include "base/text.h"
#include "view/bt/json_words.h"

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

void ScriptOutput::tell(std::string_view type, std::string_view text) {
    if (form_ == Form::text) {
        out += text;
        return;
    }
    out += gpufs::cat(R"({"type": ")", type, R"(", "data": )");
    append_json_quoted(out, text);
    out += "}\n";
}

void ScriptOutput::join(std::string_view text) {
    tell("join", text);
    if (form_ == Form::text) out += '\n';
}

void ScriptOutput::value(const Type& type, Bytes bytes) {
    if (form_ == Form::text) {
        writer_.text(out, type, bytes);
        out += '\n';
        return;
    }
    out += R"({"type": "value", "data": )";
    writer_.json(out, type, bytes);
    out += "}\n";
}

void ScriptOutput::map(const ScriptMap& map, std::span<const MapElement> elements, MapPart part) {
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
        out += gpufs::cat(R"({"type": ")", is_error ? "errorf" : "warnf", R"(", "msg": )",
                          json_quote(text), place_members(place));
        return;
    }
    if (text.ends_with('\n')) text.remove_suffix(1);
    err += gpufs::cat(place.text, is_error ? ": ERROR: " : ": WARNING: ", text, '\n');
}

void ScriptOutput::helper_error(const OutputPlace& place, std::string_view helper,
                                std::int64_t code) {
    if (form_ == Form::json) {
        out += gpufs::cat(R"({"type": "helper_error", "msg": )", json_quote(code_text(code)),
                          R"(, "helper": )", json_quote(helper), R"(, "retcode": )", code,
                          place_members(place));
        return;
    }
    message(Severity::warning, place,
            gpufs::cat(helper_message(helper, code), "\nAdditional Info - helper: ", helper,
                       ", retcode: ", code));
    err += place.context;
}

void ScriptOutput::attached_probes(std::uint64_t probes) {
    if (form_ == Form::json)
        out += count_line("attached_probes", "probes", probes);
    else
        err += gpufs::cat("Attached ", counted(probes, "probe"), '\n');
}

void ScriptOutput::lost_events(std::uint64_t events) {
    if (form_ == Form::json)
        out += count_line("lost_events", "events", events);
    else
        err += gpufs::cat("Lost ", events, " events\n");
}

}  // namespace gpufs::bt
