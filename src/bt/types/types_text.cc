#include "bt/types/types_text.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "base/cat.h"

namespace gpufs::bt {
namespace {

// An expression as the script has it, in one line.
std::string words_of(const Script& script, const SourceRef& at) {
    const std::string& source = script.sources.at(at.source).text;
    std::string words;
    for (const char c : source.substr(at.span.begin, at.span.end - at.span.begin)) {
        const bool is_blank = c == ' ' || c == '\n' || c == '\t';
        if (!is_blank)
            words += c;
        else if (!words.ends_with(' '))
            words += ' ';
    }
    return words;
}

// By place, what is around in front of what is in it; what a macro was used for twice, once.
void append_expressions(std::string& text, const Script& script, const Instance& instance) {
    std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::string>> lines;
    for (const auto& [expr, type] : instance.types) {
        const bool is_literal = expr->kind == Expr::Kind::integer ||
                                expr->kind == Expr::Kind::string ||
                                expr->kind == Expr::Kind::boolean;
        const SourceRef& at = expr->at;
        const std::string words = words_of(script, at);
        const bool is_written_out = expr->kind == Expr::Kind::member && words == "args";
        if (!type || is_literal || is_written_out) continue;
        lines.emplace(at.source, at.span.begin, ~at.span.end,
                      cat("    ", words, ": ", name_of(*type), '\n'));
    }
    for (const auto& line : lines) text += std::get<std::string>(line);
}

}  // namespace

std::string types_text(const Script& script, const Typed& typed) {
    std::string text;
    for (const TypedMap& map : typed.maps) {
        const std::string key = map.key ? cat('[', name_of(*map.key), ']') : "";
        text += cat('@', map.name, key, ": ", map.value ? name_of(*map.value) : "none", ", ",
                    map.entries, map.entries == 1 ? " element\n" : " elements\n");
    }
    for (const Instance& instance : typed.instances) {
        std::string points;
        for (const AttachPoint& point : instance.points)
            points += cat(points.empty() ? "" : ", ", point.text);
        text += cat(points, '\n');
        for (const Variable& variable : instance.variables)
            text += cat("  $", variable.name, ": ",
                        variable.type ? name_of(*variable.type) : "none", '\n');
        append_expressions(text, script, instance);
    }
    return text;
}

}  // namespace gpufs::bt
