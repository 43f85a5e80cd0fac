#include "view/page/page_writer.h"

#include <algorithm>

#include "base/cat.h"
#include "view/export/protobuf.h"
#include "view/json.h"
#include "view/losses.h"

namespace gpufs {
namespace {

constexpr std::uint32_t kTooManyNames = 0;
// The first of the tasks: none that runs, and not the idle one either.
constexpr std::uint32_t kUnknownTask = 0;

std::int64_t step(std::uint64_t number, std::uint64_t& last) {
    const std::int64_t since = static_cast<std::int64_t>(number - last);
    last = number;
    return since;
}

// 0 for none; else the step since the last one that there was, as a number without sign, and 1.
std::uint64_t sparse_step(std::uint64_t number, std::uint64_t& last) {
    return number == 0 ? 0 : zigzag(step(number, last)) + 1;
}

std::uint64_t number_of(std::span<const Argument> arguments, std::string_view name) {
    const auto it = std::ranges::find(arguments, name, &Argument::name);
    return it == arguments.end() ? 0 : it->number;
}

}  // namespace

PageWriter::PageWriter(WritePage write, std::string title, PageLimits limits)
    : write_(std::move(write)),
      write_chunk_([this](std::string_view text) { chunks_.add(text); }),
      title_(std::move(title)),
      limits_(limits),
      slices_("slice", write_chunk_),
      slice_values_("slice-values", write_chunk_),
      gpu_slices_("gpu-slice", write_chunk_),
      instants_("instant", write_chunk_),
      instant_values_("instant-values", write_chunk_),
      counts_("count", write_chunk_),
      switches_("switch", write_chunk_),
      wakeups_("wakeup", write_chunk_),
      lines_("line", write_chunk_) {
    write_(page_head(title_));
    name_of("(one of too many names)");
    task_order_.emplace_back(0, name_of("unknown"));
}

void PageWriter::start(const TimelineFacts& facts, std::uint64_t time) {
    facts_ = facts;
    see(time);
}

void PageWriter::see(std::uint64_t time) {
    if (!has_begun_) {
        has_begun_ = true;
        begin_ = end_ = time;
        for (std::uint64_t* last : {&last_slice_, &last_count_, &last_line_, &last_switch_,
                                    &last_instant_, &last_wakeup_})
            *last = time;
    }
    end_ = std::max(end_, time);
}

std::uint32_t PageWriter::name_of(std::string_view text) {
    const auto known = names_.find(text);
    if (known != names_.end()) return known->second;
    if (name_order_.size() >= limits_.names) return kTooManyNames;
    name_order_.emplace_back(text);
    return names_[name_order_.back()] = static_cast<std::uint32_t>(name_order_.size() - 1);
}

std::uint32_t PageWriter::task_of(int tid, std::string_view comm) {
    const std::pair<int, std::uint32_t> key{tid, name_of(comm)};
    const auto [task, is_new] =
        tasks_.try_emplace(key, static_cast<std::uint32_t>(task_order_.size()));
    if (is_new) task_order_.push_back(key);
    return task->second;
}

void PageWriter::add_track(const Track& track) {
    const auto [known, is_new] = track_places_.try_emplace(track.id, tracks_.size());
    if (is_new)
        tracks_.push_back(track);
    else
        tracks_[known->second] = track;
    if (track.kind == Track::Kind::lane && track.name == kRunTrack) rings_[track.id] = track.parent;
    if (track.kind == Track::Kind::counter && track.unit == kJobsUnit)
        job_counters_.insert(track.id);
}

void PageWriter::append_arguments(std::string& values, std::span<const Argument> arguments) {
    for (const Argument& one : arguments) {
        append_varint(values, name_of(one.name));
        append_varint(values, static_cast<std::uint64_t>(one.kind));
        append_varint(values, one.kind == Argument::Kind::text ? one.text.size() : one.number);
        if (one.kind == Argument::Kind::text) values += one.text;
    }
}

// Returns where they begin and 1; 0 where there are none.
std::uint64_t PageWriter::store_arguments(PageChunks& chunks, std::uint32_t count,
                                          std::string_view values) {
    if (count == 0) return 0;
    if (chunks.bytes() + values.size() > limits_.argument_bytes) {
        ++left_out_values_;
        return 0;
    }
    const std::uint64_t at = chunks.bytes() + 1;
    std::string counted;
    append_varint(counted, count);
    counted += values;
    chunks.bytes_as_they_are(counted);
    chunks.end_item();
    return at;
}

void PageWriter::begin(const Happening& slice) {
    see(slice.time);
    Open& open = open_[slice.track].emplace_back();
    open.time = slice.time;
    open.flow = slice.flow;
    open.name = name_of(slice.name);
    open.category = name_of(slice.category);
    open.arguments = static_cast<std::uint32_t>(slice.arguments.size());
    append_arguments(open.values, slice.arguments);
    if (slice.category != kGpuCategory) return;
    open.fence = Fence{number_of(slice.arguments, "pid"), number_of(slice.arguments, "context"),
                       number_of(slice.arguments, "seqno")};
}

void PageWriter::end(std::uint32_t track, std::uint64_t time, std::span<const Argument> arguments) {
    see(time);
    std::vector<Open>& open = open_[track];
    if (open.empty()) return;
    Open slice = std::move(open.back());
    open.pop_back();
    slice.arguments += static_cast<std::uint32_t>(arguments.size());
    append_arguments(slice.values, arguments);
    write_slice(track, slice, std::max(time, slice.time) - slice.time + 1);
}

void PageWriter::write_slice(std::uint32_t track, const Open& slice, std::uint64_t duration_and_1) {
    if (slices_.items() == limits_.slices) {
        ++left_out_slices_;
        return;
    }
    const std::uint64_t values = store_arguments(slice_values_, slice.arguments, slice.values);
    slices_.number(track);
    slices_.signed_number(step(slice.time, last_slice_));
    slices_.number(duration_and_1);
    slices_.number(slice.name);
    slices_.number(slice.category);
    slices_.number(sparse_step(slice.flow, last_slice_flow_));
    slices_.number(sparse_step(values, last_slice_values_));
    slices_.end_item();
    if (!slice.fence) return;
    gpu_slices_.signed_number(step(slices_.items() - 1, last_gpu_slice_));
    gpu_slices_.number(slice.fence->pid);
    gpu_slices_.number(slice.fence->context);
    gpu_slices_.signed_number(step(slice.fence->seqno, last_seqno_));
    gpu_slices_.end_item();
    const auto ring = rings_.find(track);
    if (ring == rings_.end()) return;
    ++job_count_;
    job_file_.add(ring->second);
    job_file_.add(slice.fence->pid);
    job_file_.add(slice.time);
    job_file_.add(duration_and_1 == 0 ? end_ - slice.time : duration_and_1 - 1);
}

// Their ends are not known.
void PageWriter::end_open_slices() {
    std::vector<std::uint32_t> tracks;
    for (const auto& [track, open] : open_) tracks.push_back(track);
    std::ranges::sort(tracks);
    for (const std::uint32_t track : tracks)
        for (const Open& slice : open_[track]) write_slice(track, slice, 0);
    open_.clear();
}

void PageWriter::instant(const Happening& instant) {
    see(instant.time);
    ++instant_count_;
    const std::uint32_t name = name_of(instant.name);
    std::string values;
    append_arguments(values, instant.arguments);
    repeated_.insert(static_cast<std::uint64_t>(instant.track) << 32 | name);
    instant_file_.add(instant.track);
    instant_file_.add_signed(step(instant.time, last_instant_));
    instant_file_.add(name);
    instant_file_.add(name_of(instant.category));
    instant_file_.add(instant.flow);
    instant_file_.add(store_arguments(
        instant_values_, static_cast<std::uint32_t>(instant.arguments.size()), values));
}

void PageWriter::count(std::uint32_t track, std::uint64_t time, std::int64_t value) {
    see(time);
    if (job_counters_.contains(track)) return;  // their boxes say it
    if (counts_.items() == limits_.counts) {
        ++left_out_counts_;
        return;
    }
    counts_.number(track);
    counts_.signed_number(step(time, last_count_));
    const auto number = static_cast<std::uint64_t>(value);
    counts_.signed_number(step(number, last_values_[track]));
    counts_.end_item();
}

void PageWriter::switch_task(const TaskSwitch& change) {
    see(change.time);
    ++switch_count_;
    const auto cpu = static_cast<std::uint64_t>(change.cpu);
    cpus_[cpu] = true;
    switch_file_.add(cpu);
    switch_file_.add_signed(step(change.time, last_switch_));
    switch_file_.add(task_of(change.prev_pid, change.prev_comm));
    switch_file_.add_signed(change.prev_state);
    switch_file_.add(task_of(change.next_pid, change.next_comm));
    switch_file_.add_signed(change.next_prio);
}

void PageWriter::lose(const Gap& gap) {
    lost_ += gap.loss;
    const auto cpu = cpus_.find(static_cast<std::uint64_t>(gap.cpu));
    if (cpu == cpus_.end() || !cpu->second) return;
    cpu->second = false;
    unknown_.push_back({gap.since, switch_count_, cpu->first});
}

void PageWriter::wake(const Wakeup& wakeup) {
    see(wakeup.time);
    ++wakeup_count_;
    wakeup_file_.add_signed(step(wakeup.time, last_wakeup_));
    wakeup_file_.add(static_cast<std::uint64_t>(wakeup.cpu));
    wakeup_file_.add(static_cast<std::uint64_t>(wakeup.waker));
    wakeup_file_.add(task_of(wakeup.pid, wakeup.comm));
    wakeup_file_.add(static_cast<std::uint64_t>(wakeup.target_cpu));
}

void PageWriter::add_line(std::string_view monitor, std::uint64_t time, std::string_view text) {
    see(time);
    if (lines_.items() == limits_.lines) {
        ++left_out_lines_;
        return;
    }
    lines_.number(name_of(monitor));
    lines_.signed_number(step(time, last_line_));
    lines_.text(text);
    lines_.end_item();
}

void PageWriter::add_report(std::string_view title, std::string_view text) {
    reports_.emplace_back(title, text);
}

// What goes is mostly what came, and a task keeps its priority: columns that are nearly all 0.
void PageWriter::write_switch(std::uint64_t cpu, const Merged& change, std::uint64_t& last) {
    if (!segments_.empty()) {
        if (segments_.back().switches == limits_.segment) begin_segment(change.time, last);
        ++segments_.back().switches;
    }
    const bool is_merged = change.count > 1;
    const auto came = last_tasks_.find(cpu);
    const bool is_expected = change.task == kUnknownTask ||
                             (came != last_tasks_.end() && came->second == change.prev_task);
    last_tasks_[cpu] = change.task;
    switches_.number(cpu);
    switches_.signed_number(step(change.time, last));
    switches_.number(is_expected ? 0 : change.prev_task + 1);
    switches_.signed_number(change.prev_state);
    switches_.number(change.task);
    const auto prio = static_cast<std::uint64_t>(change.prio);
    switches_.signed_number(step(prio, last_prios_[change.task]));
    switches_.number(is_merged ? change.count : 0);
    switches_.number(is_merged ? change.busy : 0);
    switches_.end_item();
}

// Nothing that follows is told as a step from what was before.
void PageWriter::begin_segment(std::uint64_t time, std::uint64_t& last) {
    switches_.flush();
    last_tasks_.clear();
    last_prios_.clear();
    last = time;
    segments_.push_back({time - begin_});
}

// What runs now ended.
void PageWriter::merge_switch(std::uint64_t cpu, Running& running, std::uint64_t until,
                              std::uint64_t grain, std::uint64_t& last) {
    Merged& merged = running.merged;
    const Merged& now = running.now;
    const std::uint64_t took = until - now.time;
    const auto write_merged = [&] {
        if (merged.count != 0) write_switch(cpu, merged, last);
        merged.count = 0;
    };
    if (merged.count != 0 && until - merged.time > grain) write_merged();
    if (took > grain || now.task == kUnknownTask) {
        write_merged();
        write_switch(cpu, now, last);
        return;
    }
    if (merged.count == 0) {
        merged = now;
        merged.count = merged.longest = merged.busy = 0;
    }
    ++merged.count;
    // That nothing ran is told only where nothing else is: who is busy has the name.
    if (task_order_[now.task].first == 0) return;
    merged.busy += took;
    if (took <= merged.longest) return;
    merged.longest = took;
    merged.task = now.task;
    merged.prio = now.prio;
}

// In order of time, with what is unknown as switches to kUnknownTask.
template <class Take>
void PageWriter::each_switch(Take&& take) {
    std::ranges::sort(unknown_, {},
                      [](const Unknown& one) { return std::pair(one.since, one.before_switch); });
    auto unknown = unknown_.begin();
    const auto take_unknown = [&] {
        Switch change;
        change.cpu = unknown->cpu;
        change.time = unknown->since;
        change.task = kUnknownTask;
        take(change);
        ++unknown;
    };
    std::uint64_t time = begin_;
    switch_file_.rewind();
    for (std::uint64_t number = 0; number != switch_count_; ++number) {
        Switch change;
        change.cpu = switch_file_.next();
        change.time = time += static_cast<std::uint64_t>(switch_file_.next_signed());
        change.prev_task = switch_file_.next();
        change.prev_state = switch_file_.next_signed();
        change.task = switch_file_.next();
        change.prio = switch_file_.next_signed();
        while (unknown != unknown_.end() &&
               (unknown->since < time || unknown->before_switch <= number))
            take_unknown();
        take(change);
    }
    while (unknown != unknown_.end()) take_unknown();
}

// Calls take(CPU, task, from, to) for each time in which a task, and not the idle one, runs.
template <class Take>
void PageWriter::each_run(Take&& take) {
    std::map<std::uint64_t, Switch> cpus;
    const auto end_run = [&](const Switch& run, std::uint64_t time) {
        if (task_order_[run.task].first != 0 && time > run.time)
            take(run.cpu, run.task, run.time, time);
    };
    each_switch([&](const Switch& change) {
        const auto [run, is_first] = cpus.try_emplace(change.cpu, change);
        if (!is_first) end_run(std::exchange(run->second, change), change.time);
    });
    for (const auto& [cpu, run] : cpus) end_run(run, end_);
}

void PageWriter::write_switches() {
    if (switch_count_ > limits_.switches)
        switch_grain_ = 2 * (end_ - begin_) / limits_.switches * cpus_.size() + 1;
    if (switch_count_ > limits_.unsegmented || wakeup_count_ > limits_.unsegmented)
        segments_.emplace_back();
    std::map<std::uint64_t, Running> cpus;
    std::uint64_t last = begin_;
    each_switch([&](const Switch& one) {
        Merged change;
        change.time = one.time;
        change.prev_task = one.prev_task;
        change.prev_state = one.prev_state;
        change.task = one.task;
        change.prio = one.prio;
        if (switch_grain_ == 0) {
            write_switch(one.cpu, change, last);
            return;
        }
        Running& running = cpus[one.cpu];
        if (running.is_known) merge_switch(one.cpu, running, one.time, switch_grain_, last);
        running.is_known = true;
        running.now = change;
    });
    for (auto& [cpu, running] : cpus) {
        if (running.merged.count != 0) write_switch(cpu, running.merged, last);
        write_switch(cpu, running.now, last);
    }
}

PageOverview PageWriter::overview() {
    PageOverview overview(begin_, end_);
    std::unordered_map<int, int> processes;  // by thread
    for (const Track& track : tracks_)
        if (track.kind == Track::Kind::task) processes[track.tid] = track.pid;
    const auto process_of = [&](int tid) {
        const auto known = processes.find(tid);
        return known == processes.end() ? tid : known->second;
    };
    job_file_.rewind();
    for (std::uint64_t left = job_count_; left != 0; --left) {
        const auto ring = static_cast<std::uint32_t>(job_file_.next());
        const std::uint64_t pid = job_file_.next(), from = job_file_.next();
        overview.add_job(ring, pid, from, from + job_file_.next());
    }
    each_run([&](std::uint64_t, std::uint64_t task, std::uint64_t from, std::uint64_t to) {
        const int tid = task_order_[task].first;
        overview.count_run(tid, process_of(tid), to - from);
    });
    each_run([&](std::uint64_t cpu, std::uint64_t task, std::uint64_t from, std::uint64_t to) {
        const int tid = task_order_[task].first;
        overview.add_run(cpu, tid, process_of(tid), from, to);
    });
    return overview;
}

void PageWriter::write_instants() {
    if (instant_count_ > limits_.instants)
        instant_grain_ = (end_ - begin_) / limits_.instants * repeated_.size() + 1;
    std::unordered_map<std::uint64_t, Repeated> waiting;
    std::uint64_t time = begin_, last = begin_, last_flow = 0, last_values = 0;
    const auto write_one = [&](std::uint64_t key, const Repeated& one, std::uint64_t flow) {
        instants_.number(key >> 32);
        instants_.signed_number(step(one.time, last));
        instants_.number(key & 0xffffffff);
        instants_.number(one.category);
        instants_.number(sparse_step(flow, last_flow));
        instants_.number(sparse_step(one.arguments, last_values));
        instants_.number(one.count);
        instants_.end_item();
    };
    instant_file_.rewind();
    for (std::uint64_t left = instant_count_; left != 0; --left) {
        const std::uint64_t track = instant_file_.next();
        time += static_cast<std::uint64_t>(instant_file_.next_signed());
        const std::uint64_t key = track << 32 | instant_file_.next();
        Repeated one;
        one.time = time;
        one.count = 1;
        one.category = static_cast<std::uint32_t>(instant_file_.next());
        const std::uint64_t flow = instant_file_.next();
        one.arguments = instant_file_.next();
        if (instant_grain_ == 0 || flow != 0) {
            write_one(key, one, flow);
            continue;
        }
        Repeated& open = waiting[key];
        if (open.count != 0 && time - open.time < instant_grain_) {
            ++open.count;
            continue;
        }
        if (open.count != 0) write_one(key, open, 0);
        open = one;
    }
    for (const auto& [key, one] : waiting) write_one(key, one, 0);
}

void PageWriter::write_wakeups() {
    if (wakeup_count_ > limits_.wakeups) {
        notes_.push_back(cat("who woke whom is left out: ", wakeup_count_, " wakeups"));
        return;
    }
    std::uint64_t time = begin_, last = begin_;
    std::size_t segment = 0;
    wakeup_file_.rewind();
    for (std::uint64_t left = wakeup_count_; left != 0; --left) {
        time += static_cast<std::uint64_t>(wakeup_file_.next_signed());
        while (segment + 1 < segments_.size() && time - begin_ >= segments_[segment + 1].from) {
            wakeups_.flush();
            last = begin_ + segments_[++segment].from;
        }
        if (!segments_.empty()) ++segments_[segment].wakeups;
        wakeups_.signed_number(step(time, last));
        for (int i = 0; i < 4; ++i) wakeups_.number(wakeup_file_.next());
        wakeups_.end_item();
    }
}

std::string PageWriter::facts_json(const PageOverview* overview) const {
    JsonArray names, tracks, tasks, reports, notes;
    for (const std::string& name : name_order_) names.add_text(name);
    for (const Track& track : tracks_) {
        JsonArray one;
        one.add_number(track.id).add_number(track.parent);
        one.add_number(static_cast<int>(track.kind)).add_text(track.name);
        one.add_number(track.tid).add_number(track.pid).add_text(track.unit);
        tracks.add(one.done());
    }
    for (const auto& [tid, name] : task_order_)
        tasks.add(JsonArray().add_number(tid).add_number(name).done());
    for (const auto& [title, text] : reports_)
        reports.add(JsonArray().add_text(title).add_text(text).done());
    for (const std::string& note : notes_) notes.add_text(note);
    JsonObject facts;
    facts.text("title", title_).text("clock", facts_.clock).text("uname", facts_.uname);
    facts.text("begin", cat(begin_)).number("span", end_ - begin_);
    facts.number("grain", switch_grain_).number("instantGrain", instant_grain_);
    facts.raw("names", names.done()).raw("tracks", tracks.done()).raw("tasks", tasks.done());
    facts.raw("reports", reports.done()).raw("notes", notes.done());
    JsonArray segments;
    for (const Segment& one : segments_)
        segments.add(JsonArray()
                         .add_number(one.from)
                         .add_number(one.switches)
                         .add_number(one.wakeups)
                         .done());
    facts.raw("segments", segments.done()).number("cpus", cpus_.size());
    facts.number("gaps", unknown_.size()).boolean("hasLines", lines_.items() != 0);
    if (overview) facts.raw("overview", overview->facts_json());
    return facts.done();
}

void PageWriter::finish() {
    end_open_slices();
    write_switches();
    write_instants();
    write_wakeups();
    for (PageChunks* chunks : {&slices_, &slice_values_, &gpu_slices_, &instants_, &instant_values_,
                               &counts_, &switches_, &wakeups_, &lines_})
        chunks->flush();
    const std::pair<std::uint64_t, const char*> left_out[] = {
        {left_out_slices_, " slices are left out"},
        {left_out_counts_, " changes of counters are left out"},
        {left_out_lines_, " lines of monitors are left out"},
        {left_out_values_, " items are without their fields"},
    };
    for (const auto& [count, what] : left_out)
        if (count != 0) notes_.push_back(cat(count, what));
    if (!lost_.is_zero())
        notes_.push_back(
            cat("lost events: ", loss_text(lost_), "; what ran meanwhile is not known"));
    if (chunks_.size() < limits_.bytes_without_overview && segments_.empty()) {
        write_(page_scripts(facts_json(nullptr)));
    } else {
        const PageOverview first = overview();
        write_(page_scripts(facts_json(&first)));
    }
    chunks_.rewind();
    for (auto piece = chunks_.next_piece(); !piece.empty(); piece = chunks_.next_piece())
        write_(piece);
    write_(page_tail());
}

}  // namespace gpufs
