#include "kernel/perf/dynamic_event.h"

#include <unistd.h>

#include <atomic>
#include <utility>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// A C identifier of less than 64 characters (MAX_EVENT_NAME_LEN). It must be unused: otherwise the
// kernel would add our probe to the existing event, and removing ours would remove both.
std::string unique_name(std::string_view hint) {
    static std::atomic<unsigned> made = 0;
    std::string name;
    for (const char c : hint.substr(0, 32)) name += is_word_char(c) ? c : '_';
    if (name.empty() || is_digit(name[0])) name.insert(0, "p");
    return cat(name, '_', ::getpid(), '_', ++made);
}

}  // namespace

DynamicEvent::DynamicEvent(std::string file, std::string_view type, std::string_view group,
                           std::string_view hint, std::string_view where)
    : tracefs_(find_tracefs()), file_(std::move(file)), group_(group) {
    if (!tracefs_.has(file_))
        throw UnsupportedError(cat("this kernel has no ", file_, " in tracefs"),
                               missing_probe_events_hint(file_ == "uprobe_events"));
    const std::string name = unique_name(hint);
    tracefs_.write(file_, cat(type, ':', group_, '/', name, ' ', where, '\n'), Write::append);
    name_ = name;
}

DynamicEvent& DynamicEvent::operator=(DynamicEvent&& other) noexcept {
    std::swap(tracefs_, other.tracefs_);
    std::swap(file_, other.file_);
    std::swap(group_, other.group_);
    std::swap(name_, other.name_);
    return *this;
}

DynamicEvent::~DynamicEvent() {
    try {
        remove();
    } catch (const Error&) {
        // Destructors cannot report errors; call remove() to see them.
    }
}

std::uint64_t DynamicEvent::id() const {
    const std::string text = tracefs_.read(cat("events/", group_, '/', name_, "/id"));
    return whole_number<std::uint64_t>(trim(text)).value_or(0);
}

std::optional<std::uint64_t> DynamicEvent::missed() const {
    if (file_ != "kprobe_events") return std::nullopt;
    // "  name   hits   misses"
    const auto profile = tracefs_.read_if_readable("kprobe_profile");
    if (!profile) return std::nullopt;
    for (const std::string_view line : lines_of(*profile)) {
        const auto words = split(line, ' ');
        if (words.size() == 3 && words[0] == name_) return whole_number<std::uint64_t>(words[2]);
    }
    return std::nullopt;
}

void DynamicEvent::remove() {
    if (name_.empty()) return;
    tracefs_.write(file_, cat("-:", group_, '/', name_, '\n'), Write::append);
    name_.clear();
}

}  // namespace gpufs
