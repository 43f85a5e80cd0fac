#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/adhoc/adhoc.h"

namespace gpufs {

// The words of an ad-hoc command, as one text for its messages: "sched:sched_switch by comm,cpu".
struct AdhocWords {
    SourceText source;
    std::vector<AdhocWord> subjects;  // in front of `by`: events, fields
    std::vector<AdhocWord> keys;      // behind it, between commas and blanks
};
// `source_index` is where Program::sources will have the text. Throws SourceError for a `by`
// without keys, and behind keys.
AdhocWords parse_adhoc_words(std::string name, const std::vector<std::string>& words,
                             std::size_t source_index = 0);

// "pid=next_pid,cpu": what pairs a start with its end. Throws SourceError.
std::vector<AdhocPair> parse_adhoc_pairs(const SourceText& source, std::size_t source_index);

// "0:4096:256", LOW:HIGH:STEP: a linear histogram. HIGH moves up to a whole step. Throws
// SourceError.
Aggregation parse_linear(const SourceText& source);

}  // namespace gpufs
