#include "view/bt/map_text.h"

#include <algorithm>
#include <map>

#include "base/align.h"
#include "base/bytes.h"
#include "base/cat.h"
#include "view/bt/histogram_rows.h"
#include "view/bt/json_words.h"
#include "view/bt/time_series.h"

namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

// What is printed for one key.
struct Entry {
    Bytes key;
    std::uint64_t rank = 0;  // of its place, where values decide it
    Bytes value;
    std::size_t parts = 0;  // index into Contents::parts, instead of a value
};

struct Contents {
    std::vector<Entry> entries;
    // Of a histogram the counts of each slot, of a tseries the values of each epoch.
    std::vector<std::map<std::uint64_t, std::uint64_t>> parts;
    std::uint64_t last_epoch = 0;  // of all keys
};

bool is_ordered_by_value(const ScriptMap& map) {
    return map.value->is(Kind::integer) || map.value->is_aggregation();
}

// Where values decide the order: what it goes by.
std::uint64_t rank_of(const Type& type, Bytes value) {
    if (type.is_aggregation()) return result_of(type, value);
    return type.is(Kind::integer) ? number_of(type, value) : 0;
}

// By the count of all slots, or by the last epoch.
void add_slot(Contents& contents, Entry& entry, const ScriptMap& map, const MapElement& element,
              std::uint64_t slot) {
    auto& parts = contents.parts[entry.parts];
    const auto count = load<std::uint64_t>(element.value);
    if (map.value->is_histogram()) {
        parts[slot] += count;
        entry.rank += count;
        return;
    }
    const std::uint64_t epoch = count;
    if (epoch == 0 || epoch >> 63 != 0) return;
    parts[epoch] = rank_of(*map.value->element, element.value.subspan(sizeof epoch));
    entry.rank = std::max(entry.rank, epoch);
    contents.last_epoch = std::max(contents.last_epoch, epoch);
}

Contents gathered(const ScriptMap& map, std::span<const MapElement> elements) {
    std::map<std::string_view, std::size_t> places;
    Contents out;
    for (const MapElement& element : elements) {
        const auto [key, slot] = slot_key_of(map, element.key);
        const auto [place, is_new] = places.emplace(chars_of(key), out.entries.size());
        if (is_new) {
            out.entries.push_back({key, 0, {}, out.parts.size()});
            out.parts.emplace_back();
        }
        add_slot(out, out.entries[place->second], map, element, slot);
    }
    return out;
}

Contents values_of(const ScriptMap& map, std::span<const MapElement> elements) {
    Contents out;
    out.entries.reserve(elements.size());
    for (const MapElement& element : elements)
        out.entries.push_back({element.key, rank_of(*map.value, element.value), element.value, 0});
    return out;
}

// What is to be printed, in its order.
Contents contents_of(const ScriptMap& map, std::span<const MapElement> elements, std::size_t top) {
    Contents out = map.value->has_slots() ? gathered(map, elements) : values_of(map, elements);
    const bool by_value = is_ordered_by_value(map);
    const bool is_signed = !map.value->has_slots() && map.value->is_signed;
    std::ranges::sort(out.entries, [&](const Entry& a, const Entry& b) {
        if (by_value && a.rank != b.rank) return compare_numbers(a.rank, b.rank, is_signed) < 0;
        if (!map.key) return false;
        const auto order = compare_values(*map.key, a.key, b.key);
        return order != 0 ? order < 0 : chars_of(a.key) < chars_of(b.key);
    });
    if (top > 0 && top < out.entries.size())
        out.entries.erase(out.entries.begin(),
                          out.entries.end() - static_cast<std::ptrdiff_t>(top));
    return out;
}

// What is printed in the place of a missing value.
std::vector<std::byte> empty_value(const Type& type) {
    std::vector<std::byte> out(type.bytes);
    // Id 0 may be a stack: -1 is none.
    if (type.is(Kind::kernel_stack) || type.is(Kind::user_stack))
        std::fill_n(out.begin(), sizeof(std::int32_t), std::byte{0xff});
    return out;
}

bool is_zero_to_show(const ScriptMap& map, std::span<const MapElement> elements,
                     const MapPart& part) {
    return part.zero_if_empty && elements.empty() && !map.key && !map.value->has_slots();
}

std::string_view json_type(const ScriptMap& map) {
    if (map.value->is_histogram()) return "hist";
    if (map.value->is(Kind::tseries)) return "tseries";
    return map.value->is(Kind::stats) || map.value->is(Kind::avg) ? "stats" : "map";
}

