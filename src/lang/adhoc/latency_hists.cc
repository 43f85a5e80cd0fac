#include "lang/adhoc/latency_hists.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "base/text.h"
#include "lang/adhoc/probe.h"
#include "lang/adhoc/told_value.h"
#include "lang/trigger/hist_spec.h"

namespace gpufs {
namespace {

using Role = HistTable::Role;
using Source = AdhocValue::Source;

constexpr std::size_t kMostKeys = 3;  // TRACING_MAP_KEYS_MAX
// The kernel keeps an entry for each value of --key that ever came.
constexpr std::string_view kPairs = "65536";
constexpr std::uint64_t kDefaultKeys = 4096, kLeastKeys = 128, kMostEntries = 131072;
// A constant: of an event all occurrences have it.
constexpr std::string_view kSameForAll = "common_type";
constexpr std::string_view kThread = "common_pid", kCpu = "common_cpu";
constexpr std::string_view kNewTask = "task:task_newtask";
constexpr std::string_view kInstead = "leave --in-kernel away: a BPF program can";
// Times are those of BPF programs.
constexpr std::string_view kClock = "clock=mono";

// A value in a hist trigger of its event.
struct HistValue {
    std::string name;       // a field's
    std::string type;       // of a field of a synthetic event that gets it: "s32", "char[16]"
    std::size_t bytes = 0;  // of a text; 0: one of variable length
    bool is_text = false;
};

std::optional<HistValue> in_hist(const AdhocValue& value) {
    if (value.source == Source::tid) return HistValue{std::string(kThread), "s32"};
    if (value.source == Source::cpu) return HistValue{std::string(kCpu), "u32"};
    if (value.source != Source::field) return std::nullopt;
    const Field& field = *value.field;
    if (field.holds_text())
        return HistValue{field.name, "char", field.is_dynamic() ? 0 : field.size, true};
    if (!value.is_number()) return std::nullopt;
    return HistValue{field.name, cat(field.is_signed ? 's' : 'u', 8 * field.size)};
}

std::string declaration(const HistValue& value, const std::string& name) {
    if (!value.is_text) return cat(value.type, ' ', name);
    return cat("char ", name, '[', value.bytes == 0 ? "" : cat(value.bytes), ']');
}

std::string all_of(const std::vector<std::string>& conditions) {
    std::vector<std::string> parts;
    std::ranges::copy_if(conditions, std::back_inserter(parts),
                         [](const std::string& one) { return !one.empty(); });
    if (parts.size() < 2) return join(parts, "");
    return cat('(', join(parts, ") && ("), ')');
}

std::string one_of_threads(const std::vector<int>& threads) {
    std::vector<std::string> tests;
    tests.reserve(threads.size());
    for (const int thread : threads) tests.push_back(cat(kThread, " == ", thread));
    return join(tests, " || ");
}

class Maker {
public:
    Maker(const AdhocQuestion& question, const AdhocLatency& latency,
          const LatencyHistChoice& choice)
        : question_(question),
          latency_(latency),
          choice_(choice),
          start_(latency.starts.front()),
          end_(question.events.front()) {}

    LatencyHists make() {
        const Program made = make_latency_tables(question_, latency_);
        if (start_.format.full_name() == end_.format.full_name())
            refuse({"", question_.events.front().target.at},
                   "a hist trigger cannot end a pair and begin the next one");
        hists_.start_event = start_.format.full_name();
        hists_.end_event = end_.format.full_name();
        hists_.unit_ns = nanoseconds_in(latency_.unit);
        hists_.max_keys = std::clamp<std::uint64_t>(
            question_.max_keys ? question_.max_keys : kDefaultKeys, kLeastKeys, kMostEntries);
        add_pairs();
        add_keys();
        add_conditions();
        declare(made);
        return std::move(hists_);
    }

private:
    [[noreturn]] void refuse(const AdhocWord& word, std::string_view message,
                             std::string_view hint = kInstead) const {
        throw SourceError(question_.sources.at(word.at.source), word.at.span, message, hint);
    }

    HistValue require(const AdhocEvent& event, const AdhocWord& name) const {
        const auto value = find_value(event, name.text);
        if (value)
            if (auto known = in_hist(*value)) return *known;
        const bool is_process = value && value->source == Source::pid;
        refuse(name, cat("no hist trigger of the kernel knows '", name.text, "'"),
               is_process ? "tid is known there: the thread" : std::string(kInstead));
    }

