#include "cmd/shared/recording_input.h"

#include <algorithm>
#include <limits>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "view/duration.h"
#include "view/losses.h"

namespace gpufs {
namespace {

// Lines show times in microseconds, rounded.
constexpr std::size_t kShownDigits = 6;
constexpr std::uint64_t kHalfShown = 500;  // ns

}  // namespace

std::string recording_path(const std::optional<std::string>& named, std::string_view command) {
    if (!named && !file_exists("trace.dat"))
        throw UsageError("there is no trace.dat here",
                         cat("'gpufs ", command, " FILE' names the recording"));
    return named.value_or("trace.dat");
}

void check_is_not_input(std::string_view option, const std::optional<std::string>& written,
                        const std::string& input, std::string_view what) {
    // Standard input and output are two files, where no shell made them one.
    if (written && *written != "-" &&
        are_one_file(*written, input == "-" ? "/proc/self/fd/0" : input))
        throw UsageError(cat(option, ": '", *written, "' is ", what));
}

void RecordingRange::add_to(Options& options) {
    options
        .parsed("from", "T", "only from this time of the recording on (220.5)",
                [this](const std::string& text) { from_.parse(text); })
        .parsed("to", "T", "only up to this time",
                [this](const std::string& text) { to_.parse(text); });
}

void RecordingRange::check() const {
    const bool is_wrong = from_.time && to_.time
                              ? *from_.time > *to_.time
                              : from_.count && to_.count && *from_.count > *to_.count;
    if (is_wrong) throw UsageError(cat("--from ", *from_.text, " is after --to ", *to_.text));
}

void RecordingRange::limit(RecordChoice& choice, TraceFile& file) const {
    if (from_.text) choice.from = from_.in_clock(file).first;
    if (to_.text) choice.to = to_.in_clock(file).second;
}

std::string RecordingRange::missed_text(TraceFile& file, const WantedRecords& wanted) const {
    if ((!from_.text && !to_.text) || wanted.has_reached_range()) return {};
    const auto words = [&](std::uint64_t time) {  // rounded as in the lines of a report
        return file.context().options.clock_is_ns ? seconds_text(time + kHalfShown) : cat(time);
    };
    const std::uint64_t first = file.first_time();
    if (!file.next()) return {};
    std::uint64_t last = first;
    file.rewind({}, std::numeric_limits<std::uint64_t>::max());
    while (const TraceRecord* record = file.next()) last = std::max(last, record->timestamp);
    return cat("no record is of that time: the recording goes from ", words(first), " to ",
               words(last));
}

void RecordingRange::Moment::parse(const std::string& given) {
    text = given;
    const auto number = parse_whole_number(given);
    if (number && !number->is_negative) count = number->magnitude;
    try {
        time = parse_duration(option, given);
    } catch (const UsageError& e) {
        if (!count)
            throw UsageError(e.what(), "as the lines show it: 220.5; or with a unit: 220500ms");
    }
}

std::pair<std::uint64_t, std::uint64_t> RecordingRange::Moment::in_clock(TraceFile& file) const {
    if (!file.context().options.clock_is_ns) {
        if (count) return {*count, *count};
        throw UsageError(
            cat(option, ": '", *text, "' is no count of the clock '", file.facts().clock, "'"));
    }
    if (!time) throw UsageError(cat(option, ": '", *text, "' is no time"));
    const auto ns = static_cast<std::uint64_t>(time->count());
    const std::size_t fraction = std::min(text->find('.'), text->size() - 1) + 1;
    const std::size_t end = std::min(text->find_first_not_of("0123456789", fraction), text->size());
    if (ns % (2 * kHalfShown) != 0 || end - fraction > kShownDigits) return {ns, ns};
    return {ns - std::min(ns, kHalfShown), ns + (kHalfShown - 1)};
}

LossLedger losses_of(const TraceFile& file, const WantedRecords& wanted) {
    LossLedger losses = wanted.losses();
    losses.add(file.damage_losses());
    return losses;
}

int tell_end(Context& ctx, const TraceFile& file, const std::vector<std::string>& notes,
             const LossLedger& losses, bool strict) {
    for (const std::string& what : file.damage()) ctx.err.line(cat("gpufs: ", what));
    for (const std::string& note : file.notes()) ctx.err.line(note);
    for (const std::string& note : notes) ctx.err.line(note);
    if (!losses.is_complete()) ctx.err.line(losses_text(losses));
    return status_of(strict, losses);
}

}  // namespace gpufs
