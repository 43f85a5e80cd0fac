#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/run/run_program.h"
#include "cmd/shared/command_line.h"
#include "engine/monitor/adhoc_variables.h"
#include "engine/places/kernel_facts.h"
#include "engine/recording/file.h"
#include "lang/adhoc/latency_hists.h"
#include "lang/adhoc/words.h"

namespace gpufs {

// The common part of count, hist, latency, stacks and stats: their words become a question, whose
// Program is run.
struct AdhocChoices {
    RunChoices run;
    std::vector<std::string> words;
    // How many words are a latency's START, and at most its END; whether the latter were added.
    std::size_t starts = 1, ends = 1;
    bool has_added_end = false;
    std::optional<std::string> file;  // from -x
    std::vector<int> pids;
    std::optional<Expression> comm;  // from --comm
    std::optional<unsigned long> max_keys, top;
    // The user's texts, for messages; the first contains the words.
    std::vector<SourceText> sources{SourceText{}};

    // Returns the text's index.
    std::size_t add_source(SourceText source);
};

// How many of the words before `by` are events; fields are behind them.
enum class AdhocSubjects : std::size_t {
    event_and_field = 1,
    start_and_end = 2,
    events = SIZE_MAX
};

// Declares the common options and parses. Returns false if only help was requested.
bool parse_adhoc(Context& ctx, Args args, Options& options, AdhocChoices& choices,
                 AdhocSubjects subjects);

class AdhocAsker {
public:
    // `name`: the command's, for messages.
    AdhocAsker(std::string name, const AdhocChoices& choices);

    const std::vector<AdhocWord>& subjects() const { return words_.subjects; }
    // Throws UsageError with the usage if the number of words before `by` is not in this range.
    void require_subjects(std::size_t least, std::size_t most, const std::string& what) const;
    // `also`: what the question asks for besides the keys, the fields among the words and the
    // condition. `is_one_of_several`: other events may have it.
    std::vector<AdhocEvent> find_events(std::span<const AdhocWord> words,
                                        std::span<const AdhocWord> also = {},
                                        bool is_one_of_several = false);
    // Absent if there is no such tracepoint.
    std::optional<AdhocEvent> find_tracepoint(const std::string& name);
    // The one event of tracefs that a word means, for hist triggers: a dynamic probe's, too. Throws
    // SourceError.
    AdhocEvent find_traced(const AdhocWord& word);
    // A line for stderr before the run.
    void note(std::string text) { found_.notes.push_back(std::move(text)); }
    // A question about these events, with the keys and the filter of the choices.
    AdhocQuestion question(std::vector<AdhocEvent> events);

    // Runs the program that answers the question. Returns the same as Command::run.
    int run(Context& ctx, Program program);
    // The same for hist triggers that answer it; see run_hists().
    int run(Context& ctx, const LatencyHists& hists);

private:
    // Says what COMMAND means for events that happen in another task than the one they are about.
    void note_wakeups(std::span<const AdhocEvent> events);
    // Whether some text of the user's has this in it, as a name or as anything else.
    bool may_name(std::string_view name) const;

    std::vector<AskedName> asked_names(std::span<const AdhocWord> also,
                                       bool is_one_of_several) const;
    AdhocFilter filter();

    AdhocChoices choices_;
    AdhocWords words_;
    std::unique_ptr<TraceFile> recording_;  // source of the events; null: this machine
    KernelFacts machine_;
    AdhocLookup found_;
};

}  // namespace gpufs
