#include "engine/monitor/hist_latency.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/saturate.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// A pid that no task has now: while only this one is looked at, nothing is. The kernel takes those
// below pid_max, and gives them out upwards: the largest one has the longest to go.
std::string nobody() {
    const std::string text = read_file("/proc/sys/kernel/pid_max");
    int pid = Scan(text).take_number<int>().value_or(32768) - 1;
    while (pid > 1 && file_exists(cat("/proc/", pid))) --pid;
    return cat(pid);
}

// The time of a line of the file `trace`, in microseconds: the first word of the form "12.345678:".
std::optional<std::uint64_t> time_us(std::string_view line) {
    for (const std::string& word : split(line, ' ')) {
        Scan scan(word);
        const auto seconds = scan.take_number<std::uint64_t>();
        if (!seconds || !scan.take(".") || scan.rest().size() != 7 || word.back() != ':') continue;
        const auto micro = scan.take_number<std::uint64_t>();
        if (micro && scan.rest() == ":") return *seconds * 1'000'000 + *micro;
    }
    return std::nullopt;
}

}  // namespace

void require_latency_hists() {
    const Tracefs top = find_tracefs();
    constexpr const char* kInstead =
        "leave --in-kernel away: 'gpufs latency' measures the same by BPF programs";
    const auto need = [&](bool has, const char* what, const char* config) {
        if (!has)
            throw UnsupportedError(
                cat("this kernel has no ", what, ": it was built without ", config), kInstead);
    };
    need(top.has("events/sched/sched_switch/hist"), "hist triggers", "CONFIG_HIST_TRIGGERS");
    need(top.has("synthetic_events"), "synthetic events", "CONFIG_SYNTH_EVENTS");
}

HistLatency::HistLatency(const Tracefs& top, LatencyHists hists, std::optional<int> command)
    : hists_(std::move(hists)),
      scratch_(top),
      mark_(scratch_.tracefs(), RunMark::Of::events),
      command_(command) {
    setting_.synthetic = scratch_.probe_group();
    setting_.takes_snapshot = hists_.tells_longest && scratch_.tracefs().has("snapshot");
    // It runs some calls of ours until its exec.
    if (command)
        setting_.start_condition =
            cat("common_pid != ", *command, " || COMM != \"", kHeldName, '"');
    for (const MapDeclaration& map : hists_.program.maps)
        maps_[map.name] = std::make_unique<TableMap>();
    plan();
    changes_.apply();
}

void HistLatency::plan() {
    const Tracefs &at = scratch_.tracefs(), &top = scratch_.top();
    tables_ = hist_tables(hists_, setting_);
    changes_.append(top, "dynamic_events", cat("s:", synthetic_definition(hists_, setting_)),
                    cat("-:synthetic/", setting_.synthetic));
    changes_.replace(at, "set_event_pid", nobody(), "");
    // What a task of the list starts is on it, too.
    if (command_) changes_.replace(at, "options/event-fork", "1", "0");
    if (setting_.takes_snapshot)
        for (const std::string& event : {hists_.start_event, hists_.end_event})
            changes_.replace(at, event_directory(event) + "/enable", "1", "0");
    for (const HistTable& table : tables_)
        changes_.append(at, event_directory(table.event) + "/trigger", table.trigger.to_text(),
                        table.trigger.removal());
    // Without a list the kernel counts all, so the list stays.
    if (command_)
        begin_.append(at, "set_event_pid", cat(*command_), "");
    else
        begin_.replace(at, "set_event_pid", "", "");
}

HistLatency::~HistLatency() {
    changes_.take_back();
}

std::vector<std::string> HistLatency::shell_lines() const {
    std::vector<std::string> lines = {cat("mkdir ", scratch_.tracefs().root())};
    for (const Changes* changes : {&changes_, &begin_})
        std::ranges::move(changes->shell_lines(), std::back_inserter(lines));
    return lines;
}

void HistLatency::begin() {
    begin_.apply();
}

// The kernel pauses no trigger that has variables. While a list of pids is replaced there is none,
// and all would be counted; those that are not to be counted have a list of their own (Linux 5.8).
void HistLatency::stop_counting() const {
    const Tracefs& at = scratch_.tracefs();
    if (!command_) return at.write("set_event_pid", nobody() + '\n', Write::replace);
    const std::string counted = join(split(at.read("set_event_pid"), '\n'), " ");
    at.write("set_event_notrace_pid", counted + '\n', Write::append);
}

void HistLatency::end() {
    stop_counting();
    for (const std::string& event : {hists_.start_event, hists_.end_event}) read_tables(event);
    if (!hists_.thread_condition.empty()) read_tables("task:task_newtask");
    refresh();
    fill_tallies();
}

void HistLatency::refresh() {
    times_.clear();
    totals_.erase(Role::bucket);
    read_tables(cat("synthetic:", setting_.synthetic));
    fill_latency();
}

// The kernel lists the triggers of an event in the order in which they were set.
void HistLatency::read_tables(const std::string& event) {
    const std::vector<HistListing> listings =
        parse_hist_listings(scratch_.tracefs().read(event_directory(event) + "/hist"));
    std::size_t i = 0;
    for (const HistTable& table : tables_) {
        if (table.event != event) continue;
        if (i == listings.size() || listings[i].trigger.condition != table.trigger.condition)
            throw Error(cat("the hist triggers of ", event, " are not those that were set"));
        take(table, listings[i++]);
    }
}

