#include "lang/probe/definition.h"

#include <algorithm>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/program/function_pattern.h"

namespace gpufs {
namespace {

constexpr std::size_t kLongestEventName = 63;  // MAX_EVENT_NAME_LEN
constexpr std::string_view kReturn = "%return";
constexpr std::string_view kUsage =
    "write 'p:NAME PLACE ARGUMENTS…', or 'r:…' at a return; a PLACE is FUNCTION+OFFSET or "
    "FILE:FUNCTION+OFFSET, with -x FILE also SOURCE:LINE";

// "ns::Class::f(int) const": what is behind the parameters belongs to the name.
constexpr std::string_view kConst = " const";
bool is_const(std::string_view behind) {
    return behind.starts_with(kConst) &&
           (behind.size() == kConst.size() || !is_word_char(behind[kConst.size()]));
}

std::vector<Span> words_of(std::string_view text) {
    std::vector<Span> words;
    for (std::size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        // Blanks in a text, \"two words", are ends: the kernel refuses such a word, and says where.
        // Those among the parameters of a function are none.
        while (end < text.size() && !is_space(text[end])) {
            const std::size_t past = past_brackets(text, end);
            const bool has_parameters = past != end && text[end] == '(';
            end = std::max(past, end + 1);
            if (has_parameters && is_const(text.substr(end))) end += kConst.size();
        }
        words.push_back({at, end});
        at = end;
    }
    return words;
}

bool is_event_name(std::string_view name) {
    return !name.empty() && is_word_start(name[0]) && std::ranges::all_of(name, is_word_char);
}

// "p", "r", "r16", with ":NAME" behind it: what a definition begins with. Absent for a place.
struct Head {
    bool is_return = false;
    std::string most_active, name;
    bool has_name = false;
    std::size_t name_at = 0;
};
std::optional<Head> parse_head(std::string_view word) {
    Head head;
    Scan scan(word);
    if (scan.take("r")) {
        head.is_return = true;
        head.most_active = scan.take_all(is_digit);
    } else if (!scan.take("p")) {
        return std::nullopt;
    }
    if (scan.at_end()) return head;
    if (!scan.take(":")) return std::nullopt;
    head.has_name = true;
    head.name = scan.rest();
    head.name_at = word.size() - scan.rest().size();
    return head;
}

// A word that reads something: "a=%di", "+0(%si)". No place begins so, and none has a '='... but a
// file's name may, behind its '/'.
bool is_argument(std::string_view word) {
    if (std::string_view("%$@\\+-").find(word[0]) != std::string_view::npos) return true;
    const auto equals = word.find('=');
    return equals != word.npos && word.substr(0, equals).find('/') == word.npos;
}

class PlaceParser {
public:
    PlaceParser(const SourceText& source, Span at, std::string_view text)
        : source_(source), at_(at), text_(text) {}

    ProbePlace parse(bool (*is_file)(const std::string& word), const std::string& file) {
        ProbePlace place;
        Scan scan(text_);
        if (scan.take("usdt:")) {
            static_probe(place,
                         file.empty() ? std::string(scan.rest()) : cat(file, ':', scan.rest()));
            return place;
        }
        if (!file.empty()) {
            place.kind = ProbePlace::Kind::in_file;
            place.file = file;
            target(place, text_);
            return place;
        }
        const auto colon = text_.rfind(':');
        // "C++" names have colons of their own: a file ends at the first colon behind its last '/'.
        const auto slash = text_.rfind('/');
        const auto end = slash == text_.npos ? text_.find(':') : text_.find(':', slash);
        if (colon == text_.npos) {
            if (slash != text_.npos)
                fail(cat("'", text_, "' names a file and no place in it"),
                     "write FILE:FUNCTION or FILE:0xOFFSET");
            target(place, text_);
            return place;
        }
        place.file = text_.substr(0, end);
        if (end == text_.npos || place.file.empty() || end + 1 == text_.size())
            fail(cat("'", text_, "' is no place"),
                 "write FUNCTION, MODULE:FUNCTION or FILE:FUNCTION");
        if (slash != text_.npos || is_file(place.file)) place.kind = ProbePlace::Kind::in_file;
        target(place, text_.substr(end + 1));
        return place;
    }

private:
    void static_probe(ProbePlace& place, std::string_view rest) {
        place.kind = ProbePlace::Kind::static_probe;
        const auto slash = rest.rfind('/');
        const auto end = rest.find(':', slash == rest.npos ? 0 : slash);
        if (end == rest.npos || end == 0)
            fail(cat("'", text_, "' names no static probe"), "write usdt:FILE:PROVIDER:NAME");
        place.file = rest.substr(0, end);
        place.name = rest.substr(end + 1);
        const auto middle = place.name.rfind(':');
        place.provider = middle == place.name.npos ? "*" : place.name.substr(0, middle);
        if (middle != place.name.npos) place.name.erase(0, middle + 1);
        if (place.name.empty() || place.provider.empty())
            fail(cat("'", text_, "' names no static probe"), "write usdt:FILE:PROVIDER:NAME");
    }

