#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/shared/command_line.h"
#include "cmd/shared/run_program.h"
#include "engine/monitor/kernel_facts.h"
#include "engine/trace/file.h"
#include "lang/adhoc/words.h"

namespace gpufs {

// What count, hist, latency and stacks share: their words become a question, whose Program is run.
struct AdhocChoices {
    RunChoices run;
    std::vector<std::string> words;
    std::vector<int> pids;
    std::optional<Expression> comm;  // --comm, as a condition
    std::optional<unsigned long> max_keys;
    // The user's texts, for messages about what stands in them; the first is that of the words.
    std::vector<SourceText> sources{SourceText{}};

    // The index of a further text.
    std::size_t add_source(SourceText source);
};

// Declares the options that all of them have, and parses. False when only help was asked for.
bool parse_adhoc(Context& ctx, Args args, Options& options, AdhocChoices& choices);

class AdhocAsker {
public:
    // `name` is the command's, for messages.
    AdhocAsker(std::string name, const AdhocChoices& choices);

    const std::vector<AdhocWord>& subjects() const { return words_.subjects; }
    // Throws UsageError, with the usage, where there are fewer or more words in front of `by`.
    void require_subjects(std::size_t least, std::size_t most, const std::string& what) const;
    std::vector<AdhocEvent> find_events(std::span<const AdhocWord> words);
    // Of this name, where there is one.
    std::optional<AdhocEvent> find_tracepoint(const std::string& name);
    // About these events; with the keys and the filter of the choices.
    AdhocQuestion question(std::vector<AdhocEvent> events);

    // Runs the program that answers the question.
    int run(Context& ctx, Program program);

private:
    AdhocFilter filter();

    AdhocChoices choices_;
    AdhocWords words_;
    std::unique_ptr<TraceFile> recording_;  // whose events they are; null: this machine's
    KernelFacts machine_;
};

}  // namespace gpufs