void HistLatency::take(const HistTable& table, const HistListing& listing) {
    if (table.role == Role::bucket) {
        Totals& all = totals_[Role::bucket];
        all.hits += listing.hits;
        all.dropped += listing.dropped;
    } else {
        totals_[table.role] = {listing.hits, listing.dropped};
    }
    switch (table.role) {
        case Role::bucket:
            for (TimeBucket& bucket : time_buckets(hists_, listing)) {
                Times& times = times_[{std::move(bucket.key), bucket.number}];
                times.count += bucket.count;
                times.total += bucket.total;
                times.least = std::min(times.least, bucket.least);
                times.most = std::max(times.most, bucket.most);
            }
            return;
        case Role::least:
            for (TimeExtreme& extreme : time_extremes(hists_, listing)) {
                const auto [known, is_new] =
                    least_.try_emplace(std::move(extreme.key), extreme.time);
                known->second = std::min(known->second, extreme.time);
            }
            return;
        case Role::most:
            for (TimeExtreme& extreme : time_extremes(hists_, listing)) {
                std::uint64_t& most = most_[std::move(extreme.key)];
                most = std::max(most, extreme.time);
            }
            return;
        case Role::longest:
            longest_ = longest_pair(hists_, listing);
            return;
        case Role::starts:
        case Role::ends:
        case Role::pairs:
        case Role::refused:
        case Role::threads:
            return;
    }
}

// The extremes are of all times since the begin, and two CPUs may have overtaken each other: they
// are believed where they are within a bucket that has values.
void HistLatency::fill_latency() {
    const MapDeclaration& declared = *hists_.program.find_map(kLatencyMap);
    TableMap& map = *maps_.at(kLatencyMap);
    map.clear();
    for (const auto& [place, all] : times_) {
        Times times = all;
        const auto before = turned_.find(place);
        if (before != turned_.end()) {
            times.count = subtract_saturating(times.count, before->second.count);
            times.total = subtract_saturating(times.total, before->second.total);
        }
        if (times.count == 0) continue;
        if (times.count == 1) {
            times.least = times.most = times.total;
        } else {
            const auto least = least_.find(place.first), most = most_.find(place.first);
            if (least != least_.end() && least->second <= times.most)
                times.least = std::max(times.least, least->second);
            if (most != most_.end() && most->second >= times.least)
                times.most = std::min(times.most, most->second);
        }
        const std::uint64_t unit = hists_.unit_ns;
        // As decoded_words() reads it.
        const std::array<std::uint64_t, 4> value = {times.count, times.total / unit,
                                                    ~(times.least / unit), times.most / unit};
        const std::uint32_t number = place.second;
        if (declared.is_array()) {
            map.update(bytes_of(number), bytes_of(value));
            continue;
        }
        Key key = place.first;
        key.resize(declared.bucket_at());
        const std::uint32_t tail = number << 16;
        std::ranges::copy(bytes_of(tail), std::back_inserter(key));
        map.update(key, bytes_of(value));
    }
}

HistLatency::Totals HistLatency::totals(Role role) const {
    const auto found = totals_.find(role);
    return found == totals_.end() ? Totals{} : found->second;
}

void HistLatency::set_number(const char* map, std::uint64_t number) {
    const auto found = maps_.find(map);
    const std::uint32_t first = 0;
    if (found != maps_.end()) found->second->update(bytes_of(first), bytes_of(number));
}

void HistLatency::fill_tallies() {
    const std::uint64_t pairs = totals(Role::pairs).both();
    set_number(kUnendedMap, subtract_saturating(totals(Role::starts).hits,
                                                pairs + totals(Role::refused).both()));
    set_number(kUnmatchedMap, subtract_saturating(totals(Role::ends).both(), pairs));
    if (!longest_) return;
    const std::array<std::uint64_t, 2> value = {longest_->time / hists_.unit_ns, 1};
    maps_.at(kLongestMap)->update(longest_->key, bytes_of(value));
}

ProgramMap* HistLatency::map(std::string_view name) const {
    const auto found = maps_.find(name);
    return found == maps_.end() ? nullptr : found->second.get();
}

void HistLatency::turn() {
    refresh();
    turned_ = times_;
}

LossLedger HistLatency::losses() const {
    LossLedger losses;
    losses.add("starts that found no room", Loss::exactly(totals(Role::starts).dropped));
    losses.add("pairs that found no room", Loss::exactly(totals(Role::pairs).dropped));
    const Totals buckets = totals(Role::bucket);
    losses.add(cat("values whose key found no room in '", kLatencyMap, "'"),
               Loss::exactly(buckets.dropped));
    std::uint64_t counted = buckets.dropped;
    for (const auto& [place, times] : times_) counted += times.count;
    losses.add("uncounted pairs",
               Loss::exactly(subtract_saturating(totals(Role::pairs).hits, counted)));
    if (const std::uint64_t threads = totals(Role::threads).both(); threads > 0)
        losses.add("threads that began since and were not looked at", Loss::at_least(threads));
    return losses;
}

std::vector<std::string> HistLatency::trace_of_longest() const {
    std::vector<std::string> lines;
    if (!longest_ || !setting_.takes_snapshot) return lines;
    const std::uint64_t to = longest_->end / 1000,
                        from = subtract_saturating(longest_->end, longest_->time) / 1000;
    const std::string text = scratch_.tracefs().read("snapshot");
    for (const std::string_view line : lines_of(text)) {
        if (line.starts_with('#')) continue;
        // The kernel rounds.
        const auto time = time_us(line);
        if (time && *time + 1 >= from && *time <= to + 1) lines.emplace_back(line);
    }
    return lines;
}

}  // namespace gpufs
