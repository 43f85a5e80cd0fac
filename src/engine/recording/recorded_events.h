#pragma once

#include "engine/trace/events.h"

namespace gpufs {

// The formats that a recording brings along.
class RecordedEvents : public EventSource {
public:
    // `path`: of the recording, for advice; "-", or empty, where it cannot be read again.
    explicit RecordedEvents(std::string path = {}) : path_(std::move(path)) {}

    // Of several formats with one id the first is kept.
    void add(std::string_view system, std::string format_text);

    std::vector<std::string> names() override;
    std::optional<std::string> format_text(std::string_view full_name) override;
    std::optional<std::string> find_name(int id) override;
    std::string described() const override { return "this recording"; }
    std::string advice(std::string_view missing) const override;
    std::string field_advice() const override;

private:
    struct Recorded {
        std::string full_name, text;
    };
    std::string report(std::string_view option) const;

    std::string path_;
    std::map<int, Recorded> by_id_;
    std::map<std::string, int, std::less<>> ids_;  // by full name
};

}  // namespace gpufs
