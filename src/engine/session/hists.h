#pragma once

#include <string>
#include <vector>

#include "engine/session/session.h"
#include "lang/trigger/hist_listing.h"

namespace gpufs {

struct EventHist {
    std::string event;  // "sched:sched_switch"
    HistListing listing;
};

// What the hist triggers of the session have counted so far: of these events (patterns, as with
// -e; empty: all). Signs are those of the events' fields.
std::vector<EventHist> read_hists(const Session& session, const std::vector<std::string>& events);

}  // namespace gpufs
