#include "engine/probe/code_spots.h"

#include <algorithm>
#include <set>

#include "base/cat.h"
#include "base/path.h"
#include "base/sorted.h"
#include "base/text.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/ranges.h"
#include "lang/dwarf/scope.h"
#include "lang/symbols/function_name.h"
#include "lang/symbols/readable_name.h"

namespace gpufs {
namespace {

// "src/sched.c" ends with "sched.c", "my_sched.c" does not.
bool ends_with_path(std::string_view path, std::string_view end) {
    if (!path.ends_with(end)) return false;
    return path.size() == end.size() || end.starts_with('/') ||
           path[path.size() - end.size() - 1] == '/';
}

std::string whole_path(const DebugInfo::LineUnit& unit, const std::string& file) {
    return file.starts_with('/') || unit.directory.empty() ? file : cat(unit.directory, '/', file);
}

// Calls visit(row, unit) for each row whose file has a path that ends so, and for the ends of
// sequences.
template <class Visit>
void for_each_row_of(DebugInfo& info, const std::string& file, const Visit& visit) {
    for (const DebugInfo::LineUnit& unit : info.line_units()) {
        std::set<std::uint64_t> numbers;
        for (std::size_t i = 0; i < unit.files.size(); ++i)
            if (!unit.files[i].empty() && ends_with_path(whole_path(unit, unit.files[i]), file))
                numbers.insert(i);
        if (numbers.empty()) continue;
        for_each_line_row(unit.bytes, [&](const LineRow& row) {
            visit(row, !row.is_end && numbers.contains(row.file), unit);
            return true;
        });
    }
}

// The ranges of a function's code, those of an inlined copy its own.
bool is_in(const std::vector<CodeSpan>& code, std::uint64_t address) {
    return std::ranges::any_of(
        code, [&](const CodeSpan& span) { return address >= span.begin && address < span.end; });
}

template <class Visit>
void for_each_row_in(DebugInfo& info, const std::vector<CodeSpan>& code, const Visit& visit) {
    for (const DebugInfo::LineUnit& unit : info.line_units())
        for_each_line_row(unit.bytes, [&](const LineRow& row) {
            if (!row.is_end && is_in(code, row.address)) visit(row, unit);
            return true;
        });
}

// By which the linker knows a function; empty where DWARF does not say, as of C.
std::string symbol_of(const DwarfEntry& function) {
    const auto linkage = find_inherited(function, dw::AT_linkage_name);
    return std::string(linkage ? text_of(*linkage).value_or("") : "");
}

}  // namespace

CodeSpot spot_at(DebugInfo& info, std::uint64_t address) {
    CodeSpot spot{address, scopes_at(info.unit_at(address), address), "?"};
    if (const DwarfEntry function = innermost_function(spot.scopes))
        if (std::string name(name_of(function)); !name.empty()) spot.function = std::move(name);
    return spot;
}

bool has_source_file(DebugInfo& info, const std::string& file) {
    return !source_files(info, file).empty();
}

std::vector<std::string> source_files(DebugInfo& info, const std::string& file) {
    std::set<std::string> found;
    for (const DebugInfo::LineUnit& unit : info.line_units())
        for (const std::string& one : unit.files)
            if (!one.empty() && ends_with_path(whole_path(unit, one), file))
                found.insert(whole_path(unit, one));
    return {found.begin(), found.end()};
}

std::vector<CodeSpot> find_line_spots(DebugInfo& info, const std::string& file,
                                      std::uint64_t line) {
    // Of rows that follow each other, the first that begins a statement: the others are parts of
    // it.
    std::set<std::uint64_t> addresses;
    bool has_begun = false;
    for_each_row_of(info, file, [&](const LineRow& row, bool is_of_file, const auto&) {
        const bool is_it = is_of_file && row.line == line;
        if (is_it && row.is_statement && !has_begun) addresses.insert(row.address);
        has_begun = is_it && (has_begun || row.is_statement);
    });
    std::vector<CodeSpot> spots;
    for (const std::uint64_t address : addresses) {
        CodeSpot spot = spot_at(info, address);
        const bool is_known = std::ranges::any_of(spots, [&](const CodeSpot& other) {
            return other.scopes == spot.scopes && !spot.scopes.empty();
        });
        if (!is_known) spots.push_back(std::move(spot));
    }
    return spots;
}

std::vector<std::uint64_t> lines_with_code(DebugInfo& info, const std::string& file) {
    std::set<std::uint64_t> lines;
    for_each_row_of(info, file, [&](const LineRow& row, bool is_of_file, const auto&) {
        if (is_of_file && row.is_statement && row.line != 0) lines.insert(row.line);
    });
    return {lines.begin(), lines.end()};
}

std::vector<NamedFunction> find_named_functions(DebugInfo& info, const std::string& name) {
    const std::string last = name.substr(name.rfind(':') + 1);
    const ReadableName readable(name);
    const auto is_it = [&](const DwarfEntry& function) {
        const std::string symbol = symbol_of(function);
        if (readable.has_parameters()) return readable.is_of(symbol);
        if (symbol == name) return true;
        if (name_of(function) != last) return false;
        if (last == name) return true;
        const std::string whole = qualified_name(function);
        return whole == name || whole.ends_with("::" + name);
    };
    std::vector<NamedFunction> found;
    info.for_each_unit([&](const DwarfEntry& root) {
        for_each_function(root, [&](const DwarfEntry& function) {
            if (is_it(function))
                found.push_back({function, entry_address(function).value_or(0),
                                 function.tag() == dw::TAG_inlined_subroutine});
        });
        return true;
    });
    sort_stably(found, {}, &NamedFunction::address);
    return found;
}

std::string inlined_text(const std::string& name, const std::vector<NamedFunction>& functions) {
    const auto places = std::ranges::count(functions, true, &NamedFunction::is_inlined);
    if (places == 0) return {};
    return cat("'", name, "' is inlined at ", counted(static_cast<std::uint64_t>(places), "place"));
}

std::string telling_name(const DwarfEntry& function) {
    const std::string symbol = symbol_of(function), signature = function_signature(symbol);
    return signature == symbol ? qualified_name(function) : signature;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> statements_of(DebugInfo& info,
                                                                   const DwarfEntry& function) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for_each_row_in(info, code_of(function), [&](const LineRow& row, const auto&) {
        if (row.is_statement && row.line != 0) found.emplace_back(row.address, row.line);
    });
    std::ranges::sort(found);
    return found;
}

std::optional<FunctionSource> source_of(DebugInfo& info, const DwarfEntry& function) {
    const auto begin = entry_address(function);
    if (!begin) return std::nullopt;
    std::optional<FunctionSource> found;
    std::uint64_t file = 0;
    const std::uint64_t declared = number_of(function, dw::AT_decl_line).value_or(0);
    const auto code = code_of(function);
    // The rows of what is inlined in it are of other files, or of other lines of its own.
    for_each_row_in(info, code, [&](const LineRow& row, const DebugInfo::LineUnit& unit) {
        if (row.line == 0 || row.file >= unit.files.size()) return;
        const bool is_own =
            innermost_function(scopes_at(info.unit_at(row.address), row.address)) == function;
        if (!is_own) return;
        if (!found) {
            file = row.file;
            found = FunctionSource{unit.files[file], unit.directory, row.line, row.line};
        }
        if (row.file != file) return;
        found->first = std::min(found->first, row.line);
        found->last = std::max(found->last, row.line);
    });
    if (found && declared != 0 && declared < found->first) found->first = declared;
    return found;
}

std::string inlined_hint(const std::string& file, const std::string& name) {
    const auto info = DebugInfo::open(file);
    if (!info) return {};
    const auto functions = find_named_functions(*info, name);
    std::string text = inlined_text(name, functions);
    if (text.empty()) return text;
    text += ", which a probe at its line sees";
    const auto copy = std::ranges::find(functions, true, &NamedFunction::is_inlined);
    const auto source = source_of(*info, copy->entry);
    if (!source) return text;
    const std::string path(file_name(source->file));
    const auto own = std::ranges::find(functions, false, &NamedFunction::is_inlined);
    const auto own_code = own == functions.end() ? std::vector<CodeSpan>() : code_of(own->entry);
    // Its code may be merged with that of the line that calls it.
    const auto is_in_copy = [&](const CodeSpot& spot) { return !is_in(own_code, spot.address); };
    std::uint64_t line = number_of(copy->entry, dw::AT_decl_line).value_or(source->first);
    for (; line <= source->last; ++line)
        if (std::ranges::any_of(find_line_spots(*info, path, line), is_in_copy))
            return cat(text, ": ", path, ':', line);
    return text;
}

std::uint64_t behind_prologue(DebugInfo& info, const DwarfEntry& function, std::uint64_t begin) {
    std::vector<std::pair<std::uint64_t, bool>> rows;
    for_each_row_in(info, code_of(function), [&](const LineRow& row, const auto&) {
        rows.emplace_back(row.address, row.is_prologue_end);
    });
    sort_stably(rows);
    // Compilers that do not mark it begin the second row there.
    for (const auto& [address, is_end] : rows)
        if (is_end && address >= begin) return address;
    for (const auto& [address, is_end] : rows)
        if (address > begin) return address;
    return begin;
}

std::optional<SpotLine> line_of(DebugInfo& info, std::uint64_t address) {
    std::optional<SpotLine> found;
    for (const DebugInfo::LineUnit& unit : info.line_units()) {
        std::optional<LineRow> before;
        for_each_line_row(unit.bytes, [&](const LineRow& row) {
            if (before && before->address <= address && address < row.address &&
                before->file < unit.files.size()) {
                const std::string_view file = file_name(unit.files[before->file]);
                found = SpotLine{std::string(file), before->line};
            }
            if (row.is_end)
                before.reset();
            else
                before = row;
            return !found;
        });
        if (found) break;
    }
    return found;
}

}  // namespace gpufs
