#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/event/event_format.h"
#include "lang/print_fmt/format.h"

namespace gpufs {

// One event, ready to decode its records.
struct CatalogEvent {
    EventFormat format;
    PrintFormat print;

    explicit CatalogEvent(EventFormat f) : format(std::move(f)), print(format) {}
};

// The events a trace may hold, by the id in their records and by name. Only those asked for are
// read: parsing a format takes about 60 us, and a kernel has 2,300 of them.
class EventCatalog {
public:
    // An empty one, for formats that a recording brings along.
    EventCatalog() = default;
    // The events of a tracefs directory, an instance of it, or a captured tree.
    explicit EventCatalog(Tracefs tracefs) : tracefs_(std::move(tracefs)) {}

    // Null when there is no event of this id. The answer, also null, is remembered.
    const CatalogEvent* find(int id);
    const CatalogEvent* find(std::string_view system, std::string_view name);
    // Throws Error when the text is no format. The first event of an id stays.
    const CatalogEvent& add(std::string_view system, std::string_view format_text);
    // Keeps a format that a recording brought along until it is asked for; one that cannot be
    // parsed then is no event. The first of an id stays.
    void offer(std::string_view system, std::string format_text);
    // What was offered, as "system:name", by id; and the text of one of them.
    std::vector<std::string> offered() const;
    std::optional<std::string> offered_text(std::string_view full_name) const;

private:
    struct Offer {
        std::string full_name, text;
    };
    struct Slot {
        bool is_known = false;
        std::unique_ptr<CatalogEvent> event;
    };
    Slot& slot(int id);
    const CatalogEvent* take(const Offer& offer);
    const CatalogEvent* load(std::string_view system, std::string_view name);
    std::optional<std::string> name_of(int id);
    std::optional<std::string> search_listed(int id);
    int read_id(const std::string& full_name) const;

    std::optional<Tracefs> tracefs_;
    std::map<int, Offer> offers_;
    std::vector<Slot> by_id_;
    std::optional<std::vector<std::string>> listed_;  // available_events
    std::optional<std::vector<std::pair<int, std::string>>>
        scanned_;  // every id file, if it must be
};

}  // namespace gpufs
