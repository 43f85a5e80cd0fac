#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/json.h"
#include "support/timeline.h"

namespace gpufs::test {
namespace {

class ChromeReader {
public:
    ShownTimeline read(std::string_view json) {
        if (json.ends_with('\n')) json.remove_suffix(1);
        std::string line;  // the reader of JSON takes one
        for (const char c : json)
            if (c != '\n') line += c;
        for (const Json& event : parse_json(line).items) take(event);
        return std::move(shown_);
    }

private:
    [[noreturn]] static void refuse(const std::string& what) { throw std::runtime_error(what); }

    // "12978421.673" in nanoseconds.
    static std::uint64_t time_of(const Json& event) {
        std::string digits = event["ts"].text;
        const auto point = digits.find('.');
        if (point == digits.npos || digits.size() - point != 4) refuse("a time without decimals");
        digits.erase(point, 1);
        return std::stoull(digits);
    }

    // Threads and counters are tracks, below their process.
    std::uint64_t track_of(const Json& event, const std::string& counter = {}) {
        const std::string pid = event["pid"].text;
        const std::string key =
            counter.empty() ? pid + '/' + event["tid"].text : pid + ' ' + counter;
        const auto [it, is_new] = tracks_.try_emplace(key, tracks_.size() + 1);
        ShownTimeline::Track& track = shown_.tracks[it->second];
        if (!is_new) return it->second;
        track.parent = process_of(pid);
        track.name = counter;
        track.is_counter = !counter.empty();
        return it->second;
    }
    std::uint64_t process_of(const std::string& pid) {
        const auto [it, is_new] = tracks_.try_emplace(pid, tracks_.size() + 1);
        if (is_new) shown_.tracks[it->second].pid = std::stoi(pid);
        return it->second;
    }

    static ShownTimeline::Arguments arguments_of(const Json& event) {
        ShownTimeline::Arguments all;
        if (!event.members.contains("args")) return all;
        for (const auto& [name, value] : event["args"].members) all[name] = value.text;
        return all;
    }

    void take(const Json& event) {
        const std::string& phase = event["ph"].text;
        if (phase == "M") {
            const bool is_process = event["name"].text == "process_name";
            const std::uint64_t track =
                is_process ? process_of(event["pid"].text) : track_of(event);
            shown_.tracks[track].name = event["args"]["name"].text;
        } else if (phase == "s" || phase == "t" || phase == "f") {
            take_flow(event, phase);
        } else if (phase == "C") {
            shown_.values.push_back({track_of(event, event["name"].text), time_of(event),
                                     event["args"].members.begin()->second.number()});
        } else {
            take_event(event, phase);
        }
    }

    void take_flow(const Json& event, const std::string& phase) {
        if (!last_event_ || last_event_->track != track_of(event) ||
            last_event_->begin != time_of(event))
            refuse("an arrow without its event");
        const auto flow = static_cast<std::uint64_t>(event["id"].number());
        if (phase != "s" && !flows_.contains(flow)) refuse("an arrow that has not begun");
        flows_[flow] = true;
        (phase == "f" ? last_event_->ending_flows : last_event_->flows).push_back(flow);
    }

    void take_event(const Json& event, const std::string& phase) {
        ShownTimeline::Event one;
        one.track = track_of(event);
        one.begin = one.end = time_of(event);
        one.arguments = arguments_of(event);
        std::uint64_t& last = last_[one.track];
        if (one.begin < last) refuse("time goes back on a track");
        last = one.begin;
        auto& open = open_[one.track];
        if (phase == "E") {
            if (open.empty()) refuse("an end without a begin");
            ShownTimeline::Event& slice = shown_.slices[open.back()];
            slice.end = one.begin;
            slice.is_open = false;
            slice.arguments.merge(one.arguments);
            open.pop_back();
            return;
        }
        one.name = event["name"].text;
        one.category = event["cat"].text;
        if (phase == "B") {
            one.is_open = true;
            one.depth = open.size();
            open.push_back(shown_.slices.size());
            shown_.slices.push_back(std::move(one));
            last_event_ = &shown_.slices.back();
        } else if (phase == "i" || phase == "X") {
            shown_.instants.push_back(std::move(one));
            last_event_ = &shown_.instants.back();
        } else {
            refuse("an event of an unknown phase");
        }
    }

    ShownTimeline shown_;
    std::map<std::string, std::uint64_t> tracks_;
    std::map<std::uint64_t, std::uint64_t> last_;             // times, by track
    std::map<std::uint64_t, std::vector<std::size_t>> open_;  // slices, by track
    std::map<std::uint64_t, bool> flows_;
    ShownTimeline::Event* last_event_ = nullptr;
};

}  // namespace

ShownTimeline read_chrome(std::string_view json) {
    return ChromeReader().read(json);
}

}  // namespace gpufs::test
