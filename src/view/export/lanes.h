#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "view/export/timeline.h"

namespace gpufs {

// Gives tracks their numbers.
class Tracks {
public:
    explicit Tracks(TimelineWriter& writer) : writer_(writer) {}

    // Adds it, with a number of its own, which is returned.
    std::uint32_t add(Track track) {
        track.id = ++count_;
        writer_.add_track(track);
        return count_;
    }
    // The group of this name below another, or below none (0); added at the first call.
    std::uint32_t group(std::string_view name, std::uint32_t parent = 0);

private:
    TimelineWriter& writer_;
    std::uint32_t count_ = 0;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> groups_;
};

// Tracks of one name, as many as slices are open at a time: no two of them are on one.
class Lanes {
public:
    // Keeps a reference to the tracks.
    Lanes(Tracks& tracks, std::uint32_t parent, std::string name)
        : tracks_(tracks), parent_(parent), name_(std::move(name)) {}

    // The first track that is free; it is taken.
    std::uint32_t take();
    void give_back(std::uint32_t track) { free_.insert(track); }

private:
    Tracks& tracks_;
    std::uint32_t parent_;
    std::string name_;
    std::set<std::uint32_t> free_;
};

}  // namespace gpufs
