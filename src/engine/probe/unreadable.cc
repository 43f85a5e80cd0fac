#include "engine/probe/unreadable.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/hex.h"
#include "lang/dwarf/scope.h"

namespace gpufs {
namespace {

// The line nearest to a spot, in its function, where it can be read.
std::optional<std::uint64_t> nearest_line(DebugInfo& info, const CodeSpot& spot,
                                          const ReadsAt& reads_at) {
    const DwarfEntry function = innermost_function(spot.scopes);
    const auto line = line_of(info, spot.address);
    if (!function || !line) return std::nullopt;
    const auto distance = [&](std::uint64_t other) {
        return other > line->line ? other - line->line : line->line - other;
    };
    std::optional<std::uint64_t> nearest;
    std::set<std::uint64_t> seen;
    for (const auto& [address, its_line] : statements_of(info, function)) {
        if (nearest && distance(its_line) >= distance(*nearest)) continue;
        const CodeSpot other = spot_at(info, address);
        if (innermost_function(other.scopes) != function || !seen.insert(address).second) continue;
        // The probe of that line must be at this very place.
        const auto file = find_line_spots(info, line->file, its_line);
        const bool is_probed = std::ranges::count(file, address, &CodeSpot::address) > 0;
        if (!is_probed) continue;
        try {
            reads_at(other);
            nearest = its_line;
        } catch (const Unreadable&) {
        }
    }
    return nearest;
}

}  // namespace

std::string spot_text(DebugInfo& info, const CodeSpot& spot) {
    const auto line = line_of(info, spot.address);
    return line ? cat(line->file, ':', line->line) : hex(spot.address);
}

void refuse_variable(DebugInfo& info, const SourceText& source, const VariablePath& path,
                     const CodeSpot& spot, const Unreadable& why, const ReadsAt& reads_at) {
    const auto line = why.is_elsewhere ? nearest_line(info, spot, reads_at) : std::nullopt;
    std::string hint = why.hint;
    if (hint.empty() && line) hint = cat("it can be read at line ", *line);
    if (!why.is_nowhere) throw SourceError(source, why.at, why.reason, hint);
    if (hint.empty()) hint = cat("it can be read at no line of '", spot.function, "'");
    throw SourceError(source, why.at,
                      cat("'", path.variable, "' is optimized out at ", spot_text(info, spot)),
                      hint);
}

}  // namespace gpufs
