#include "lang/trigger/hist_spec.h"

#include <algorithm>
#include <array>

#include "base/cat.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"

namespace gpufs {
namespace {

constexpr std::string_view kUsage =
    "hist key=FIELD,… [val=FIELD,…] [sort=FIELD,…] [size=N]; 'gpufs trigger --help'";
// Sums besides hitcount: TRACING_MAP_VALS_MAX less one. Keys and sort keys: TRACING_MAP_*_MAX.
constexpr std::size_t kMostKeys = 3, kMostValues = 2, kMostSortKeys = 2;
constexpr std::uint64_t kLeastSize = 128, kMostSize = 131072;

enum class For { keys, values, sort };

// What may stand behind a field's dot, and where.
struct Modifier {
    std::string_view name;
    bool of_key = false, of_value = false, of_sort = false;
};
constexpr Modifier kModifiers[] = {
    {"hex", true, true},
    {"sym", true},
    {"sym-offset", true},
    {"execname", true},
    {"syscall", true},
    {"log2", true},
    {"buckets", true},
    {"usecs", true, true},
    {"stacktrace", true},
    {"percent", false, true},
    {"graph", false, true},
    {"ascending", false, false, true},
    {"descending", false, false, true},
};

bool goes_with(const Modifier& modifier, For use) {
    return use == For::keys ? modifier.of_key
                            : (use == For::values ? modifier.of_value : modifier.of_sort);
}

bool is_stack(std::string_view field) {
    return field == "stacktrace" || field == "common_stacktrace";
}

// What each event has without declaring it.
bool is_made_by_the_kernel(std::string_view field) {
    return is_stack(field) || field == "common_timestamp" || field == "common_cpu" ||
           field == "hitcount";
}

// "onmatch(…).trace(…)", and not a variable's expression: "n=-(lat)".
bool is_handler(std::string_view part) {
    return part.starts_with("on") && part.ends_with(')') && part.find('(') < part.find('=');
}

class SpecParser {
public:
    explicit SpecParser(const SourceText& source) : source_(source), text_(source.text) {}

    HistSpec parse() {
        for (std::size_t at = 0; at < text_.size();) {
            if (is_between(at)) {
                ++at;
                continue;
            }
            const std::size_t end = end_of(at, [this](std::size_t i) { return is_between(i); });
            part({at, end});
            at = end;
        }
        if (spec_.keys.empty())
            fail({0, text_.size()}, "a hist trigger counts by keys, and there is none");
        require_few(spec_.keys, kMostKeys, "keys");
        require_few(spec_.values, kMostValues, "values beside hitcount");
        require_few(spec_.sort, kMostSortKeys, "sort keys");
        for (const HistTerm& term : spec_.sort) require_sortable(term);
        return std::move(spec_);
    }

private:
    [[noreturn]] void fail(Span at, std::string_view message,
                           std::string_view hint = kUsage) const {
        throw SourceError(source_, at, message, hint);
    }

    bool is_between(std::size_t i) const { return is_space(text_[i]) || text_[i] == ':'; }

    // Where the text from `at` on ends: not in brackets, which handlers' arguments stand in.
    template <class IsEnd>
    std::size_t end_of(std::size_t at, const IsEnd& is_end) const {
        std::size_t depth = 0;
        for (; at < text_.size() && (depth > 0 || !is_end(at)); ++at) {
            if (text_[at] == '(') ++depth;
            if (text_[at] == ')' && depth > 0) --depth;
        }
        return at;
    }

    void part(Span at) {
        const std::string_view whole = text_.substr(at.begin, at.end - at.begin);
        if (at.begin == 0 && whole == "hist") return;
        const auto equals = whole.find('=');
        const std::string_view name = whole.substr(0, equals);
        if (equals == whole.npos || name.find('(') != name.npos) return other(at, whole, name);
        const Span rest{at.begin + equals + 1, at.end};
        if (name == "key" || name == "keys") return terms(rest, For::keys, spec_.keys);
        if (name == "val" || name == "vals" || name == "values")
            return terms(rest, For::values, spec_.values);
        if (name == "sort") return terms(rest, For::sort, spec_.sort);
        if (name == "size") return size(rest);
        other(at, whole, name);
    }

