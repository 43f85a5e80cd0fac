#include "view/bt/script_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/bytes.h"
#include "base/cat.h"
#include "view/bt/histogram_rows.h"
#include "view/bt/map_text.h"
#include "view/bt/stack_keys.h"
#include "view/monitor/histogram.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;
using Words = std::vector<std::byte>;

// What stands in one column of a row.
struct Cell {
    ValueType type;
    Words bytes;
};
using Row = std::vector<Cell>;

Cell word_cell(ValueType type, Bytes bytes) {
    type.bytes = bytes.size();
    return {std::move(type), {bytes.begin(), bytes.end()}};
}

Cell text_cell(std::string_view text) {
    ValueType type;
    type.kind = ValueType::Kind::text;
    const auto bytes = std::as_bytes(std::span(text));
    Cell cell{type, {bytes.begin(), bytes.end()}};
    cell.bytes.emplace_back();
    return cell;
}

Cell count_cell(std::uint64_t count) {
    return word_cell({}, bytes_of(count));
}

// What has a column for each member: the bytes of all rows take those of the widest.
class Columns {
public:
    void name(std::string name) {
        const std::string stem = name;
        for (int i = 2; std::ranges::count(names_, name) != 0; ++i) name = cat(stem, i);
        names_.push_back(std::move(name));
    }
    void add(Row row) { rows_.push_back(std::move(row)); }

    Layout layout() const {
        Layout layout;
        for (std::size_t i = 0; !rows_.empty() && i < rows_.front().size(); ++i) {
            ValueType type = rows_.front()[i].type;
            type.bytes = 0;
            for (const Row& row : rows_) type.bytes = std::max(type.bytes, row[i].bytes.size());
            const bool is_own = type.kind == ValueType::Kind::process;
            layout.add(is_own ? "pid" : i < names_.size() ? names_[i] : cat("key", i), type);
        }
        return layout;
    }
    Words bytes(const Layout& layout, std::size_t row) const {
        Words bytes(layout.bytes);
        for (std::size_t i = 0; i < rows_[row].size(); ++i)
            std::ranges::copy(rows_[row][i].bytes, bytes.begin() + static_cast<std::ptrdiff_t>(
                                                                       layout.members[i].offset));
        return bytes;
    }

private:
    std::vector<std::string> names_;
    std::vector<Row> rows_;
};

bool is_data(const ScriptMap& map) {
    return !map.value->is_aggregation();
}

// A value's cells: of a stack of a process that process, too.
void append_cells(Row& row, const Type& type, Bytes bytes, const RunningPart& part,
                  const ValueWriter& writer) {
    ValueType made;
    if (type.is(Kind::integer)) {
        made.is_signed = type.is_signed;
        made.words = type.words;
        row.push_back(word_cell(std::move(made), bytes.first(type.bytes)));
        return;
    }
    if (type.is(Kind::kernel_stack) || type.is(Kind::user_stack)) {
        made.is_signed = true;
        made.stack_map = part.name_in_whole(type.map);
        made.most_frames = type.frames;
        made.kind = ValueType::Kind::kernel_stack;
        if (type.is(Kind::user_stack)) {
            ValueType process;
            process.kind = ValueType::Kind::process;
            row.push_back(word_cell(process, bytes.subspan(sizeof(std::int32_t), 4)));
            made.kind = ValueType::Kind::user_stack;
        }
        row.push_back(word_cell(std::move(made), bytes.first(sizeof(std::int32_t))));
        return;
    }
    std::string text;
    writer.text(text, type, bytes);
    row.push_back(text_cell(text));
}

// The counts of a histogram's slots, by key.
std::map<Words, SlotCounts> histograms_of(const ScriptMap& map, const MapEntries& entries) {
    std::map<Words, SlotCounts> all;
    for (const MapEntry& entry : entries) {
        const auto [key, slot] = slot_key_of(map, entry.key);
        all[{key.begin(), key.end()}][slot] += entry.words[0];
    }
    return all;
}

Row percentiles_of(const Type& type, const SlotCounts& counts) {
    const std::vector<HistogramRow> rows = histogram_rows(type, counts);
    std::uint64_t all = 0;
    for (const HistogramRow& row : rows) all += row.count;
    Row cells{count_cell(all)};
    for (const Percentile& one : kPercentiles) {
        const std::uint64_t rank = percentile_rank(all, one.per_mille);
        std::uint64_t below = 0;
        const auto found = std::ranges::find_if(
            rows, [&](const HistogramRow& row) { return (below += row.count) >= rank; });
        cells.push_back(text_cell(found == rows.end() ? "" : found->label));
    }
    return cells;
}

}  // namespace

std::vector<std::string> ScriptTables::kept_maps() const {
    std::vector<std::string> maps;
    if (!shows_maps()) return maps;
    for (const ScriptMap& map : script_.maps)
        if (is_data(map) || map.value->is(Kind::tseries))
            maps.push_back(part_.name_in_whole(cat('@', map.name)));
    return maps;
}

