#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "engine/recording/file.h"
#include "engine/recording/wanted_records.h"

namespace gpufs {

// The recording that a command reads: `named`, else trace.dat. Throws UsageError, with the
// command's name in its hint, where neither is there.
std::string recording_path(const std::optional<std::string>& named, std::string_view command);

// Throws UsageError where the file of an option, which is to be written, is the one that is read.
void check_is_not_input(std::string_view option, const std::optional<std::string>& written,
                        const std::string& input, std::string_view what = "the recording");

// A part of a recording, as --from and --to give it, both ends included.
class RecordingRange {
public:
    // Adds the two options; whoever adds them keeps this object as long as the options.
    void add_to(Options& options);
    // Throws UsageError where --from is after --to.
    void check() const;
    // Limits the choice to the range, in units of the recording's clock. Throws UsageError for what
    // that clock does not count: a time where it counts no nanoseconds, and a bare count where it
    // does.
    void limit(RecordChoice& choice, TraceFile& file) const;

    // Where it is given and no record was in it: a sentence with the times of the first and the
    // last record. Else empty. Reads the recording again.
    std::string missed_text(TraceFile& file, const WantedRecords& wanted) const;

private:
    // Which of the two is meant is known once the recording's clock is.
    struct Moment {
        const char* option;
        std::optional<std::string> text;
        std::optional<std::chrono::nanoseconds> time;
        std::optional<std::uint64_t> count;
        void parse(const std::string& given);
        // The first and the last time that a line shows so; one where it is told exactly.
        std::pair<std::uint64_t, std::uint64_t> in_clock(TraceFile& file) const;
    };
    Moment from_{"--from", {}, {}, {}}, to_{"--to", {}, {}, {}};
};

// What was lost of a recording, once it is read to its end.
LossLedger losses_of(const TraceFile& file, const WantedRecords& wanted);

// Tells on `err` what every command tells that read a recording to its end: the file's damage, its
// notes and those of the command, and the losses. Returns the exit status.
int tell_end(Context& ctx, const TraceFile& file, const std::vector<std::string>& notes,
             const LossLedger& losses, bool strict);

}  // namespace gpufs
