#include "engine/trace/kernel_events.h"

#include <algorithm>
#include <charconv>

#include "base/cat.h"
#include "base/file.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

// Events of the tracer itself (events/ftrace) have the first ids, and available_events does not
// list them.
constexpr int kFirstListedId = 20;

class KernelEvents : public EventSource {
public:
    explicit KernelEvents(Tracefs top) : top_(std::move(top)) {}

    std::vector<std::string> names() override { return top_.events(); }
    std::optional<std::string> format_text(std::string_view full_name) override {
        return top_.read_if_readable(event_directory(full_name) + "/format");
    }
    std::optional<std::string> find_name(int id) override {
        const bool were_read = listed_ || all_ids_;
        auto name = search(id);
        if (name || !were_read) return name;
        // It may be of an event that came since the lists were read.
        listed_.reset();
        all_ids_.reset();
        return search(id);
    }
    std::string described() const override { return "this kernel"; }
    std::string advice(std::string_view word) const override {
        const std::string_view system = word.substr(0, word.find(':'));
        if (system.size() < word.size())
            for (const ProbeKind& kind : kProbeKinds)
                if (kind.name == system && kind.syntax == ProbeKind::Syntax::name)
                    return cat("this is a place in code, not an event: 'gpufs count ", word,
                               "' counts it, and 'gpufs probe add' makes an event of it");
        return "'gpufs list' shows the events of this kernel; drivers bring theirs when loaded";
    }
    std::string field_advice() const override {
        return "'gpufs list -v EVENT' shows the fields of an event";
    }

private:
    std::optional<std::string> search(int id) {
        if (id >= kFirstListedId)
            if (auto name = search_listed(id)) return name;
        if (id < 2 * kFirstListedId)
            if (auto name = search_directory("ftrace", id)) return name;
        return search_all(id);
    }
    // -1 when there is no such event any more.
    int read_id(const std::string& full_name) {
        int id = -1;
        if (const auto text = top_.read_if_readable(event_directory(full_name) + "/id"))
            std::from_chars(text->data(), text->data() + text->size(), id);
        else if (const auto format = format_text(full_name))
            id = declared_id(*format);  // a captured tree may have formats only
        return id;
    }

    // The kernel hands out ids upwards and lists events in the order they were made, so the list is
    // sorted by id but for modules that took ids left free. Eleven small files answer instead of
    // 2,300.
    std::optional<std::string> search_listed(int id) {
        if (!listed_)
            listed_ = top_.has("available_events") ? top_.events() : std::vector<std::string>();
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

    std::optional<std::string> search_directory(const std::string& system, int id) {
        const std::string directory = top_.path("events/" + system);
        if (!file_exists(directory)) return std::nullopt;
        for (const std::string& name : list_directory(directory)) {
            std::string full_name = cat(system, ':', name);
            if (read_id(full_name) == id) return full_name;
        }
        return std::nullopt;
    }

    // Reads every id file, once.
    std::optional<std::string> search_all(int id) {
        if (!all_ids_) {
            all_ids_.emplace();
            const std::string events = top_.path("events");
            for (const std::string& system : list_directory(events)) {
                if (!file_exists(cat(events, '/', system, "/."))) continue;
                for (const std::string& name : list_directory(cat(events, '/', system)))
                    if (file_exists(cat(events, '/', system, '/', name, "/format")))
                        all_ids_->emplace_back(read_id(cat(system, ':', name)),
                                               cat(system, ':', name));
            }
        }
        const auto it = std::ranges::find(*all_ids_, id, &std::pair<int, std::string>::first);
        return it == all_ids_->end() ? std::nullopt : std::optional(it->second);
    }

    Tracefs top_;
    std::optional<std::vector<std::string>> listed_;  // available_events
    std::optional<std::vector<std::pair<int, std::string>>> all_ids_;
};

}  // namespace

Events kernel_events(const Tracefs& top) {
    return Events(std::make_unique<KernelEvents>(top));
}

}  // namespace gpufs