    void add_pairs() {
        for (std::size_t i = 0; i < latency_.pairs.size(); ++i) {
            const AdhocPair& pair = latency_.pairs[i];
            if (i == kMostKeys)
                refuse(pair.start, cat("a hist trigger has at most ", kMostKeys, " keys"));
            const HistValue start = require(start_, pair.start), end = require(end_, pair.end);
            if (start.is_text && start.bytes != end.bytes)
                refuse(pair.end, cat("'", pair.start.text, "' and '", pair.end.text,
                                     "' are texts of different lengths, which hist triggers do not "
                                     "compare"));
            hists_.start_keys.push_back(start.name);
            hists_.end_keys.push_back(end.name);
            hists_.is_in_one_thread =
                hists_.is_in_one_thread || (means_running_thread(latency_.starts, pair.start) &&
                                            means_running_thread(question_.events, pair.end));
            if (choice_.tells_longest) hists_.longest_by.push_back(column(end, pair.end, false));
        }
    }

    void add_keys() {
        for (const AdhocWord& name : question_.keys) {
            // make_latency_tables() has complained of names that neither knows.
            const ToldValue told = find_told_value(name, latency_.starts, question_.events).value();
            const AdhocEvent& event = told.is_of_start ? start_ : end_;
            const bool is_task_name =
                !told.is_of_start &&
                find_value(event, told.field.text).value().source == Source::comm;
            if (hists_.by.size() + 1 == kMostKeys)
                refuse(name, cat("a hist trigger has at most ", kMostKeys,
                                 " keys, and the time is one of them"));
            if (is_task_name)
                hists_.by.push_back({std::string(kThread), true});
            else
                hists_.by.push_back(
                    column(require(event, {told.field.text, name.at}), name, told.is_of_start));
        }
    }

    // The synthetic event is made in the task, and on the CPU, of END.
    LatencyHists::Column column(const HistValue& value, const AdhocWord& word, bool is_of_start) {
        if (!is_of_start && (value.name == kThread || value.name == kCpu))
            return {value.name, false};
        auto& variables = is_of_start ? hists_.start_variables : hists_.end_variables;
        const std::string setting = cat('=', value.name);
        const auto known = std::ranges::find_if(
            variables, [&](const std::string& one) { return one.ends_with(setting); });
        const std::string variable = known != variables.end()
                                         ? known->substr(0, known->find('='))
                                         : cat(is_of_start ? 's' : 'e', variables.size());
        const std::string argument = cat('$', variable);
        const auto at = static_cast<std::size_t>(std::ranges::find(hists_.arguments, argument) -
                                                 hists_.arguments.begin());
        const std::string field = cat('v', at);
        if (known != variables.end()) return {field, false};
        if (value.bytes > kMostText)
            refuse(word, cat("'", word.text, "' is too long for a hist trigger"));
        variables.push_back(variable + setting);
        hists_.arguments.push_back(argument);
        hists_.fields.push_back(declaration(value, field));
        return {field, false};
    }

    // As make_latency() does: for starts, and where START lacks a field of it, for ends.
    void add_conditions() {
        const AdhocFilter& filter = question_.filter;
        const bool is_filtered =
            !filter.pids.empty() || filter.followed || filter.comm || filter.condition;
        const bool is_for_starts = std::ranges::all_of(
            latency_.starts, [&](const AdhocEvent& event) { return suits(filter, event); });
        std::vector<std::string> tests = {one_of_threads(choice_.threads)};
        const EventFormat& event = (is_for_starts ? start_ : end_).format;
        for (const auto& condition : {filter.comm, filter.condition})
            if (condition) tests.push_back(to_filter(*condition, event));
        hists_.counts_refused = !is_for_starts;
        hists_.counts_ends = !is_filtered;
        hists_.start_condition = left_out_of(start_);
        hists_.end_condition = left_out_of(end_);
        if (is_for_starts) {
            tests.push_back(hists_.start_condition);
            hists_.start_condition = all_of(tests);
        } else {
            hists_.pair_condition = all_of(tests);
        }
        if (choice_.counts_new_threads && !choice_.threads.empty())
            hists_.thread_condition =
                all_of({one_of_threads(choice_.threads), cat("clone_flags & ", kCloneThread)});
    }

    std::string left_out_of(const AdhocEvent& event) const {
        const bool is_call =
            event.format.system == "syscalls" || event.format.system == "raw_syscalls";
        return choice_.left_out && is_call ? cat(kThread, " != ", *choice_.left_out) : "";
    }

