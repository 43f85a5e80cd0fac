#include "view/trace/hist_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/cat.h"
#include "base/sorted.h"
#include "base/text.h"
#include "view/bars.h"
#include "view/json.h"
#include "view/table.h"

namespace gpufs {
namespace {

using Kind = HistCell::Kind;

std::string number_text(const HistColumn& column, std::uint64_t number) {
    return column.is_signed ? cat(static_cast<std::int64_t>(number)) : cat(number);
}

// Of powers of two up to and with 2^n, or of buckets of one size.
HistCell range_behind(const HistCell& range, const HistColumn& key) {
    HistCell next;
    next.from = range.to + 1;
    next.to = key.modifier == "log2" ? 2 * range.to : range.to + (next.from - range.from);
    return next;
}

// As our own histograms: [17, 33) is what is from 17 to 32.
std::string range_text(const HistCell& cell) {
    if (cell.from == cell.to) return cat('[', cell.from, ']');
    return cat('[', cell.from, ", ", cell.to + 1, ')');
}

std::string cell_text(const HistColumn& column, const HistCell& cell, Controls controls) {
    switch (cell.kind) {
        case Kind::number:
            return number_text(column, cell.number);
        case Kind::text:
            return printable(cell.text, controls);
        case Kind::numbered:
            return cat(printable(cell.text, controls), " (", cell.number, ')');
        case Kind::range:
            return range_text(cell);
        case Kind::stack:
            break;
    }
    return {};
}

std::string cell_json(const HistColumn& column, const HistCell& cell) {
    switch (cell.kind) {
        case Kind::number:
            return number_text(column, cell.number);
        case Kind::text:
            return json_quote(cell.text);
        case Kind::numbered:
            return JsonObject().text("name", cell.text).number("number", cell.number).done();
        case Kind::range:
            return JsonObject().number("from", cell.from).number("to", cell.to + 1).done();
        case Kind::stack:
            break;
    }
    JsonArray frames;
    for (const std::string& frame : cell.stack) frames.add_text(frame);
    return frames.done();
}

bool is_stack(const HistListing& listing, std::size_t key) {
    return !listing.entries.empty() && listing.entries.front().keys[key].kind == Kind::stack;
}

bool is_histogram(const HistListing& listing) {
    return !listing.entries.empty() && !listing.keys.empty() &&
           listing.entries.front().keys.back().kind == Kind::range;
}

std::uint64_t hitcount_of(const HistEntry& entry) {
    return entry.values.empty() ? 0 : entry.values.front().number;
}

std::string heading(const std::string& event, const HistListing& listing) {
    const std::string more =
        listing.dropped == 0
            ? ""
            : cat(", ", listing.dropped, " dropped: no room for their keys (size=N)");
    return cat(event, ": ", listing.trigger.to_text(), "\n", counted(listing.hits, "hit"), ", ",
               listing.entries.size(), listing.entries.size() == 1 ? " entry" : " entries", more,
               '\n');
}

std::vector<std::string> lines_below(const HistEntry& entry, Controls controls) {
    std::vector<std::string> lines;
    for (const HistCell& key : entry.keys)
        for (const std::string& frame : key.stack) lines.push_back(printable(frame, controls));
    for (const std::string& note : entry.notes) lines.push_back(printable(note, controls));
    return lines;
}

std::string table_text(const HistListing& listing, Controls controls, const Screen& screen) {
    std::vector<Table::Column> columns;
    const auto add = [&](const HistColumn& column, const auto& kind_of) {
        const bool is_number = std::ranges::all_of(listing.entries, [&](const HistEntry& entry) {
            return kind_of(entry) == Kind::number;
        });
        columns.push_back(
            {upper_case(column.name), is_number ? Table::Align::right : Table::Align::left});
    };
    for (std::size_t i = 0; i < listing.keys.size(); ++i)
        if (!is_stack(listing, i))
            add(listing.keys[i], [i](const HistEntry& entry) { return entry.keys[i].kind; });
    for (std::size_t i = 0; i < listing.values.size(); ++i)
        add(listing.values[i], [i](const HistEntry& entry) { return entry.values[i].kind; });
    Table table(std::move(columns));
    for (const HistEntry& entry : listing.entries) {
        std::vector<std::string> row;
        for (std::size_t i = 0; i < listing.keys.size(); ++i)
            if (!is_stack(listing, i))
                row.push_back(cell_text(listing.keys[i], entry.keys[i], controls));
        for (std::size_t i = 0; i < listing.values.size(); ++i)
            row.push_back(cell_text(listing.values[i], entry.values[i], controls));
        table.add(row);
        for (const std::string& line : lines_below(entry, controls))
            table.add_below(cat("        ", line, '\n'));
    }
    return table.to_text(screen);
}

// The entries that differ only in their last key.
struct HistGroup {
    std::vector<const HistEntry*> entries;
    std::uint64_t count = 0;
};

std::vector<std::pair<std::string, HistGroup>> groups_of(const HistListing& listing,
                                                         Controls controls) {
    std::vector<std::pair<std::string, HistGroup>> groups;
    std::map<std::string, std::size_t> places;
    for (const HistEntry& entry : listing.entries) {
        std::string key;
        for (std::size_t i = 0; i + 1 < listing.keys.size(); ++i) {
            if (i > 0) key += ", ";
            if (listing.keys.size() > 2) key += cat(listing.keys[i].name, ' ');
            key += cell_text(listing.keys[i], entry.keys[i], controls);
            for (const std::string& frame : entry.keys[i].stack)
                key += cat("\n        ", printable(frame, controls));
        }
        const auto [place, is_new] = places.emplace(key, groups.size());
        if (is_new) groups.push_back({key, {}});
        HistGroup& group = groups[place->second].second;
        group.entries.push_back(&entry);
        group.count += hitcount_of(entry);
    }
    sort_stably(groups,
                [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
    for (auto& [key, group] : groups)
        sort_stably(group.entries, {},
                    [](const HistEntry* entry) { return entry->keys.back().from; });
    return groups;
}

// The ranges of a group, with those between them that nothing was counted in, as far as they are
// shown.
std::vector<CountedRow> rows_of(const HistGroup& group, const HistColumn& key) {
    constexpr int kShownAsGap = 4;
    std::vector<CountedRow> rows;
    HistCell next;
    for (const HistEntry* entry : group.entries) {
        const HistCell& range = entry->keys.back();
        for (int i = 0; !rows.empty() && i < kShownAsGap && next.from < range.from; ++i) {
            rows.push_back({range_text(next), 0});
            next = range_behind(next, key);
        }
        rows.push_back({range_text(range), hitcount_of(*entry)});
        next = range_behind(range, key);
    }
    return rows;
}

std::string histograms_text(const HistListing& listing, Controls controls, const Screen& screen) {
    std::string text;
    for (const auto& [key, group] : groups_of(listing, controls)) {
        if (!text.empty()) text += '\n';
        if (!key.empty()) text += cat(key, ":\n");
        text += bars_text(rows_of(group, listing.keys.back()), listing.keys.back().name, screen);
    }
    return text;
}

template <class Columns, class Cells>
std::string object_of(const Columns& columns, const Cells& cells) {
    JsonObject object;
    for (std::size_t i = 0; i < columns.size(); ++i)
        object.raw(columns[i].name, cell_json(columns[i], cells[i]));
    return object.done();
}

}  // namespace

std::string hist_text(const std::string& event, const HistListing& listing, Controls controls,
                      const Screen& screen) {
    std::string text = heading(event, listing);
    if (listing.entries.empty()) return text;
    return text + (is_histogram(listing) ? histograms_text(listing, controls, screen)
                                         : table_text(listing, controls, screen));
}

std::string hist_json(const std::string& event, const HistListing& listing) {
    JsonArray entries;
    for (const HistEntry& entry : listing.entries) {
        JsonObject object;
        object.raw("key", object_of(listing.keys, entry.keys));
        object.raw("value", object_of(listing.values, entry.values));
        if (!entry.notes.empty()) object.raw("notes", json_texts_or_null(entry.notes));
        entries.add(object.done());
    }
    return JsonObject()
        .text("event", event)
        .text("trigger", listing.trigger.to_text())
        .number("hits", listing.hits)
        .number("dropped", listing.dropped)
        .raw("entries", entries.done())
        .done();
}

}  // namespace gpufs
