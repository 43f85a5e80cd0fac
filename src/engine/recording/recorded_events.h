#pragma once

#include "engine/trace/events.h"

namespace gpufs {

// The formats that a recording brings along.
class RecordedEvents : public EventSource {
public:
    // Of several formats with one id the first is kept.
    void add(std::string_view system, std::string format_text);

    std::vector<std::string> names() override;
    std::optional<std::string> format_text(std::string_view full_name) override;
    std::optional<std::string> find_name(int id) override;
    std::string described() const override { return "this recording"; }
    std::string advice(std::string_view missing) const override;

private:
    struct Recorded {
        std::string full_name, text;
    };
    std::map<int, Recorded> by_id_;
};

}  // namespace gpufs