    void declare(const Program& made) {
        Program& program = hists_.program;
        program.name = made.name;
        program.summary = made.summary;
        program.sources = made.sources;
        program.reports = made.reports;
        for (const char* kept : {kLatencyMap, kUnmatchedMap})
            if (const MapDeclaration* map = made.find_map(kept)) program.maps.push_back(*map);
        MapDeclaration unended =
            array_map(kUnendedMap, BPF_MAP_TYPE_ARRAY, Layout::of("value", integer_value(kWord)));
        unended.aggregation.kind = Aggregation::Kind::count;
        unended.tally = "starts without an end or replaced by a later one";
        program.maps.insert(program.maps.begin() + 1, unended);
        if (choice_.tells_longest) declare_longest(made);
    }

    // Its keys: those of the pair, and those of `by` that are not among them and are no names of
    // tasks, of which the kernel keeps none there.
    void declare_longest(const Program& made) {
        hists_.tells_longest = true;
        const MapDeclaration& latency = *made.find_map(kLatencyMap);
        MapDeclaration longest;
        longest.name = kLongestMap;
        longest.key = made.find_map(kStartsMap)->key;
        for (std::size_t i = 0; i < hists_.by.size(); ++i) {
            const Member& member = latency.key.members[i];
            if (hists_.by[i].is_task_name || longest.key.find(member.name)) continue;
            add_member(longest.key, member.name, member.type);
            hists_.longest_by.push_back(hists_.by[i]);
        }
        longest.value = latency.value;
        longest.aggregation.kind = Aggregation::Kind::max;
        longest.max_entries = 1;
        Report report;
        report.title = "Longest";
        report.map = kLongestMap;
        hists_.program.maps.push_back(std::move(longest));
        hists_.program.reports.push_back(std::move(report));
    }

    static constexpr std::size_t kMostText = 256;  // STR_VAR_LEN_MAX

    const AdhocQuestion& question_;
    const AdhocLatency& latency_;
    const LatencyHistChoice& choice_;
    const AdhocEvent &start_, &end_;
    LatencyHists hists_;
};

HistTerm term(std::string text) {
    return {std::move(text), {}, {}, {}};
}

// Nanoseconds, without `to`.
struct Range {
    std::uint64_t from = 0, to = 0;  // to == 0: no bound
    std::uint64_t width = 0;
};

// See the top of the header. The first begins at 0, and its buckets have a width of one unit.
std::vector<Range> ranges_of(std::uint64_t unit_ns) {
    constexpr std::uint64_t kFactor = 8, kLast = std::uint64_t{1} << 44;  // five hours
    constexpr std::uint64_t kEach = std::uint64_t{1} << Aggregation::kLog2Bits;
    std::uint64_t from = kFactor * kEach * unit_ns;
    std::vector<Range> ranges = {{0, from, unit_ns}};
    for (; from < kLast; from *= kFactor) ranges.push_back({from, from * kFactor, from / kEach});
    ranges.push_back({from, 0, from / kEach});
    return ranges;
}

std::string condition_of(const Range& range) {
    std::vector<std::string> tests;
    if (range.from != 0) tests.push_back(cat(kHistTime, " >= ", range.from));
    if (range.to != 0) tests.push_back(cat(kHistTime, " < ", range.to));
    return join(tests, " && ");
}

class TableMaker {
public:
    TableMaker(const LatencyHists& hists, const HistSetting& setting)
        : hists_(hists), setting_(setting), synthetic_(cat("synthetic:", setting.synthetic)) {}

    std::vector<HistTable> make() {
        starts();
        // Before the pairs, so that no end is missing that a pair has.
        if (hists_.counts_ends)
            add(Role::ends, hists_.end_event, with_keys({std::string(kSameForAll)}),
                hists_.end_condition);
        if (!hists_.thread_condition.empty())
            add(Role::threads, std::string(kNewTask), with_keys({std::string(kSameForAll)}),
                hists_.thread_condition);
        for (const Range& range : ranges_of(hists_.unit_ns)) bucket(range);
        // The greatest of the complements of two is that of the least.
        extreme(Role::least, cat("n=-(", kHistTime, ')'), "$n");
        extreme(Role::most, cat("m=", kHistTime), "$m");
        if (hists_.tells_longest) longest();
        pairs();
        if (hists_.counts_refused) refused();
        return std::move(tables_);
    }

private:
    static HistSpec with_keys(const std::vector<std::string>& keys) {
        HistSpec spec;
        for (const std::string& key : keys) spec.keys.push_back(term(key));
        return spec;
    }