    // What only the kernel can judge: a variable's name is anybody's.
    void other(Span at, std::string_view whole, std::string_view name) {
        const auto equals = whole.find('=');
        if (whole == "pause" || whole == "continue" || whole == "cont" || whole == "clear")
            fail(at, cat("'", whole, "' changes a histogram that is there, and gpufs does not"),
                 "'gpufs stop' lets all of the session pause; set the trigger again to clear it");
        if (equals == whole.npos && !is_handler(whole) && whole != "nohitcount")
            fail(at, cat("'", whole, "' is no part of a hist trigger"));
        if (equals != whole.npos) {
            const std::vector<std::string> known = {"key", "keys", "val", "vals", "sort", "size"};
            const std::string hint = did_you_mean(name, known);
            if (name.empty() || equals + 1 == whole.size() || !hint.empty())
                fail(at, cat("'", whole, "' is no part of a hist trigger"),
                     hint.empty() ? std::string(kUsage) : hint);
        }
        spec_.others.emplace_back(whole);
    }

    void terms(Span at, For use, std::vector<HistTerm>& terms) {
        for (std::size_t from = at.begin; from <= at.end;) {
            const std::size_t end =
                std::min(at.end, end_of(from, [this](std::size_t i) { return text_[i] == ','; }));
            const HistTerm made = term({from, end}, use);
            const bool is_there = std::ranges::any_of(terms, [&](const HistTerm& one) {
                return one.text == made.text || (!one.field.empty() && one.field == made.field);
            });
            if (is_there) fail(made.at, cat("'", made.text, "' is there twice"));
            if (use != For::values || made.text != "hitcount") terms.push_back(made);
            from = end + 1;
        }
    }

    HistTerm term(Span at, For use) const {
        HistTerm term;
        term.at = at;
        term.text = text_.substr(at.begin, at.end - at.begin);
        if (term.text.empty())
            fail({at.begin, std::min(at.begin + 1, text_.size())}, "a field is missing here");
        const bool is_field = std::ranges::all_of(
            term.text, [](char c) { return is_word_char(c) || c == '.' || c == '=' || c == '-'; });
        const auto dot = term.text.find('.');
        // A variable, or an expression: "$lat", "next_pid-prev_pid".
        if (!is_field || term.text.substr(0, dot).find_first_of("=-") != term.text.npos)
            return term;
        term.field = term.text.substr(0, dot);
        // Linux before 6.3 knows it by this name only, and newer ones, too.
        if (is_stack(term.field)) term.text.replace(0, term.field.size(), "stacktrace");
        if (dot != term.text.npos) term.modifier = modifier(at, term.text.substr(dot + 1), use);
        return term;
    }

    std::string modifier(Span at, std::string_view text, For use) const {
        const std::string_view name = text.substr(0, text.find('='));
        const auto found = std::ranges::find(kModifiers, name, &Modifier::name);
        if (found == std::end(kModifiers) || !goes_with(*found, use)) {
            std::vector<std::string> names;
            for (const Modifier& one : kModifiers)
                if (goes_with(one, use)) names.emplace_back(one.name);
            const std::string hint = did_you_mean(name, names);
            fail(at, cat("'.", name, "' is nothing that ", noun(use), " can have"),
                 hint.empty() ? cat("it has: .", join(names, " .")) : hint);
        }
        if ((name == "buckets") != (text.size() > name.size()))
            fail(at,
                 name == "buckets" ? "'.buckets' needs the size of a bucket"
                                   : cat("'.", name, "' takes no number"),
                 cat("such as FIELD.", name, name == "buckets" ? "=100" : ""));
        if (name == "buckets") {
            const auto size = parse_whole_number(text.substr(name.size() + 1));
            if (!size || size->is_negative || size->magnitude == 0)
                fail(at, cat("'", text.substr(name.size() + 1), "' is no size of a bucket"),
                     "such as FIELD.buckets=100");
        }
        return std::string(name);
    }

    static std::string_view noun(For use) {
        return use == For::keys ? "a key" : (use == For::values ? "a value" : "a sort key");
    }

    void size(Span at) {
        const std::string_view text = text_.substr(at.begin, at.end - at.begin);
        const auto number = parse_whole_number(text);
        if (!number || number->is_negative || number->magnitude < kLeastSize ||
            number->magnitude > kMostSize)
            fail(at, cat("a hist trigger cannot have '", text, "' entries"),
                 cat(kLeastSize, " to ", kMostSize, "; the kernel takes the next power of two"));
        spec_.size = text;
    }

    void require_few(const std::vector<HistTerm>& terms, std::size_t most,
                     std::string_view what) const {
        if (terms.size() > most)
            fail(terms[most].at, cat("a hist trigger has at most ", most, " ", what));
    }

