#include "lang/adhoc/words.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/cat.h"
#include "base/text.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

// Keeps the slots of a key below 64 KiB.
constexpr std::int64_t kMaxSlots = 4096;
constexpr const char* kNoField = "there is no field in it";

// Where the words before `by` end.
std::vector<std::string>::iterator end_of_subjects(std::vector<std::string>& words) {
    return std::ranges::find(words, "by");
}

// The word of the other end; empty if there is none.
std::string end_of(const std::string& start) {
    struct Ends {
        std::string_view start, end;
    };
    constexpr Ends kEnds[] = {
        {"uprobe:", "uretprobe:"},
        {"kprobe:", "kretprobe:"},
        {"fentry:", "fexit:"},
        {"sys_enter_", "sys_exit_"},
        {"syscalls:sys_enter_", "syscalls:sys_exit_"},
        {"tracepoint:syscalls:sys_enter_", "tracepoint:syscalls:sys_exit_"},
    };
    for (const Ends& one : kEnds)
        if (start.starts_with(one.start)) return cat(one.end, start.substr(one.start.size()));
    return {};
}

// SOURCE:LINE or FUNCTION:LINE, without a kind of probe in front. No event's name ends with a plain
// number behind a colon.
bool is_code_line(std::string_view word) {
    const std::string_view first = word.substr(0, word.find(':'));
    return line_begin(word) != 0 &&
           std::ranges::find(kProbeKinds, first, &ProbeKind::name) == std::end(kProbeKinds);
}

// What is at a place of a file where one is given: a name without a system in front.
bool is_in_file(std::string_view word) {
    const auto colon = word.find(':');
    return colon == word.npos || word.substr(colon).starts_with("::") || is_code_line(word);
}

// "malloc,free", "ns::f(int,long),main".
std::vector<std::string> functions_of(std::string_view word) {
    std::vector<std::string> functions(1);
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t past = std::max(past_brackets(word, at), at + 1);
        if (word[at] == ',')
            functions.emplace_back();
        else
            functions.back() += word.substr(at, past - at);
        at = past;
    }
    std::erase(functions, "");
    return functions;
}

// The word of the ends of a word's events, "kprobe:a,sys_enter_b"; empty if one has none.
std::string ends_of(const std::string& starts) {
    // In a file's path and in functions' names commas may be. A line has no end of its own.
    if (starts.starts_with("uprobe:")) return line_begin(starts) != 0 ? "" : end_of(starts);
    std::vector<std::string> ends;
    for (const std::string_view start : split(starts, ',')) {
        ends.push_back(end_of(std::string(start)));
        if (ends.back().empty()) return {};
    }
    return join(ends, ",");
}

}  // namespace

std::vector<AdhocWord> pieces_of(const SourceText& source, std::size_t index, Span range,
                                 std::string_view separators) {
    std::vector<AdhocWord> pieces;
    const std::string_view text = std::string_view(source.text).substr(0, range.end);
    for (std::size_t at = range.begin; at < range.end;) {
        at = std::min(text.find_first_not_of(separators, at), range.end);
        const std::size_t end = std::min(text.find_first_of(separators, at), range.end);
        if (at < end)
            pieces.push_back({std::string(text.substr(at, end - at)), {index, {at, end}}});
        at = end;
    }
    return pieces;
}

// "if EXPR", as triggers have it.
static void refuse_condition(const AdhocWords& words) {
    for (const auto* list : {&words.subjects, &words.keys})
        for (const AdhocWord& word : *list)
            if (word.text == "if")
                throw SourceError(words.source, word.at.span, "a condition is an option here",
                                  "--if 'EXPR'");
}

AdhocWords parse_adhoc_words(std::string name, const std::vector<std::string>& words,
                             std::size_t source_index) {
    AdhocWords parsed;
    parsed.source.name = std::move(name);
    std::string& text = parsed.source.text;
    std::optional<Span> by;
    for (const std::string& word : words) {
        if (!text.empty()) text += ' ';
        const Span at{text.size(), text.size() + word.size()};
        text += word;
        if (word == "by" && !by)
            by = at;
        else if (!by)
            parsed.subjects.push_back({word, {source_index, at}});
    }
    if (by) parsed.keys = pieces_of(parsed.source, source_index, {by->end, text.size()}, ", ");
    refuse_condition(parsed);
    if (!by) return parsed;
    for (const AdhocWord& key : parsed.keys)
        if (key.text == "by") throw SourceError(parsed.source, key.at.span, "a second 'by'");
    if (parsed.keys.empty())
        throw SourceError(parsed.source, *by, "by what?", "keys: a field, comm, pid, cpu, kstack…");
    return parsed;
}