const ScriptMap* ScriptTables::find(std::string_view map) const {
    const auto found = std::ranges::find_if(script_.maps, [&](const ScriptMap& one) {
        return part_.name_in_whole(cat('@', one.name)) == map;
    });
    return found == script_.maps.end() ? nullptr : &*found;
}

// Entries whose kernel stacks show the same are one.
MapEntries ScriptTables::united(const ScriptMap& map, MapEntries entries) const {
    StackKeys stacks(map, writer_.names());
    if (!stacks.are_united()) return entries;
    const Aggregation& how = part_.program().find_map(cat('@', map.name))->aggregation;
    MapEntries all(entries.key_bytes(), entries.word_count());
    std::map<Words, std::size_t> places;
    for (const MapEntry& entry : entries) {
        Words key = stacks.united(entry.key);
        const auto [place, is_new] = places.try_emplace(key, all.size());
        if (is_new) all.add(key);
        if (map.value->is_histogram())
            all.words(place->second)[0] += entry.words[0];
        else if (is_data(map))
            all.values(place->second).assign(entry.values.begin(), entry.values.end());
        else
            merge_words(how, entry.words, all.words(place->second));
    }
    return all;
}

ScriptTables::Table ScriptTables::table(const ScriptMap& map, MapEntries entries) {
    const MapDeclaration& declared = *part_.program().find_map(cat('@', map.name));
    MapDeclaration& made = made_[map.name];
    made = MapDeclaration();
    made.name = part_.name_in_whole(declared.name);
    made.aggregation = declared.aggregation;
    made.value = declared.value;
    made.max_entries = declared.max_entries;
    // As a map of one element without a key is declared in a .bpf text.
    if (!map.key) made.type = BPF_MAP_TYPE_ARRAY;

    if (entries.empty() && map.is_always_there && is_data(map))
        entries.values(entries.add(Words(entries.key_bytes()))) = {
            Words(align_up(map.value->bytes, kWord))};
    entries = united(map, std::move(entries));
    std::map<Words, SlotCounts> histograms;
    if (map.value->is_histogram()) {
        histograms = histograms_of(map, entries);
        entries = MapEntries(map.key ? map.key->bytes : 0, 0);
        for (const auto& [key, counts] : histograms) entries.add(key);
    }
    Columns keys, values;
    for (const std::string& name : map.key_names) keys.name(name);
    if (map.value->is_histogram()) {
        values.name("count");
        for (const Percentile& one : kPercentiles) values.name(std::string(one.name));
    } else {
        values.name("value");
    }
    for (const MapEntry& entry : entries) {
        Row key, value;
        for (std::size_t i = 0; i < map.keys.size(); ++i) {
            const std::size_t at = map.keys.size() > 1 ? map.key->fields[i].offset : 0;
            append_cells(key, *map.keys[i], entry.key.subspan(at), part_, writer_);
        }
        if (map.value->is_histogram())
            value = percentiles_of(*map.value, histograms.at({entry.key.begin(), entry.key.end()}));
        else if (is_data(map))
            append_cells(value, *map.value, entry.values[0], part_, writer_);
        keys.add(std::move(key));
        values.add(std::move(value));
    }
    if (map.key) made.key = keys.layout();
    if (map.value->is_histogram() || is_data(map)) {
        made.aggregation = {};
        made.value = values.layout();
    }
    Table table;
    table.map = &made;
    const bool is_data_now = made.aggregation.kind == Aggregation::Kind::none;
    table.entries = MapEntries(made.key.bytes, is_data_now ? 0 : entries.word_count());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        table.entries.add(keys.bytes(made.key, i));
        if (is_data_now)
            table.entries.values(i) = {values.bytes(made.value, i)};
        else
            std::ranges::copy(entries[i].words, table.entries.words(i).begin());
    }
    table.report.title = table.report.map = made.name;
    if (is_data_now) table.report.sort = "value";
    return table;
}

std::string ScriptTables::picture(const ScriptMap& map, const MapEntries& entries,
                                  bool is_json) const {
    const MapEntries shown = united(map, entries);
    std::vector<MapElement> elements;
    for (const MapEntry& entry : shown)
        elements.push_back({entry.key, map.value->is(Kind::tseries) ? Bytes(entry.values[0])
                                                                    : std::as_bytes(entry.words)});
    MapPart all;
    all.program = part_.program().name;
    all.controls = controls_;
    std::string text;
    if (is_json)
        append_map_json(text, map, elements, writer_, all);
    else
        append_map(text, map, elements, writer_, all);
    // Behind a picture is an empty line.
    if (text.ends_with("\n\n")) text.pop_back();
    return text;
}

}  // namespace gpufs::bt
