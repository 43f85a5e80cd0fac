#include "engine/session/hists.h"

#include <algorithm>

#include "engine/session/filters.h"
#include "engine/trace/kernel_events.h"

namespace gpufs {
namespace {

void set_signs(std::vector<HistColumn>& columns, const EventFormat& event) {
    for (HistColumn& column : columns)
        if (const Field* field = event.find(column.name)) column.is_signed = field->is_signed;
}

}  // namespace

std::vector<EventHist> read_hists(const Session& session, const std::vector<std::string>& events) {
    std::vector<EventHist> hists;
    Events known = kernel_events(session.top());
    for (const EventState& state : read_event_states(session)) {
        const bool is_meant =
            events.empty() || std::ranges::any_of(events, [&](const std::string& word) {
                return means_event(word, state.event);
            });
        if (!is_meant || std::ranges::none_of(state.triggers, &Trigger::is_hist)) continue;
        const std::string text = session.tracefs().read(event_directory(state.event) + "/hist");
        for (HistListing& listing : parse_hist_listings(text)) {
            set_signs(listing.keys, known.require(state.event));
            set_signs(listing.values, known.require(state.event));
            hists.push_back({state.event, std::move(listing)});
        }
    }
    return hists;
}

}  // namespace gpufs