    // SOURCE:LINE, FUNCTION:LINE. C++ names have two colons.
    bool source_line(ProbePlace& place, std::string_view text) {
        const auto colon = text.rfind(':');
        if (place.kind != ProbePlace::Kind::in_file || colon == text.npos || colon == 0 ||
            text[colon - 1] == ':' || colon + 1 == text.size() || !is_digit(text[colon + 1]))
            return false;
        Scan scan(text.substr(colon + 1));
        const auto line = scan.take_number<std::uint32_t>();
        if (!line || *line == 0 || !scan.at_end())
            fail(cat("'", text.substr(colon + 1), "' is no number of a line"),
                 "lines are counted from 1");
        place.kind = ProbePlace::Kind::source_line;
        place.name = text.substr(0, colon);
        place.line = *line;
        return true;
    }

    // SOURCE:LINE, FUNCTION:LINE, FUNCTION, FUNCTION+OFFSET, OFFSET, OFFSET(COUNTER).
    void target(ProbePlace& place, std::string_view text) {
        if (text.empty()) fail("there is no place here", std::string(kUsage));
        if (source_line(place, text)) return;
        if (is_digit(text[0])) {
            Scan scan(text);
            place.offset = number(scan, text);
            if (place.kind == ProbePlace::Kind::in_file && scan.take("(")) {
                place.counter = number(scan, text);
                if (!scan.take(")")) fail_number(text);
            }
            if (!scan.at_end()) fail_number(text);
            return;
        }
        const auto plus = text.rfind('+');
        const bool has_offset =
            plus != text.npos && plus + 1 < text.size() && is_digit(text[plus + 1]);
        if (has_offset) {
            Scan scan(text.substr(plus + 1));
            place.offset = number(scan, text);
            if (!scan.at_end()) fail_number(text);
            text = text.substr(0, plus);
        }
        place.name = text;
        if (place.offset != 0 && is_function_pattern(place.name))
            fail("a pattern of functions takes no offset", "each of them has other instructions");
    }

    std::uint64_t number(Scan& scan, std::string_view text) {
        const bool is_hex = scan.take("0x");
        const auto taken = scan.take_number<std::uint64_t>(is_hex ? 16 : 10);
        if (!taken) fail_number(text);
        return *taken;
    }
    [[noreturn]] void fail_number(std::string_view text) const {
        fail(cat("'", text, "' has no number where one belongs"), "such as 0x39 or 57");
    }
    [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
        throw SourceError(source_, at_, message, hint);
    }

    const SourceText& source_;
    Span at_;
    std::string_view text_;
};

}  // namespace

ProbeDefinition parse_probe_definition(const SourceText& source) {
    const std::string_view text = source.text;
    const auto part = [&](Span at) { return text.substr(at.begin, at.end - at.begin); };
    std::vector<Span> words = words_of(text);
    if (words.empty()) throw UsageError("no probe given", std::string(kUsage));
    ProbeDefinition made;
    if (part(words[0])[0] == '#' || part(words[0])[0] == '-')
        throw SourceError(source, words[0], "this defines no probe",
                          part(words[0])[0] == '-' ? "'gpufs probe remove NAME' removes one"
                                                   : std::string(kUsage));
    const std::optional<Head> head = parse_head(part(words[0]));
    std::size_t at = 0;
    if (head) {
        made.is_return = head->is_return;
        made.most_active = head->most_active;
        made.name_at = {words[0].begin + head->name_at, words[0].end};
        const bool has_place = words.size() > 1 && !is_argument(part(words[1]));
        if (!has_place && (!head->has_name || head->name.empty()))
            throw SourceError(source, words[0], "the probe has no place", std::string(kUsage));
        if (!has_place) {
            words[0] = made.name_at;  // "p:FUNCTION": the function is the name
        } else {
            at = 1;
            if (head->has_name && !head->name.empty()) made.name = head->name;
        }
    }
    if (made.name) {
        const auto slash = made.name->find_first_of("/.");
        if (slash != made.name->npos)
            throw SourceError(source, made.name_at, "a probe's group is that of its session",
                              cat("write the name alone: ", made.name->substr(slash + 1),
                                  "; --session NAME chooses another session"));
        if (!is_event_name(*made.name) || made.name->size() > kLongestEventName)
            throw SourceError(source, made.name_at, cat("'", *made.name, "' cannot name an event"),
                              cat("letters, digits and '_', at most ", kLongestEventName,
                                  ", with no digit first"));
    }
    made.place = part(words[at]);
    made.place_at = words[at];
    if (made.place.ends_with(kReturn)) {
        made.is_return = true;
        made.place.resize(made.place.size() - kReturn.size());
        made.place_at.end -= kReturn.size();
    }
    made.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    return made;
}

ProbePlace parse_probe_place(const SourceText& source, Span at, std::string_view place,
                             bool (*is_file)(const std::string& word), const std::string& file) {
    return PlaceParser(source, at, place).parse(is_file, file);
}

std::string event_name_for(std::string_view function, bool is_return) {
    constexpr std::string_view kAtReturn = "__return";
    std::string name;
    for (const char c : function) name += is_word_char(c) ? c : '_';
    if (name.empty() || is_digit(name[0])) name.insert(0, "at_");
    name.resize(std::min(name.size(), kLongestEventName - (is_return ? kAtReturn.size() : 0)));
    return is_return ? cat(name, kAtReturn) : name;
}

}  // namespace gpufs
