#include "cmd/shared/recording_choice.h"

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"

namespace gpufs {
namespace {

// Of two in the same unit.
bool is_after(const Moment& a, const Moment& b) {
    if (a.time && b.time) return *a.time > *b.time;
    return a.count && b.count && *a.count > *b.count;
}

}  // namespace

std::string recording_path(const std::optional<std::string>& named, std::string_view command) {
    if (!named && !file_exists("trace.dat"))
        throw UsageError("there is no trace.dat here",
                         cat("'gpufs ", command, " FILE' names the recording"));
    return named.value_or("trace.dat");
}

Moment parse_moment(const std::string& option, const std::string& text) {
    Moment moment{text, std::nullopt, std::nullopt};
    const auto number = parse_whole_number(text);
    if (number && !number->is_negative) moment.count = number->magnitude;
    try {
        moment.time = parse_duration(option, text);
    } catch (const UsageError&) {
        if (!moment.count) throw;
    }
    return moment;
}

std::uint64_t clock_time(TraceFile& file, const char* option, const Moment& moment) {
    if (!file.context().options.clock_is_ns) {
        if (moment.count) return *moment.count;
        throw UsageError(cat(option, ": '", moment.text, "' is no count of the clock '",
                             file.facts().clock, "'"));
    }
    if (!moment.time) throw UsageError(cat(option, ": '", moment.text, "' is no time"));
    return static_cast<std::uint64_t>(moment.time->count());
}

void check_order(const std::optional<Moment>& from, const std::optional<Moment>& to) {
    if (from && to && is_after(*from, *to))
        throw UsageError(cat("--from ", from->text, " is after --to ", to->text));
}

}  // namespace gpufs
