#include "engine/trace/event_catalog.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {
namespace {

// "ID: 372" of a format file.
int id_in(std::string_view format_text) {
    constexpr std::string_view kKey = "\nID: ";
    int id = -1;
    if (const auto at = format_text.find(kKey); at != format_text.npos) {
        const std::string_view digits = format_text.substr(at + kKey.size());
        std::from_chars(digits.data(), digits.data() + digits.size(), id);
    }
    return id;
}

// "name: sched_switch", the first line.
std::string_view name_in(std::string_view format_text) {
    constexpr std::string_view kKey = "name: ";
    if (!format_text.starts_with(kKey)) return {};
    return format_text.substr(kKey.size(), format_text.find('\n') - kKey.size());
}

// Events of the tracer itself (events/ftrace) have the first ids, and available_events does not
// list them.
constexpr int kFirstListedId = 20;

}  // namespace

EventCatalog::Slot& EventCatalog::slot(int id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= by_id_.size()) by_id_.resize(index + 1);
    return by_id_[index];
}

const CatalogEvent& EventCatalog::add(std::string_view system, std::string_view format_text) {
    auto event = std::make_unique<CatalogEvent>(parse_event_format(system, format_text));
    Slot& at = slot(std::clamp(event->format.id, 0, 0xffff));
    if (!at.event) at.event = std::move(event);
    at.is_known = true;
    return *at.event;
}

void EventCatalog::offer(std::string_view system, std::string format_text) {
    const int id = id_in(format_text);
    std::string full_name = cat(system, ':', name_in(format_text));
    offers_.try_emplace(id, Offer{std::move(full_name), std::move(format_text)});
}

std::vector<std::string> EventCatalog::offered() const {
    std::vector<std::string> names;
    for (const auto& [id, offer] : offers_) names.push_back(offer.full_name);
    return names;
}

std::optional<std::string> EventCatalog::offered_text(std::string_view full_name) const {
    for (const auto& [id, offer] : offers_)
        if (offer.full_name == full_name) return offer.text;
    return std::nullopt;
}

const CatalogEvent* EventCatalog::take(const Offer& offer) {
    const std::string_view name = offer.full_name;
    try {
        return &add(name.substr(0, name.find(':')), offer.text);
    } catch (const Error&) {
        return nullptr;
    }
}

const CatalogEvent* EventCatalog::load(std::string_view system, std::string_view name) {
    const std::string full_name = cat(system, ':', name);
    for (const auto& [id, offer] : offers_)
        if (offer.full_name == full_name) return take(offer);
    if (!tracefs_) return nullptr;
    const auto text = tracefs_->read_if_readable(cat("events/", system, '/', name, "/format"));
    return text ? &add(system, *text) : nullptr;
}

const CatalogEvent* EventCatalog::find(std::string_view system, std::string_view name) {
    for (const Slot& s : by_id_)
        if (s.event && s.event->format.name == name && s.event->format.system == system)
            return s.event.get();
    return load(system, name);
}

const CatalogEvent* EventCatalog::find(int id) {
    if (id < 0 || id > 0xffff) return nullptr;
    if (const Slot& known = slot(id); known.is_known) return known.event.get();
    if (const auto offer = offers_.find(id); offer != offers_.end()) {
        take(offer->second);
    } else if (const auto name = name_of(id)) {
        const auto colon = name->find(':');
        load(std::string_view(*name).substr(0, colon), std::string_view(*name).substr(colon + 1));
    }
    // An event removed and made anew may have another id by now than its file had a moment ago.
    Slot& found = slot(id);
    found.is_known = true;
    return found.event.get();
}

int EventCatalog::read_id(const std::string& full_name) const {
    const std::string directory = event_directory(full_name);
    int id = -1;
    if (const auto text = tracefs_->read_if_readable(directory + "/id"))
        std::from_chars(text->data(), text->data() + text->size(), id);
    else if (const auto format = tracefs_->read_if_readable(directory + "/format"))
        id = id_in(*format);  // a captured tree may have formats only
    return id;
}

// The kernel hands out ids upwards and lists events in the order they were made, so the list is
// sorted by id but for modules that took ids left free. Eleven small files answer instead of 2,300.
std::optional<std::string> EventCatalog::search_listed(int id) {
    if (!listed_) {
        listed_.emplace();
        if (tracefs_->has("available_events")) listed_ = tracefs_->events();
    }
    std::size_t begin = 0, end = listed_->size();
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        const int there = read_id((*listed_)[middle]);
        if (there == id) return (*listed_)[middle];
        if (there < 0) break;  // an event that the tree lacks or that went away
        if (there < id)
            begin = middle + 1;
        else
            end = middle;
    }
    return std::nullopt;
}

std::optional<std::string> EventCatalog::name_of(int id) {
    if (!tracefs_) return std::nullopt;
    if (id >= kFirstListedId)
        if (auto name = search_listed(id)) return name;
    const std::string events = tracefs_->path("events");
    if (id < 2 * kFirstListedId && file_exists(events + "/ftrace")) {
        for (const std::string& name : list_directory(events + "/ftrace")) {
            const std::string full_name = "ftrace:" + name;
            if (read_id(full_name) == id) return full_name;
        }
    }
    if (!scanned_) {
        scanned_.emplace();
        for (const std::string& system : list_directory(events)) {
            if (!file_exists(cat(events, '/', system, "/."))) continue;
            for (const std::string& name : list_directory(cat(events, '/', system)))
                if (file_exists(cat(events, '/', system, '/', name, "/format")))
                    scanned_->emplace_back(read_id(cat(system, ':', name)), cat(system, ':', name));
        }
    }
    const auto it = std::ranges::find(*scanned_, id, &std::pair<int, std::string>::first);
    return it == scanned_->end() ? std::nullopt : std::optional(it->second);
}

}  // namespace gpufs
