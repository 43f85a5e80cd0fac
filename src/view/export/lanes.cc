#include "view/export/lanes.h"

namespace gpufs {

std::uint32_t Tracks::group(std::string_view name, std::uint32_t parent) {
    const auto [it, is_new] = groups_.try_emplace({parent, std::string(name)}, 0);
    if (!is_new) return it->second;
    Track track;
    track.kind = Track::Kind::group;
    track.parent = parent;
    track.name = name;
    return it->second = add(std::move(track));
}

std::uint32_t Lanes::take() {
    if (!free_.empty()) return free_.extract(free_.begin()).value();
    Track track;
    track.parent = parent_;
    track.name = name_;
    return tracks_.add(std::move(track));
}

}  // namespace gpufs
