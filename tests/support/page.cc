#include <zlib.h>

#include <array>
#include <stdexcept>

#include "base/cat.h"
#include "support/json.h"
#include "support/timeline.h"

// Reads a page as its script does (src/view/page/page_data.js), from the page's text alone.
namespace gpufs::test {
namespace {

std::string from_base64(std::string_view text) {
    std::array<int, 256> digits{};
    digits.fill(-1);
    int next = 0;
    for (const char c :
         std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
        digits[static_cast<unsigned char>(c)] = next++;
    std::string bytes;
    std::uint32_t group = 0;
    int bits = 0;
    while (text.ends_with('=')) text.remove_suffix(1);
    for (const char c : text) {
        const int digit = digits[static_cast<unsigned char>(c)];
        if (digit < 0) throw std::runtime_error("no base 64");
        group = group << 6 | static_cast<std::uint32_t>(digit);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(group >> bits & 0xff);
    }
    return bytes;
}

std::string unpacked(const std::string& packed) {
    z_stream stream{};
    if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string bytes, piece(64 << 10, '\0');
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        result = ::inflate(&stream, Z_NO_FLUSH);
        bytes.append(piece, 0, piece.size() - stream.avail_out);
    }
    ::inflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("a chunk is not what zlib packs");
    return bytes;
}

// What stands between two texts, behind `from`, which is moved behind it. Empty where there is
// none.
std::string_view between(std::string_view text, std::size_t& from, std::string_view begin,
                         std::string_view end) {
    const std::size_t at = text.find(begin, from);
    const std::size_t to = at == text.npos ? at : text.find(end, at + begin.size());
    if (to == text.npos) return {};
    from = to + end.size();
    return text.substr(at + begin.size(), to - at - begin.size());
}

std::uint64_t from_zigzag(std::uint64_t value) {
    return value >> 1 ^ (0 - (value & 1));
}

// A column of a kind, of all its chunks.
struct Column {
    std::string bytes;
    std::uint64_t items = 0;
    std::size_t at = 0;
    std::uint64_t last = 0;

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes.at(at++));
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
    }
    std::int64_t signed_number() { return static_cast<std::int64_t>(from_zigzag(number())); }
    // A step from the one before.
    std::uint64_t stepped() { return last += from_zigzag(number()); }
    // 0, or such a step and 1.
    std::uint64_t sparse() {
        const std::uint64_t value = number();
        return value == 0 ? 0 : last += from_zigzag(value - 1);
    }
    std::string text(std::size_t length) {
        at += length;
        return bytes.substr(at - length, length);
    }
};

Column column_of(std::string_view page, const std::string& kind, std::size_t column) {
    Column all;
    std::string packed;
    const auto unpack = [&] {
        if (!packed.empty()) all.bytes += unpacked(from_base64(packed));
        packed.clear();
    };
    const std::string mine =
        cat(" data-kind=\"", kind, "\" data-column=\"", column, "\" data-items=\"");
    bool is_mine = false;
    for (std::size_t from = 0;;) {
        std::string_view part =
            between(page, from, "<script type=\"text/plain\" class=\"chunk\"", "</script>");
        if (part.empty()) break;
        if (!part.starts_with('>')) {
            unpack();
            is_mine = part.starts_with(mine);
            if (is_mine) all.items += std::stoull(std::string(part.substr(mine.size())));
        }
        if (is_mine) packed += part.substr(part.find('>') + 1);
    }
    unpack();
    return all;
}

// All columns of a kind.
std::vector<Column> table_of(std::string_view page, const std::string& kind, std::size_t columns) {
    std::vector<Column> table;
    for (std::size_t i = 0; i < columns; ++i) table.push_back(column_of(page, kind, i));
    return table;
}

// The page's own facts, and what is made of them.
struct Reader {
    explicit Reader(std::string_view text) : page(text) {
        std::size_t from = 0;
        facts = parse_json(std::string(
            between(text, from, "<script type=\"application/json\" id=\"facts\">", "</script>")));
        begin = std::stoull(facts["begin"].text);
        span = std::stoull(facts["span"].text);
    }
    std::string name(std::uint64_t number) const { return facts["names"].items.at(number).text; }

    ShownTimeline::Arguments arguments(Column& values, std::uint64_t at) const {
        ShownTimeline::Arguments all;
        if (at == 0) return all;
        values.at = at - 1;
        for (std::uint64_t left = values.number(); left != 0; --left) {
            const std::string key = name(values.number());
            const std::uint64_t kind = values.number();
            if (kind == 3)
                all[key] = values.text(values.number());
            else if (kind == 1)
                all[key] = std::to_string(static_cast<std::int64_t>(values.number()));
            else
                all[key] = std::to_string(values.number());
        }
        return all;
    }

    std::string_view page;
    Json facts;
    std::uint64_t begin = 0, span = 0;
};

void read_slices(const Reader& reader, ShownTimeline& shown) {
    std::vector<Column> table = table_of(reader.page, "slice", 7);
    Column values = column_of(reader.page, "slice-values", 0);
    table[1].last = reader.begin;
    for (std::uint64_t left = table[0].items; left != 0; --left) {
        ShownTimeline::Event slice;
        slice.track = table[0].number();
        slice.begin = table[1].stepped();
        const std::uint64_t duration = table[2].number();
        slice.is_open = duration == 0;
        slice.end = duration == 0 ? 0 : slice.begin + duration - 1;
        slice.name = reader.name(table[3].number());
        slice.category = reader.name(table[4].number());
        if (const std::uint64_t flow = table[5].sparse(); flow != 0) slice.flows.push_back(flow);
        slice.arguments = reader.arguments(values, table[6].sparse());
        shown.slices.push_back(std::move(slice));
    }
}

