#include "engine/probe/source_listing.h"

#include <algorithm>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/probe/code_spots.h"
#include "kernel/host/root_directory.h"
#include "lang/dwarf/scope.h"

namespace gpufs {
namespace {

std::string below(const std::string& directory, const std::string& file) {
    return file.starts_with('/') || directory.empty() ? file : cat(directory, '/', file);
}

// The file is named by the program that is looked at: neither devices nor pipes are read.
std::optional<std::string> source_text(const std::string& path) {
    constexpr std::size_t kMost = 64 << 20;
    const Fd file = RootDirectory().open(path);
    return file ? std::optional(read_all(file.get(), path, kMost)) : std::nullopt;
}

// Fills in the lines from `first` to `last`; `probed` are those with code.
void take_lines(SourceListing& listing, std::uint64_t first, std::uint64_t last,
                const std::set<std::uint64_t>& probed) {
    const auto text = source_text(listing.path);
    listing.has_text = text.has_value();
    if (!text) {
        for (const std::uint64_t line : probed) listing.lines.push_back({line, "", true});
        return;
    }
    std::uint64_t number = 0;
    for (const std::string_view line : lines_of(*text)) {
        ++number;
        if (number < first || number > last) continue;
        listing.lines.push_back({number, std::string(line), probed.contains(number)});
    }
}

}  // namespace

std::vector<SourceListing> list_source(DebugInfo& info, const SourceText& source, Span at,
                                       const std::string& name) {
    std::vector<SourceListing> listings;
    if (const auto files = source_files(info, name); !files.empty()) {
        for (const std::string& file : files) {
            const auto lines = lines_with_code(info, file);
            SourceListing listing{file, "", false, {}};
            if (lines.empty()) continue;
            take_lines(listing, 1, ~std::uint64_t{0}, {lines.begin(), lines.end()});
            listings.push_back(std::move(listing));
        }
        return listings;
    }
    for (const NamedFunction& function : find_named_functions(info, name)) {
        const auto written = source_of(info, function.entry);
        if (!written) continue;
        SourceListing listing{
            below(written->directory, written->file), qualified_name(function.entry), false, {}};
        const bool is_known = std::ranges::any_of(listings, [&](const SourceListing& other) {
            return other.path == listing.path && other.function == listing.function;
        });
        if (is_known) continue;
        std::set<std::uint64_t> lines;
        for (const std::uint64_t line : lines_with_code(info, listing.path))
            if (line >= written->first && line <= written->last) lines.insert(line);
        take_lines(listing, written->first, written->last, lines);
        listings.push_back(std::move(listing));
    }
    if (!listings.empty()) return listings;
    std::set<std::string> names;
    info.for_each_unit([&](const DwarfEntry& root) {
        for_each_function(root,
                          [&](const DwarfEntry& function) { names.emplace(name_of(function)); });
        return true;
    });
    throw SourceError(
        source, at,
        cat("'", info.path(), "' is made of no source file '", name, "' and has no such function"),
        did_you_mean(name, std::vector<std::string>(names.begin(), names.end())));
}

}  // namespace gpufs