std::vector<std::size_t> set_file(std::vector<std::string>& words, const std::string& file,
                                  std::size_t events) {
    const auto end = end_of_subjects(words);
    const bool is_plain = file.find_first_of(" \t\",(<") == std::string::npos;
    const std::string quoted = is_plain ? file : cat('"', file, '"');
    std::vector<std::string> changed;
    std::vector<std::size_t> became;
    for (auto word = words.begin(); word != end; ++word, events -= events != 0) {
        const std::size_t before = changed.size();
        if (events == 0 || !is_in_file(*word))
            changed.push_back(*word);
        else
            for (const std::string& function : functions_of(*word))
                changed.push_back(cat("uprobe:", quoted, ':', function));
        if (events != 0) became.push_back(changed.size() - before);
    }
    changed.insert(changed.end(), end, words.end());
    words = std::move(changed);
    return became;
}

bool add_end(std::vector<std::string>& words, std::size_t starts) {
    const auto by = end_of_subjects(words);
    if (starts == 0 || static_cast<std::size_t>(by - words.begin()) != starts) return false;
    std::vector<std::string> added;
    for (auto word = words.begin(); word != by; ++word) {
        added.push_back(ends_of(*word));
        if (added.back().empty()) return false;
    }
    words.insert(by, added.begin(), added.end());
    return true;
}

std::vector<AdhocPair> parse_adhoc_pairs(const SourceText& source, std::size_t source_index) {
    std::vector<AdhocPair> pairs;
    for (const AdhocWord& piece : pieces_of(source, source_index, {0, source.text.size()}, ", ")) {
        const std::size_t equals = piece.text.find('=');
        AdhocPair pair{piece, piece};
        if (equals != std::string::npos) {
            pair.start.text = piece.text.substr(0, equals);
            pair.end.text = piece.text.substr(equals + 1);
            pair.start.at.span.end = piece.at.span.begin + equals;
            pair.end.at.span.begin = pair.start.at.span.end + 1;
        }
        if (pair.start.text.empty() || pair.end.text.empty() ||
            pair.end.text.find('=') != std::string::npos)
            throw SourceError(source, piece.at.span, "expected FIELD or FIELD=FIELD",
                              "the start's field, and the end's where it has another name");
        pairs.push_back(std::move(pair));
    }
    if (pairs.empty()) throw SourceError(source, {0, source.text.size()}, kNoField);
    return pairs;
}

std::vector<AdhocWord> parse_adhoc_names(const SourceText& source, std::size_t source_index) {
    std::vector<AdhocWord> names = pieces_of(source, source_index, {0, source.text.size()}, ", ");
    if (names.empty()) throw SourceError(source, {0, source.text.size()}, kNoField);
    return names;
}

Aggregation parse_linear(const SourceText& source) {
    const std::vector<AdhocWord> pieces = pieces_of(source, 0, {0, source.text.size()}, ":");
    const auto whole = Span{0, source.text.size()};
    if (pieces.size() != 3)
        throw SourceError(source, whole, "expected LOW:HIGH:STEP", "as in 0:4096:256");
    std::int64_t numbers[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string& text = pieces[i].text;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
        if (error != std::errc() || end != text.data() + text.size())
            throw SourceError(source, pieces[i].at.span, cat("'", text, "' is no number"));
    }
    Aggregation how;
    how.kind = Aggregation::Kind::linear;
    how.low = numbers[0];
    how.step = numbers[2];
    if (how.step <= 0) throw SourceError(source, pieces[2].at.span, "a step is 1 or more");
    if (numbers[1] <= how.low)
        throw SourceError(source, pieces[1].at.span, "HIGH must be above LOW");
    __extension__ using Wide = __int128;
    const Wide slots = (Wide{numbers[1]} - how.low + how.step - 1) / how.step;
    const Wide high = how.low + slots * how.step;
    if (slots > kMaxSlots || high > std::numeric_limits<std::int64_t>::max())
        throw SourceError(source, whole, cat("a histogram has ", kMaxSlots, " steps at most"),
                          "a larger STEP");
    how.high = static_cast<std::int64_t>(high);
    return how;
}

}  // namespace gpufs