    void add(Role role, std::string event, HistSpec spec, std::string condition) {
        // Setting a trigger on times changes the buffer's clock, also back.
        spec.others.emplace_back(kClock);
        HistTable table{role, std::move(event), {}};
        table.trigger.action = "hist";
        table.trigger.argument = spec.argument();
        table.trigger.condition = std::move(condition);
        tables_.push_back(std::move(table));
    }

    void starts() {
        HistSpec spec = with_keys(hists_.start_keys);
        spec.size = kPairs;
        spec.others = hists_.start_variables;
        spec.others.insert(spec.others.begin(), "ts0=common_timestamp");
        add(Role::starts, hists_.start_event, std::move(spec),
            all_of({hists_.start_condition, setting_.start_condition}));
    }

    // An expression takes the variable: what is behind it finds none.
    void pairs() {
        HistSpec spec = with_keys(hists_.end_keys);
        spec.size = kPairs;
        spec.others = hists_.end_variables;
        spec.others.insert(spec.others.begin(), cat(kHistTime, "=common_timestamp-$ts0"));
        std::vector<std::string> arguments = {cat('$', kHistTime)};
        if (hists_.tells_longest) {
            spec.others.push_back(cat(kHistEnd, "=common_timestamp"));
            arguments.push_back(cat('$', kHistEnd));
        }
        arguments.insert(arguments.end(), hists_.arguments.begin(), hists_.arguments.end());
        std::string from = hists_.start_event;
        std::ranges::replace(from, ':', '.');
        spec.others.push_back(
            cat("onmatch(", from, ").trace(", setting_.synthetic, ',', join(arguments, ","), ')'));
        add(Role::pairs, hists_.end_event, std::move(spec),
            all_of({hists_.end_condition, hists_.pair_condition}));
    }

    void refused() {
        HistSpec spec = with_keys(hists_.end_keys);
        spec.size = kPairs;
        spec.others = {"refused=common_timestamp-$ts0"};
        add(Role::refused, hists_.end_event, std::move(spec), hists_.end_condition);
    }

    std::vector<std::string> by() const {
        std::vector<std::string> keys;
        for (const LatencyHists::Column& column : hists_.by)
            keys.push_back(cat(column.field, column.is_task_name ? ".execname" : ""));
        return keys;
    }

    void bucket(const Range& range) {
        std::vector<std::string> keys = by();
        keys.push_back(cat(kHistTime, ".buckets=", range.width));
        HistSpec spec = with_keys(keys);
        spec.values = {term(kHistTime)};
        constexpr std::uint64_t kWithoutKeys = 256;
        spec.size = cat(hists_.by.empty() ? kWithoutKeys : hists_.max_keys);
        add(Role::bucket, synthetic_, std::move(spec), condition_of(range));
    }

    void extreme(Role role, std::string variable, std::string_view name) {
        HistSpec spec = with_keys(hists_.by.empty() ? std::vector{std::string(kSameForAll)} : by());
        if (!hists_.by.empty()) spec.size = cat(hists_.max_keys);
        spec.others = {std::move(variable), cat("onmax(", name, ").save(", kHistTime, ')')};
        add(role, synthetic_, std::move(spec), {});
    }

    void longest() {
        HistSpec spec = with_keys({std::string(kSameForAll)});
        std::vector<std::string> kept = {kHistTime, kHistEnd};
        for (const LatencyHists::Column& column : hists_.longest_by)
            if (std::ranges::count(kept, column.field) == 0) kept.push_back(column.field);
        spec.others = {cat("l=", kHistTime), cat("onmax($l).save(", join(kept, ","), ')')};
        if (setting_.takes_snapshot) spec.others.emplace_back("onmax($l).snapshot()");
        add(Role::longest, synthetic_, std::move(spec), {});
    }

    const LatencyHists& hists_;
    const HistSetting& setting_;
    std::string synthetic_;
    std::vector<HistTable> tables_;
};

}  // namespace

LatencyHists make_latency_hists(const AdhocQuestion& question, const AdhocLatency& latency,
                                const LatencyHistChoice& choice) {
    return Maker(question, latency, choice).make();
}

std::string synthetic_definition(const LatencyHists& hists, const HistSetting& setting) {
    std::vector<std::string> fields = {cat("u64 ", kHistTime)};
    if (hists.tells_longest) fields.push_back(cat("u64 ", kHistEnd));
    fields.insert(fields.end(), hists.fields.begin(), hists.fields.end());
    return cat(setting.synthetic, ' ', join(fields, "; "));
}

std::vector<HistTable> hist_tables(const LatencyHists& hists, const HistSetting& setting) {
    return TableMaker(hists, setting).make();
}

}  // namespace gpufs