std::string name_of(const ScriptMap& map, const MapPart& part) {
    return cat(part.program, part.program.empty() ? "" : ".", '@', map.name);
}

bool has_stack(const Type& type) {
    return type.is(Kind::kernel_stack) || type.is(Kind::user_stack) ||
           std::ranges::any_of(type.fields,
                               [](const Type::Field& field) { return has_stack(*field.type); });
}

// A key is one line, but for the frames of a stack.
void append_key(std::string& out, const Type& type, Bytes key, const ValueWriter& writer,
                Controls controls) {
    const std::size_t start = out.size();
    writer.key(out, type, key);
    if (has_stack(type))
        make_lines_printable(out, start, controls);
    else
        make_printable(out, start, controls);
}

void append_value(std::string& out, const Type& type, Bytes value, const ValueWriter& writer,
                  const MapPart& part) {
    const std::size_t start = out.size();
    writer.text(out, type, value, part.div);
    make_lines_printable(out, start, part.controls);
}

}  // namespace

SlotKey slot_key_of(const ScriptMap& map, Bytes element_key) {
    constexpr std::size_t kIndexBytes = sizeof(std::uint32_t);
    if (map.key)
        return {element_key.first(map.key->bytes),
                load<std::uint32_t>(element_key, align_up(map.key->bytes, kWord))};
    return {{}, load<std::uint32_t>(element_key, element_key.size() == kIndexBytes ? 0 : kWord)};
}

void append_map(std::string& out, const ScriptMap& map, std::span<const MapElement> elements,
                const ValueWriter& writer, MapPart part) {
    if (is_zero_to_show(map, elements, part)) {
        const std::vector<std::byte> zeros = empty_value(*map.value);
        const MapElement element{{}, zeros};
        part.zero_if_empty = false;
        return append_map(out, map, {&element, 1}, writer, std::move(part));
    }
    const Contents contents = contents_of(map, elements, part.top);
    const std::string name = name_of(map, part);
    for (const Entry& entry : contents.entries) {
        out += name;
        if (map.key) {
            out += '[';
            append_key(out, *map.key, entry.key, writer, part.controls);
            out += ']';
        }
        out += map.value->has_slots() ? ":\n" : ": ";
        if (map.value->is_histogram())
            append_rows(out, histogram_rows(*map.value, contents.parts[entry.parts], part.div,
                                            writer.is_old()));
        else if (map.value->is(Kind::tseries))
            append_series(out, *map.value,
                          series_points(*map.value, contents.parts[entry.parts],
                                        contents.last_epoch, writer.names()));
        else
            append_value(out, *map.value, entry.value, writer, part);
        out += '\n';
    }
    const bool is_average = map.value->is(Kind::avg) || map.value->is(Kind::stats);
    if (writer.is_old() && is_average && !contents.entries.empty()) out += '\n';
}

void append_map_json(std::string& out, const ScriptMap& map, std::span<const MapElement> elements,
                     const ValueWriter& writer, MapPart part) {
    if (is_zero_to_show(map, elements, part)) {
        const std::vector<std::byte> zeros = empty_value(*map.value);
        const MapElement element{{}, zeros};
        part.zero_if_empty = false;
        return append_map_json(out, map, {&element, 1}, writer, std::move(part));
    }
    const Contents contents = contents_of(map, elements, part.top);
    if (contents.entries.empty()) return;
    out += cat(R"({"type": ")", json_type(map), R"(", "data": {)", json_quote(name_of(map, part)),
               ": ");
    if (map.key) out += '{';
    bool is_first = true;
    for (const Entry& entry : contents.entries) {
        if (!is_first) out += ", ";
        is_first = false;
        if (map.key) {
            writer.json_key(out, *map.key, entry.key);
            out += ": ";
        }
        if (map.value->is_histogram())
            append_rows_json(out, histogram_rows(*map.value, contents.parts[entry.parts], part.div,
                                                 writer.is_old()));
        else if (map.value->is(Kind::tseries))
            append_series_json(out, *map.value,
                               series_points(*map.value, contents.parts[entry.parts],
                                             contents.last_epoch, writer.names()));
        else
            writer.json(out, *map.value, entry.value, part.div);
    }
    if (map.key) out += '}';
    out += "}}\n";
}

}  // namespace gpufs::bt
