#include "view/page/page_overview.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/base64.h"
#include "base/sorted.h"
#include "view/export/protobuf.h"
#include "view/json.h"

namespace gpufs {
namespace {

constexpr const char* kCpu = "cpu";
constexpr const char* kTask = "task";
constexpr const char* kRing = "ring";
// A page has no lane for each of more CPUs before it is asked to (drawClosed of page_draw.js).
constexpr std::uint64_t kMostCpus = 64;

}  // namespace

PageOverview::PageOverview(std::uint64_t begin, std::uint64_t end)
    : begin_(begin), part_ns_((end - begin) / kParts + 1) {}

PageOverview::Lane& PageOverview::lane_of(const char* kind, std::uint64_t id) {
    return lanes_.try_emplace({kind, id}, Lane{kind, id}).first->second;
}

// Who is before others is found as the majority of a vote is: what others do is taken from it.
void PageOverview::add(Lane& lane, std::uint64_t pid, std::uint64_t from, std::uint64_t to) const {
    lane.busy += to - from;
    while (from < to) {
        const std::size_t at = std::min<std::size_t>((from - begin_) / part_ns_, kParts - 1);
        const std::uint64_t edge = at + 1 == kParts ? to : begin_ + (at + 1) * part_ns_;
        const std::uint64_t ns = std::min(to, edge) - from;
        Part& part = lane.parts[at];
        part.busy += ns;
        if (part.before == 0) part.pid = pid;
        if (part.pid == pid) {
            part.before += ns;
        } else if (part.before >= ns) {
            part.before -= ns;
        } else {
            part.pid = pid;
            part.before = ns - part.before;
        }
        from += ns;
    }
}

void PageOverview::add_job(std::uint32_t ring, std::uint64_t pid, std::uint64_t from,
                           std::uint64_t to) {
    Process& process = processes_[pid];
    ++process.jobs;
    process.gpu += to - from;
    add(lane_of(kRing, ring), pid, from, to);
}

void PageOverview::count_run(int tid, int pid, std::uint64_t ns) {
    Task& task = tasks_[tid];
    task.pid = static_cast<std::uint64_t>(pid);
    task.busy += ns;
    processes_[task.pid].cpu += ns;
}

// Those of processes with jobs, and the others: a page shows the busiest of both (makeTaskLanes of
// page_lanes.js).
void PageOverview::choose_tasks() {
    constexpr std::size_t kShown = 16;
    has_chosen_ = true;
    std::array<std::vector<Task*>, 2> groups;
    for (auto& [tid, task] : tasks_) groups[processes_[task.pid].jobs == 0].push_back(&task);
    for (std::vector<Task*>& group : groups) {
        sort_stably(group, std::greater(), &Task::busy);
        for (std::size_t i = 0; i < std::min(kShown, group.size()); ++i) group[i]->is_shown = true;
    }
}

void PageOverview::add_run(std::uint64_t cpu, int tid, int pid, std::uint64_t from,
                           std::uint64_t to) {
    if (!has_chosen_) choose_tasks();
    const auto process = static_cast<std::uint64_t>(pid);
    if (cpu < kMostCpus) add(lane_of(kCpu, cpu), process, from, to);
    if (tasks_[tid].is_shown)
        add(lane_of(kTask, static_cast<std::uint64_t>(tid)), process, from, to);
}

// The busiest, among which are the nine with colours of their own, and those in parts.
std::map<std::uint64_t, std::size_t> PageOverview::places_of_processes() const {
    constexpr std::size_t kMost = 200;
    std::set<std::uint64_t> told;
    for (const auto& [key, lane] : lanes_)
        for (const Part& part : lane.parts)
            if (part.busy != 0) told.insert(part.pid);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // how busy, and the pid
    for (const auto& [pid, one] : processes_) order.emplace_back(one.cpu + one.gpu, pid);
    sort_stably(order, std::greater());
    for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) told.insert(order[i].second);
    std::map<std::uint64_t, std::size_t> places;
    for (const auto& [busy, pid] : order)
        if (told.contains(pid)) places.emplace(pid, places.size());
    return places;
}

std::string PageOverview::bytes_of(const Lane& lane,
                                   const std::map<std::uint64_t, std::size_t>& places) const {
    constexpr std::uint64_t kWhole = 127;
    std::string bytes;
    for (const Part& part : lane.parts) {
        if (part.busy == 0) {
            append_varint(bytes, 0);
            continue;
        }
        append_varint(bytes, places.at(part.pid) + 1);
        append_varint(bytes, std::clamp<std::uint64_t>(part.busy * kWhole / part_ns_, 1, kWhole));
    }
    return bytes;
}

std::string PageOverview::facts_json() const {
    const std::map<std::uint64_t, std::size_t> places = places_of_processes();
    JsonArray lanes, processes;
    for (const auto& [key, lane] : lanes_) {
        JsonArray one;
        one.add_text(lane.kind).add_number(lane.id).add_number(lane.busy);
        lanes.add(one.add_text(base64(bytes_of(lane, places))).done());
    }
    std::vector<std::uint64_t> order(places.size());
    for (const auto& [pid, place] : places) order[place] = pid;
    for (const std::uint64_t pid : order) {
        const Process& process = processes_.at(pid);
        JsonArray one;
        one.add_number(pid).add_number(process.cpu).add_number(process.gpu);
        processes.add(one.add_number(process.jobs).done());
    }
    JsonObject facts;
    facts.number("parts", kParts).raw("lanes", lanes.done()).raw("processes", processes.done());
    return facts.done();
}

}  // namespace gpufs