void read_instants(const Reader& reader, ShownTimeline& shown) {
    std::vector<Column> table = table_of(reader.page, "instant", 7);
    Column values = column_of(reader.page, "instant-values", 0);
    table[1].last = reader.begin;
    for (std::uint64_t left = table[0].items; left != 0; --left) {
        ShownTimeline::Event instant;
        instant.track = table[0].number();
        instant.begin = instant.end = table[1].stepped();
        instant.name = reader.name(table[2].number());
        instant.category = reader.name(table[3].number());
        if (const std::uint64_t flow = table[4].sparse(); flow != 0) instant.flows.push_back(flow);
        instant.arguments = reader.arguments(values, table[5].sparse());
        instant.repeated = table[6].number();
        shown.instants.push_back(std::move(instant));
    }
}

// Calls begin(time) where a segment begins, which steps do not cross: for each item before it is
// read.
class Segments {
public:
    Segments(const Reader& reader, std::size_t count_at) {
        for (const Json& one : reader.facts["segments"].items)
            all_.emplace_back(reader.begin + std::stoull(one.items.at(0).text),
                              std::stoull(one.items.at(count_at).text));
    }
    template <class Begin>
    void before_item(Begin&& begin) {
        while (next_ < all_.size() && left_ == 0) {
            left_ = all_[next_].second;
            begin(all_[next_++].first);
        }
        if (left_ != 0) --left_;
    }

private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;  // time and how many items
    std::size_t next_ = 0;
    std::uint64_t left_ = 0;
};

void read_switches(const Reader& reader, ShownTimeline& shown) {
    std::vector<Column> table = table_of(reader.page, "switch", 8);
    table[1].last = reader.begin;
    std::map<std::uint64_t, std::int64_t> prios;
    Segments segments(reader, 1);
    for (std::uint64_t left = table[0].items; left != 0; --left) {
        segments.before_item([&](std::uint64_t time) {
            table[1].last = time;
            prios.clear();
        });
        ShownTimeline::Switch change;
        change.cpu = static_cast<int>(table[0].number());
        change.time = table[1].stepped();
        table[2].number();  // the task that goes
        change.prev_state = table[3].signed_number();
        const std::uint64_t number = table[4].number();
        const Json& task = reader.facts["tasks"].items.at(number);
        change.next_pid = std::stoll(task.items.at(0).text);
        change.next_comm = reader.name(std::stoull(task.items.at(1).text));
        change.next_prio = prios[number] += table[5].signed_number();
        change.merged = table[6].number();
        change.busy_ns = table[7].number();
        shown.switches.push_back(change);
    }
}

void read_wakeups(const Reader& reader, ShownTimeline& shown) {
    std::vector<Column> table = table_of(reader.page, "wakeup", 5);
    table[0].last = reader.begin;
    Segments segments(reader, 2);
    for (std::uint64_t left = table[0].items; left != 0; --left) {
        segments.before_item([&](std::uint64_t time) { table[0].last = time; });
        ShownTimeline::Wakeup wakeup;
        wakeup.time = table[0].stepped();
        wakeup.cpu = static_cast<int>(table[1].number());
        const Json& task = reader.facts["tasks"].items.at(table[3].number());
        wakeup.pid = std::stoll(task.items.at(0).text);
        wakeup.comm = reader.name(std::stoull(task.items.at(1).text));
        wakeup.target_cpu = static_cast<std::int64_t>(table[4].number());
        shown.wakeups.push_back(wakeup);
    }
}

void read_values(const Reader& reader, ShownTimeline& shown) {
    std::vector<Column> table = table_of(reader.page, "count", 3);
    table[1].last = reader.begin;
    std::map<std::uint64_t, std::int64_t> values;
    for (std::uint64_t left = table[0].items; left != 0; --left) {
        ShownTimeline::Value value;
        value.track = table[0].number();
        value.time = table[1].stepped();
        value.value = values[value.track] += table[2].signed_number();
        shown.values.push_back(value);
    }
}

}  // namespace

ShownTimeline read_page(std::string_view html) {
    const Reader reader(html);
    ShownTimeline shown;
    for (const Json& one : reader.facts["tracks"].items) {
        ShownTimeline::Track track;
        const auto number = [&](std::size_t at) { return std::stoll(one.items.at(at).text); };
        track.parent = static_cast<std::uint64_t>(number(1));
        track.is_counter = number(2) == 3;
        track.name = one.items.at(3).text;
        if (number(2) == 1) {
            track.tid = static_cast<int>(number(4));
            track.pid = static_cast<int>(number(5));
        }
        shown.tracks[static_cast<std::uint64_t>(number(0))] = track;
    }
    read_slices(reader, shown);
    read_instants(reader, shown);
    read_switches(reader, shown);
    read_wakeups(reader, shown);
    read_values(reader, shown);
    return shown;
}

}  // namespace gpufs::test