    void require_sortable(const HistTerm& term) const {
        if (term.field == "hitcount") return;
        const auto is_it = [&](const HistTerm& other) { return other.field == term.field; };
        if (term.field.empty() || std::ranges::any_of(spec_.keys, is_it) ||
            std::ranges::any_of(spec_.values, is_it))
            return;
        std::vector<std::string> names = {"hitcount"};
        for (const auto* terms : {&spec_.keys, &spec_.values})
            for (const HistTerm& one : *terms)
                if (!one.field.empty()) names.push_back(one.field);
        fail(term.at, cat("'", term.field, "' is neither a key nor a value"),
             cat("sort by one of: ", join(names, " ")));
    }

    const SourceText& source_;
    std::string_view text_;
    HistSpec spec_;
};

std::string texts(const std::vector<HistTerm>& terms) {
    std::string text;
    for (const HistTerm& term : terms) text += cat(text.empty() ? "" : ",", term.text);
    return text;
}

class SpecChecker {
public:
    SpecChecker(const SourceText& source, const EventFormat& event)
        : source_(source), event_(event) {}

    void check(const HistTerm& term, For use) const {
        if (term.field.empty()) return;
        const Field* const field = event_.find(term.field);
        if (!field && !is_made_by_the_kernel(term.field)) {
            const std::string near = did_you_mean(term.field, event_.field_names());
            fail(term, cat(event_.full_name(), " has no field '", term.field, "'"),
                 near.empty() ? cat("it has: ", join(event_.field_names(), " ")) : near);
        }
        if (term.modifier == "execname" && term.field != "common_pid")
            fail(term, "'.execname' is for common_pid: the kernel knows the name of its task only",
                 "common_pid.execname");
        if (term.modifier == "usecs" && term.field != "common_timestamp")
            fail(term, "'.usecs' is for common_timestamp", "common_timestamp.usecs");
        if (use == For::keys) {
            if (term.field == "hitcount") fail(term, "hitcount is a value, no key", "key=FIELD");
            if (field && field->is_string && is_for_numbers(term.modifier))
                fail(term,
                     cat("'", term.field, "' is a text, and '.", term.modifier, "' is for numbers"),
                     cat("key=", term.field));
            return;
        }
        const bool is_sum = term.field == "hitcount" || term.field == "common_timestamp" ||
                            (field && !field->is_string && !field->is_array);
        if (!is_sum)
            fail(term, cat("'", term.field, "' is no number that can be summed"),
                 cat("it can be a key: key=", term.field));
    }

private:
    [[noreturn]] void fail(const HistTerm& term, std::string_view message,
                           std::string_view hint) const {
        throw SourceError(source_, term.at, message, hint);
    }
    static bool is_for_numbers(std::string_view modifier) {
        constexpr std::string_view kNumbers[] = {"hex",     "sym",  "sym-offset",
                                                 "syscall", "log2", "buckets"};
        return std::ranges::count(kNumbers, modifier) > 0;
    }

    const SourceText& source_;
    const EventFormat& event_;
};

}  // namespace

std::string HistSpec::argument() const {
    std::string text = cat("keys=", texts(keys), ":vals=hitcount");
    if (!values.empty()) text += cat(',', texts(values));
    for (const std::string& other : others)
        if (!is_handler(other)) text += cat(':', other);
    text += cat(":sort=", sort.empty() ? "hitcount.descending" : texts(sort));
    if (size) text += cat(":size=", *size);
    for (const std::string& other : others)
        if (is_handler(other)) text += cat(':', other);
    return text;
}

HistSpec parse_hist_spec(const SourceText& source) {
    return SpecParser(source).parse();
}

void check_hist_spec(const HistSpec& spec, const SourceText& source, const EventFormat& event) {
    const SpecChecker checker(source, event);
    for (const HistTerm& key : spec.keys) checker.check(key, For::keys);
    for (const HistTerm& value : spec.values) checker.check(value, For::values);
}

std::string hist_kind(std::string_view argument) {
    std::string kind(argument.substr(0, argument.find(":sort=")));
    constexpr std::string_view kNewName = "common_stacktrace", kOldName = "stacktrace";
    if (const auto at = kind.find(kNewName); at != kind.npos)
        kind.replace(at, kNewName.size(), kOldName);
    return kind;
}

}  // namespace gpufs
