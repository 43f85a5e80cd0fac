#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/adhoc/adhoc.h"

namespace gpufs {

// The words of an ad-hoc command, joined to one text for messages: "sched:sched_switch by
// comm,cpu".
struct AdhocWords {
    SourceText source;
    std::vector<AdhocWord> subjects;  // before `by`: events, fields
    std::vector<AdhocWord> keys;      // after `by`, separated by commas and blanks
};
// `source_index`: the text's index in Program::sources. Throws SourceError for a `by` without keys,
// or after keys.
AdhocWords parse_adhoc_words(std::string name, const std::vector<std::string>& words,
                             std::size_t source_index = 0);

// Makes the events among the words before `by` functions of a file: "main" becomes
// "uprobe:FILE:main", "malloc,free" two of them, also "ns::f" and "SOURCE:LINE". What names a kind
// of probe or a system stays. A file whose path other parts of a word may be in stands in quotes.
// `events`: how many words are events; fields are behind them. Returns how many words each of the
// events has become.
std::vector<std::size_t> set_file(std::vector<std::string>& words, const std::string& file,
                                  std::size_t events);
// Where there are only so many words before `by`, inserts behind them the end that belongs to each:
// the return of a function, the exit of a system call; of a list with commas the list of them. Does
// nothing where one has no such end. Whether it inserted them.
bool add_end(std::vector<std::string>& words, std::size_t starts);

// The non-empty parts of a range of the text, split at characters of `separators`.
std::vector<AdhocWord> pieces_of(const SourceText& source, std::size_t source_index, Span range,
                                 std::string_view separators);

// Parses "pid=next_pid,cpu". Throws SourceError.
std::vector<AdhocPair> parse_adhoc_pairs(const SourceText& source, std::size_t source_index);

// Parses "fd,start.comm". Throws SourceError.
std::vector<AdhocWord> parse_adhoc_names(const SourceText& source, std::size_t source_index);

// Parses LOW:HIGH:STEP, "0:4096:256": a linear histogram. Rounds HIGH up to a whole step. Throws
// SourceError.
Aggregation parse_linear(const SourceText& source);

}  // namespace gpufs
