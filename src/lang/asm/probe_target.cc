#include <algorithm>
#include <iterator>

#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "lang/asm/probe_word.h"
#include "lang/asm/work.h"
#include "lang/event/sampling_events.h"
#include "lang/insn/tokens.h"
#include "lang/program/function_pattern.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Syntax = ProbeKind::Syntax;

const ProbeKind* find_kind(std::string_view word) {
    const auto it = std::ranges::find(kProbeKinds, word, &ProbeKind::name);
    return it == std::end(kProbeKinds) ? nullptr : it;
}

class TargetParser {
public:
    TargetParser(const SourceText& source, std::size_t index, Span range)
        : source_(source), index_(index), at_(range.begin), end_(range.end) {}

    std::vector<std::vector<ProbeTarget>> parse() {
        std::vector<std::vector<ProbeTarget>> all(1);
        for (;;) {
            all.back().push_back(target());
            if (at_ == end_ || is_comment()) return all;
            if (source_.text[at_++] == ',') all.emplace_back();
        }
    }

    // KIND:TARGET; the kind of a tracepoint may be omitted.
    ProbeTarget parse_word() {
        const Span word{at_, end_};
        Span rest = word;
        const auto colon = text_of(word).find(':');
        kind_ =
            colon == std::string_view::npos ? nullptr : find_kind(text_of(word).substr(0, colon));
        if (kind_)
            rest.begin += colon + 1;
        else
            kind_ = find_kind("tracepoint");
        if (kind_->syntax == Syntax::nothing || kind_->syntax == Syntax::map)
            fail(word, "this is no event");
        return made_of(rest);
    }

private:
    bool is_comment() const { return source_.text[at_] == '#' || source_.text[at_] == ';'; }

    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint = {}) const {
        throw SourceError(source_, at, message, hint);
    }

    std::string_view text_of(Span span) const {
        return std::string_view(source_.text).substr(span.begin, span.end - span.begin);
    }

    // Advances to the next ',', '|' or comment that is not in braces or in the parentheses of a
    // function's parameters; names that contain one elsewhere must be quoted.
    Span piece() {
        const std::size_t begin = at_;
        bool is_quoted = false, is_in_braces = false;
        int depth = 0;
        for (; at_ < end_; ++at_) {
            const char c = source_.text[at_];
            if (c == '"') is_quoted = !is_quoted;
            if (c == '{' || c == '}') is_in_braces = c == '{';
            if (c == '(' || c == ')') depth += c == '(' ? 1 : -1;
            const bool is_end = c == ',' || c == '|' || is_comment();
            if (!is_quoted && !is_in_braces && depth <= 0 && is_end) break;
        }
        if (is_quoted) fail({begin, at_}, "this quote is never closed");
        return trimmed({begin, at_});
    }

    Span trimmed(Span span) const {
        const auto is_blank = [&](std::size_t at) {
            return std::string_view(" \t\r\n").find(source_.text[at]) != std::string_view::npos;
        };
        while (span.begin < span.end && is_blank(span.begin)) ++span.begin;
        while (span.end > span.begin && is_blank(span.end - 1)) --span.end;
        return span;
    }

    // Removes the first word of a piece and returns it.
    Span first_word(Span& piece) const {
        Span word = piece;
        const auto stop = text_of(piece).find_first_of(" \t");
        if (stop != std::string_view::npos) word.end = word.begin + stop;
        piece = trimmed({word.end, piece.end});
        return word;
    }

    ProbeTarget target() {
        Span rest = piece();
        Span after = rest;
        const Span word = first_word(after);
        if (const ProbeKind* kind = find_kind(text_of(word))) {
            kind_ = kind;
            rest = after;
        } else if (!kind_) {
            std::vector<std::string> names;
            for (const ProbeKind& known : kProbeKinds) names.emplace_back(known.name);
            if (text_of(word).empty())
                fail(word, "expected what the program is attached to",
                     "tracepoint, kprobe, uprobe, profile, interval, begin, end and others");
            fail(word, cat("no kind of probe is named '", text_of(word), "'"),
                 did_you_mean(text_of(word), names));
        }
        if (kind_->syntax == Syntax::nothing) {
            if (!text_of(rest).empty()) fail(rest, cat("nothing belongs behind ", kind_->name));
            ProbeTarget made;
            made.kind = kind_->kind;
            made.at = {index_, word};
            return made;
        }
        return made_of(rest);
    }

    ProbeTarget made_of(Span rest) {
        ProbeTarget made;
        made.kind = kind_->kind;
        made.at = {index_, rest};
        if (text_of(rest).empty()) fail({rest.end, rest.end}, cat("expected ", kind_->target));
        if (kind_->syntax == Syntax::sampling)
            profile(rest, made);
        else if (kind_->syntax == Syntax::period)
            made.period = nanoseconds(rest);
        else if (kind_->syntax == Syntax::map)
            made.name = text_of(rest);
        else
            named(rest, made);
        return made;
    }

    // Alternatives in braces may go over lines.
    static std::string without_blanks_in_braces(std::string_view name) {
        std::string text;
        bool is_in = false;
        for (const char c : name) {
            if (c == '{' || c == '}') is_in = c == '{';
            if (!is_in || std::string_view(" \t\r\n").find(c) == std::string_view::npos) text += c;
        }
        return text;
    }

    // Is there one that is not within parentheses or the brackets of a template?
    static bool has_blank_or_quote(std::string_view name) {
        for (std::size_t at = 0; at < name.size();) {
            const std::size_t past = past_brackets(name, at);
            if (past == at && std::string_view("\" \t").find(name[at]) != name.npos) return true;
            at = std::max(past, at + 1);
        }
        return false;
    }

    // "A NAME", or the path of it alone: "A PATH":REST.
    struct Quoted {
        std::string_view quoted, rest;
    };
    static Quoted split_quoted(std::string_view name) {
        if (name.size() < 3 || !name.starts_with('"')) return {{}, name};
        if (name.ends_with('"')) return {name.substr(1, name.size() - 2), {}};
        const auto end = name.rfind("\":");
        if (end == name.npos || end == 0) return {{}, name};
        return {name.substr(1, end - 1), name.substr(end + 1)};
    }

    void named(Span at, ProbeTarget& made) const {
        const std::string text = without_blanks_in_braces(text_of(at));
        const Quoted parts = split_quoted(text);
        if (has_blank_or_quote(parts.rest))
            fail(at, cat("'", text, "' is no ", kind_->target),
                 cat("one name; the next behind a comma",
                     kind_->is_in_file() ? "; a path with blanks stands in quotes" : ""));
        const std::string name = cat(parts.quoted, parts.rest);
        // A path may contain colons; those of the names come last.
        const bool is_event = kind_->syntax == Syntax::event;
        const auto colons = std::ranges::count(name, ':');
        const bool has_empty = name.starts_with(':') || name.ends_with(':');
        if (has_empty || colons < kind_->colons || (is_event && colons > 1))
            fail(at, cat("'", name, "' is no ", kind_->target));
        made.name = name;
        made.has_glob = is_function_pattern(made.name) ||
                        (kind_->is_in_file() && made.name.find('{') != std::string::npos);
    }

    std::uint64_t nanoseconds(Span at) const try {
        const auto time = parse_duration("a period", std::string(text_of(at)));
        if (time.count() <= 0) fail(at, "a period is longer than this");
        return static_cast<std::uint64_t>(time.count());
    } catch (const SourceError&) {
        throw;
    } catch (const UsageError& e) {
        fail(at, e.what(), e.hint());
    }

    static bool parse_count(std::string_view text, std::uint64_t& count) {
        count = whole_number<std::uint64_t>(text).value_or(0);
        return count > 0;
    }

    // "99hz", "10ms", "cycles 99hz", "page-faults 1".
    void profile(Span at, ProbeTarget& made) const {
        Span how = at;
        if (!is_digit(text_of(at)[0])) {
            const Span event = first_word(how);
            made.name = text_of(event);
            if (!find_sampling_event(made.name)) {
                const auto known = sampling_event_names();
                const std::string near = did_you_mean(made.name, known);
                fail(event, cat("nothing is sampled by '", made.name, "'"),
                     near.empty() ? cat("there are ", join(known, ", ")) : near);
            }
            if (text_of(how).empty()) fail(at, "how often is missing", "as in 99hz, or a count");
        }
        std::string_view text = text_of(how);
        if (text.ends_with("hz") || text.ends_with("Hz")) {
            text.remove_suffix(2);
            made.is_frequency = true;
            if (!parse_count(text, made.period)) fail(how, "expected a number in front of hz");
        } else if (made.name.empty()) {
            if (std::ranges::all_of(text, is_digit))
                fail(how, "a number of what?", "99hz, 10ms, or an event in front of a count");
            made.period = nanoseconds(how);
        } else if (!parse_count(text, made.period)) {
            fail(how, cat("expected a count of ", made.name, ", or 99hz"));
        }
    }

    const SourceText& source_;
    std::size_t index_;
    std::size_t at_, end_;
    const ProbeKind* kind_ = nullptr;
};

}  // namespace

std::vector<std::vector<ProbeTarget>> parse_probe_targets(const SourceText& source,
                                                          std::size_t source_index, Span range) {
    return TargetParser(source, source_index, range).parse();
}

ProbeTarget parse_probe_word(const SourceText& source, std::size_t source_index, Span word) {
    return TargetParser(source, source_index, word).parse_word();
}

}  // namespace gpufs
