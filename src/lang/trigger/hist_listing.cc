#include "lang/trigger/hist_listing.h"

#include <algorithm>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::string_view kInfo = "# trigger info: ";
// Linux 6.3 and later show the second name.
constexpr std::string_view kStack = "stacktrace", kNewStack = "common_stacktrace";

// "keys" or "vals" of a trigger's argument.
std::vector<HistColumn> columns_of(std::string_view argument, std::string_view part) {
    std::vector<HistColumn> columns;
    for (const std::string_view one : split(argument, ':')) {
        if (!one.starts_with(part) || one.substr(part.size(), 1) != "=") continue;
        for (const std::string_view term : split(one.substr(part.size() + 1), ',')) {
            const auto dot = term.find('.');
            columns.push_back({std::string(term.substr(0, dot)),
                               dot == term.npos ? "" : std::string(term.substr(dot + 1))});
        }
    }
    return columns;
}

// "~ 2^5" is what is above 16 and not above 32; "~ 100-199".
HistCell range_cell(std::string_view text) {
    HistCell cell;
    cell.kind = HistCell::Kind::range;
    Scan scan(text);
    scan.take("~ ");
    if (scan.take("2^")) {
        const unsigned power = std::min(scan.take_number<unsigned>().value_or(0), 63U);
        cell.to = std::uint64_t{1} << power;
        // The kernel counts 0 with 1.
        cell.from = power == 0 ? 0 : cell.to / 2 + 1;
        return cell;
    }
    cell.from = scan.take_number<std::uint64_t>().value_or(0);
    scan.take("-");
    cell.to = scan.take_number<std::uint64_t>().value_or(cell.from);
    return cell;
}

// "bash            [       123]", "sys_read                      [  0]".
HistCell numbered_cell(std::string_view text) {
    HistCell cell;
    cell.kind = HistCell::Kind::numbered;
    const auto open = text.rfind('[');
    cell.text = trim(text.substr(0, open));
    if (open == text.npos) return cell;
    Scan scan(trim(text.substr(open + 1)));
    cell.number = scan.take_number<std::uint64_t>().value_or(0);
    return cell;
}

// "[ffffffff81243a59] tracing_map_init": the function.
HistCell symbol_cell(std::string_view text) {
    HistCell cell;
    cell.kind = HistCell::Kind::text;
    const auto close = text.starts_with('[') ? text.find("] ") : text.npos;
    cell.text = trim(close == text.npos ? text : text.substr(close + 2));
    return cell;
}

HistCell cell_of(std::string_view text, std::string_view modifier) {
    text = trim(text);
    if (modifier == "log2" || modifier.starts_with("buckets")) return range_cell(text);
    if (modifier == "execname" || modifier == "syscall") return numbered_cell(text);
    if (modifier == "sym" || modifier == "sym-offset") return symbol_cell(text);
    HistCell cell;
    cell.text = modifier == "hex" ? cat("0x", text) : std::string(text);
    Scan scan(text);
    const auto number = scan.take_number<std::uint64_t>();
    if (number && scan.at_end() && modifier != "hex")
        cell.number = *number;
    else
        cell.kind = HistCell::Kind::text;
    return cell;
}

bool is_stack(const HistColumn& key) {
    return key.name == kStack || key.name == kNewStack || key.modifier == "stacktrace";
}

class ListingParser {
public:
    explicit ListingParser(std::string_view text) : lines_(lines_of(text)) {}

    std::vector<HistListing> parse() {
        while (at_ < lines_.size()) {
            const std::string_view line = lines_[at_];
            if (line.starts_with(kInfo))
                begin(line.substr(kInfo.size()));
            else if (!all_.empty())
                part(line);
            ++at_;
        }
        // One name, whatever the kernel calls it.
        for (HistListing& listing : all_)
            for (HistColumn& key : listing.keys)
                if (key.name == kNewStack) key.name = kStack;
        return std::move(all_);
    }

private:
    void begin(std::string_view info) {
        HistListing& listing = all_.emplace_back();
        listing.trigger = parse_trigger(info);
        listing.keys = columns_of(listing.trigger.argument, "keys");
        listing.values = columns_of(listing.trigger.argument, "vals");
        is_behind_entries_ = false;
    }

    void part(std::string_view line) {
        HistListing& listing = all_.back();
        if (is_behind_entries_) return total(listing, trim(line));
        if (line == "Totals:") {
            is_behind_entries_ = true;
        } else if (line.starts_with("{ ")) {
            HistEntry entry;
            if (keys(line.substr(2), entry)) listing.entries.push_back(std::move(entry));
        } else if (!listing.entries.empty() && !trim(line).empty() && line[0] != '#') {
            listing.entries.back().notes.emplace_back(trim(line));
        }
    }

    static void total(HistListing& listing, std::string_view line) {
        Scan scan(line);
        if (scan.take("Hits: ")) listing.hits = scan.take_number<std::uint64_t>().value_or(0);
        if (scan.take("Dropped: ")) listing.dropped = scan.take_number<std::uint64_t>().value_or(0);
    }

    // "prev_comm: bash , prev_state:   0 } hitcount:    12  bytes:   4". False for what is none.
    bool keys(std::string_view rest, HistEntry& entry) {
        const std::vector<HistColumn>& keys = all_.back().keys;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::string name = cat(keys[i].name, ':');
            if (!rest.starts_with(name)) return false;
            rest.remove_prefix(name.size());
            if (is_stack(keys[i])) {
                entry.keys.push_back(stack(rest));
            } else {
                const std::string next =
                    i + 1 < keys.size() ? cat(", ", keys[i + 1].name, ':') : "} hitcount:";
                const auto end = i + 1 < keys.size() ? rest.find(next) : rest.rfind(next);
                if (end == rest.npos) return false;
                entry.keys.push_back(cell_of(rest.substr(0, end), keys[i].modifier));
                rest.remove_prefix(end);
            }
            if (rest.starts_with(", ")) rest.remove_prefix(2);
        }
        if (!rest.starts_with("} ")) return false;
        return values(rest.substr(2), entry);
    }

    // The functions are on lines of their own; `rest` becomes what is behind them.
    HistCell stack(std::string_view& rest) {
        HistCell cell;
        cell.kind = HistCell::Kind::stack;
        rest = {};
        while (at_ + 1 < lines_.size()) {
            const std::string_view line = lines_[at_ + 1];
            if (line.starts_with("} ") || line.starts_with(", ")) {
                rest = line;
                ++at_;
                break;
            }
            if (trim(line).empty() || line[0] != ' ') break;
            cell.stack.emplace_back(trim(line));
            ++at_;
        }
        return cell;
    }

    bool values(std::string_view rest, HistEntry& entry) const {
        const std::vector<HistColumn>& values = all_.back().values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string name = cat(values[i].name, ':');
            rest = trim(rest);
            if (!rest.starts_with(name)) return false;
            rest.remove_prefix(name.size());
            const auto end =
                i + 1 < values.size() ? rest.find(cat("  ", values[i + 1].name, ':')) : rest.size();
            if (end == rest.npos) return false;
            entry.values.push_back(cell_of(rest.substr(0, end), values[i].modifier));
            rest.remove_prefix(end);
        }
        return true;
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    bool is_behind_entries_ = false;
    std::vector<HistListing> all_;
};

}  // namespace

std::vector<HistListing> parse_hist_listings(std::string_view text) {
    return ListingParser(text).parse();
}

}  // namespace gpufs
