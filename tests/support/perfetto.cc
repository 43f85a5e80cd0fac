#include <algorithm>
#include <stdexcept>

#include "support/protobuf.h"
#include "support/timeline.h"

namespace gpufs::test {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw std::runtime_error(what);
}

class PerfettoReader {
public:
    ShownTimeline read(std::string_view bytes) {
        const ProtoMessage trace(bytes);
        for (const ProtoField& field : trace.fields())
            if (field.number != 1 || field.wire != 2) refuse("no packet");
        for (const ProtoMessage& packet : trace.messages(1)) take(packet);
        return std::move(shown_);
    }

private:
    void take(const ProtoMessage& packet) {
        if (packet.number(10) == 0) refuse("a packet without a sequence");
        if (packet.number(13) & 1) {
            names_.clear();
            categories_.clear();
            arguments_.clear();
            is_cleared_ = true;
        }
        if ((packet.number(13) & 2) && !is_cleared_) refuse("no state to begin with");
        for (const ProtoMessage& defaults : packet.messages(59))
            shown_.default_clock = defaults.number(58);
        for (const ProtoMessage& snapshot : packet.messages(6)) {
            shown_.primary_clock = snapshot.number(2);
            for (const ProtoMessage& clock : snapshot.messages(1))
                shown_.clocks[clock.number(1)] = clock.number(2);
        }
        for (const ProtoMessage& info : packet.messages(45))
            for (const ProtoMessage& names : info.messages(1)) shown_.release = names.text(3);
        for (const ProtoMessage& interned : packet.messages(12)) {
            learn(categories_, interned.messages(1));
            learn(names_, interned.messages(2));
            learn(arguments_, interned.messages(3));
        }
        for (const ProtoMessage& track : packet.messages(60)) take_track(track);
        for (const ProtoMessage& event : packet.messages(11)) take_event(event, packet.number(8));
        for (const ProtoMessage& bundle : packet.messages(1)) take_bundle(bundle);
    }

    using Texts = std::map<std::uint64_t, std::string>;
    static void learn(Texts& texts, const std::vector<ProtoMessage>& entries) {
        for (const ProtoMessage& entry : entries) texts[entry.number(1)] = entry.text(2);
    }
    static std::string text_of(const Texts& texts, const ProtoMessage& in, unsigned number,
                               unsigned plain) {
        if (!in.has(number)) return in.text(plain);
        const auto it = texts.find(in.numbers(number).at(0));
        if (it == texts.end()) refuse("a number without its text");
        return it->second;
    }

    void take_track(const ProtoMessage& descriptor) {
        ShownTimeline::Track track;
        track.parent = descriptor.number(5);
        track.name = descriptor.text(2);
        track.is_counter = descriptor.has(8);
        for (const ProtoMessage& process : descriptor.messages(3)) {
            track.pid = static_cast<int>(process.number(1));
            track.name = process.text(6);
        }
        for (const ProtoMessage& thread : descriptor.messages(4)) {
            track.pid = static_cast<int>(thread.number(1));
            track.tid = static_cast<int>(thread.number(2));
            track.name = thread.text(5);
        }
        if (track.parent != 0 && !shown_.tracks.contains(track.parent))
            refuse("the parent of a track is not described");
        if (!shown_.tracks.emplace(descriptor.number(1), track).second)
            refuse("a track is described twice");
    }

    static std::string value_of(const ProtoMessage& annotation) {
        if (annotation.has(6)) return annotation.text(6);
        if (annotation.has(4))
            return std::to_string(static_cast<std::int64_t>(annotation.number(4)));
        if (annotation.has(3)) return std::to_string(annotation.number(3));
        if (!annotation.has(7)) refuse("an argument without a value");
        return std::to_string(annotation.number(7));
    }

    ShownTimeline::Arguments arguments_of(const ProtoMessage& event) const {
        ShownTimeline::Arguments all;
        for (const ProtoMessage& annotation : event.messages(4))
            all[text_of(arguments_, annotation, 1, 10)] = value_of(annotation);
        return all;
    }

    void take_event(const ProtoMessage& event, std::uint64_t time) {
        ShownTimeline::Event one;
        one.track = event.number(11);
        one.begin = one.end = time;
        const auto track = shown_.tracks.find(one.track);
        if (track == shown_.tracks.end()) refuse("an event on a track that is not described");
        std::uint64_t& last = last_[one.track];
        if (time < last) refuse("time goes back on a track");
        last = time;
        if (event.number(9) == 4) {
            if (!track->second.is_counter) refuse("a value on a track that is no counter");
            shown_.values.push_back({one.track, time, static_cast<std::int64_t>(event.number(30))});
            return;
        }
        one.name = text_of(names_, event, 10, 23);
        one.category = text_of(categories_, event, 3, 22);
        one.arguments = arguments_of(event);
        one.flows = event.numbers(47);
        one.ending_flows = event.numbers(48);
        std::vector<std::size_t>& open = open_[one.track];
        if (event.number(9) == 1) {
            one.is_open = true;
            one.depth = open.size();
            open.push_back(shown_.slices.size());
            shown_.slices.push_back(std::move(one));
        } else if (event.number(9) == 2) {
            if (open.empty()) refuse("an end without a begin");
            ShownTimeline::Event& slice = shown_.slices[open.back()];
            slice.end = time;
            slice.is_open = false;
            slice.arguments.merge(one.arguments);
            open.pop_back();
        } else if (event.number(9) == 3) {
            shown_.instants.push_back(std::move(one));
        } else {
            refuse("an event of an unknown type");
        }
    }

    static std::string comm(const std::vector<std::string>& comms, std::uint64_t index) {
        if (index >= comms.size()) refuse("a name that is not in the table");
        return comms[index];
    }

    void take_bundle(const ProtoMessage& bundle) {
        const int cpu = static_cast<int>(bundle.number(1));
        for (const ProtoMessage& sched : bundle.messages(4)) {
            std::vector<std::string> comms;
            for (const ProtoField& field : sched.fields())
                if (field.number == 5) comms.emplace_back(field.bytes);
            std::vector<std::vector<std::uint64_t>> columns(13);
            for (unsigned i = 1; i < columns.size(); ++i)
                if (i != 5) columns[i] = sched.numbers(i);
            const auto number = [&](unsigned column, std::size_t row) {
                return static_cast<std::int64_t>(columns[column].at(row));
            };
            std::uint64_t time = 0;
            for (std::size_t i = 0; i < columns[1].size(); ++i) {
                time += columns[1][i];
                shown_.switches.push_back({time, cpu, number(2, i), number(3, i), number(4, i),
                                           comm(comms, columns[6].at(i))});
            }
            time = 0;
            for (std::size_t i = 0; i < columns[7].size(); ++i) {
                time += columns[7][i];
                columns[12].at(i);
                shown_.wakeups.push_back({time, cpu, number(8, i), number(9, i), number(10, i),
                                          comm(comms, columns[11].at(i))});
            }
        }
    }

    ShownTimeline shown_;
    Texts names_, categories_, arguments_;
    bool is_cleared_ = false;
    std::map<std::uint64_t, std::uint64_t> last_;             // times, by track
    std::map<std::uint64_t, std::vector<std::size_t>> open_;  // slices, by track
};

}  // namespace

std::string ShownTimeline::path_of(std::uint64_t track) const {
    const Track& one = tracks.at(track);
    return one.parent == 0 ? one.name : path_of(one.parent) + '/' + one.name;
}

ShownTimeline read_perfetto(std::string_view bytes) {
    return PerfettoReader().read(bytes);
}

}  // namespace gpufs::test
