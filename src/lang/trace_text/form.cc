#include "lang/trace_text/form.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/print_fmt/c_tokens.h"
#include "lang/print_fmt/kernel_printf.h"

namespace gpufs {
namespace {

// Texts that may end in several places are tried so often, not more.
constexpr int kMostTries = 2000;

// The parts between commas that are in no parentheses, braces or quotes.
std::vector<std::string_view> split_arguments(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    bool is_quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_quoted) {
            if (c == '\\') ++i;
            is_quoted = c != '"';
        } else if (c == '"') {
            is_quoted = true;
        } else if (c == '(' || c == '{' || c == '[') {
            ++depth;
        } else if (c == ')' || c == '}' || c == ']') {
            --depth;
        } else if (c == ',' && depth == 0) {
            parts.push_back(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    if (begin < text.size()) parts.push_back(trim(text.substr(begin)));
    return parts;
}

// A literal, "...", alone; absent for anything else.
std::optional<std::string> literal_of(std::string_view text) {
    if (text.size() < 2 || text.front() != '"') return std::nullopt;
    text.remove_prefix(1);
    const auto end = text.find('"');
    if (end + 1 != text.size() || text.find('\\') != text.npos) return std::nullopt;
    return std::string(text.substr(0, end));
}

// "f" of "REC->f", "((void *)(REC->f))"; "f[2]" of "REC->f[2]".
std::optional<std::string_view> field_name(std::string_view text) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        text = trim(text);
        if (!text.starts_with('(')) break;
        const auto end = text.find(')');
        if (text.ends_with(')') && text.find('(', 1) == text.npos && end + 1 == text.size()) {
            text = text.substr(1, text.size() - 2);
            has_changed = true;
        } else if (end != text.npos && text.find('(', 1) > end &&
                   text.substr(0, end).find("REC") == text.npos) {
            text.remove_prefix(end + 1);  // a cast
            has_changed = true;
        }
    }
    Scan scan(text);
    if (!scan.take("REC->")) return std::nullopt;
    const std::string_view named = scan.rest();
    scan.take_all(is_word_char);
    const bool is_whole = scan.at_end() || (scan.take("[") && scan.take_number<unsigned>() &&
                                            scan.take("]") && scan.at_end());
    return is_whole ? std::optional(named) : std::nullopt;
}

// The inside of "NAME(...)".
std::optional<std::string_view> call_of(std::string_view text, std::string_view name) {
    if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
    text.remove_prefix(name.size());
    if (!text.starts_with('(')) return std::nullopt;
    return text.substr(1, text.size() - 2);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    text = trim(text);
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failed != std::errc()) return std::nullopt;
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (suffix.find_first_not_of("uUlL") != suffix.npos) return std::nullopt;
    return is_negative ? 0 - value : value;
}

}  // namespace

bool TextForm::add_literal(std::string_view text) {
    if (text.empty()) return true;
    if (!pieces_.empty() && pieces_.back().kind == Piece::Kind::literal) {
        pieces_.back().literal += text;
        return true;
    }
    // Where one value ends and the next begins, only a literal tells.
    Piece piece;
    piece.literal = text;
    pieces_.push_back(std::move(piece));
    return true;
}

// Fields of arrays and of other places than in the record are none that a text tells.
bool TextForm::add_field(const EventFormat& format, std::string_view name, Piece piece) {
    const auto bracket = name.find('[');
    const bool is_element = bracket != name.npos;
    const Field* const field = format.find(name.substr(0, bracket));
    if (!field || field->is_common) return false;
    if (!pieces_.empty() && pieces_.back().kind == Piece::Kind::text) return false;
    if (piece.kind == Piece::Kind::text ? !field->holds_text()
                                        : field->is_array != is_element || field->is_dynamic())
        return false;
    Shown shown{field, 0};
    if (is_element)
        shown.element = Scan(name.substr(bracket + 1)).take_number<std::size_t>().value_or(0);
    if ((shown.element + 1) * field->element_size > field->size) return false;
    const auto known = std::ranges::find(shown_, shown);
    piece.shown = static_cast<std::size_t>(known - shown_.begin());
    if (known == shown_.end())
        shown_.push_back(shown);
    else if (piece.kind != Piece::Kind::number && piece.kind != Piece::Kind::address)
        piece.kind = piece.kind == Piece::Kind::words ? Piece::Kind::again : piece.kind;
    pieces_.push_back(std::move(piece));
    return true;
}

// { 0x1, "S" }, { 0x2, "D" }
bool TextForm::take_words(std::string_view list, std::vector<Word>& words) {
    for (std::string_view entry : split_arguments(list)) {
        if (!entry.starts_with('{') || !entry.ends_with('}')) return false;
        entry = entry.substr(1, entry.size() - 2);
        const auto parts = split_arguments(entry);
        if (parts.size() != 2) return false;
        const auto value = number_in(parts[0]);
        auto name = literal_of(parts[1]);
        if (!value || !name) return false;
        words.push_back({*value, std::move(*name)});
    }
    return !words.empty();
}

bool TextForm::add_argument(const EventFormat& format, char conversion, std::string_view argument) {
    Piece piece;
    if (conversion == 's') {
        if (const auto name = call_of(argument, "__get_str")) {
            piece.kind = Piece::Kind::text;
            return add_field(format, trim(*name), std::move(piece));
        }
        for (const std::string_view function : {"__print_symbolic", "__print_flags"}) {
            const auto inside = call_of(argument, function);
            if (!inside) continue;
            const bool is_flags = function == "__print_flags";
            std::vector<std::string_view> parts = split_arguments(*inside);
            const std::size_t first = is_flags ? 2 : 1;
            if (parts.size() <= first) return false;
            const auto name = field_name(parts[0]);
            if (!name) return false;
            if (is_flags) {
                const auto between = literal_of(parts[1]);
                if (!between) return false;
                piece.literal = *between;
            }
            const auto list = static_cast<std::size_t>(parts[first].data() - inside->data());
            if (!take_words(inside->substr(list), piece.words)) return false;
            piece.kind = is_flags ? Piece::Kind::flags : Piece::Kind::words;
            return add_field(format, *name, std::move(piece));
        }
        const auto question = argument.find('?'), colon = argument.rfind(':');
        if (question != argument.npos && colon != argument.npos && question < colon) {
            const auto name = field_name(argument.substr(0, question));
            auto yes = literal_of(trim(argument.substr(question + 1, colon - question - 1)));
            auto no = literal_of(trim(argument.substr(colon + 1)));
            if (!name || !yes || !no) return false;
            piece.kind = Piece::Kind::words;
            piece.words = {{1, std::move(*yes)}, {0, std::move(*no)}};
            return add_field(format, *name, std::move(piece));
        }
        const auto name = field_name(argument);
        piece.kind = Piece::Kind::text;
        return name && add_field(format, *name, std::move(piece));
    }
    const auto name = field_name(argument);
    piece.kind = conversion == 'd' || conversion == 'i' || conversion == 'u' ? Piece::Kind::number
                                                                             : Piece::Kind::address;
    return name && add_field(format, *name, std::move(piece));
}

std::optional<TextForm> TextForm::of_print_format(const EventFormat& format) {
    const std::vector<std::string_view> arguments = split_arguments(format.print_format);
    if (arguments.empty()) return std::nullopt;
    std::string_view quoted = arguments[0];
    if (quoted.size() < 2 || !quoted.starts_with('"') || !quoted.ends_with('"'))
        return std::nullopt;
    quoted = quoted.substr(1, quoted.size() - 2);
    if (quoted.find('"') != quoted.npos) return std::nullopt;
    std::string text;
    TextForm form;
    std::size_t used = 1;
    try {
        append_unescaped(text, quoted);
        std::size_t at = 0;
        while (at < text.size()) {
            const std::size_t percent = std::min(text.find('%', at), text.size());
            form.add_literal(std::string_view(text).substr(at, percent - at));
            if (percent == text.size()) break;
            Conversion conversion;
            at = parse_conversion(text, percent + 1, conversion);
            if (conversion.letter == '%') {
                form.add_literal("%");
                continue;
            }
            if (conversion.takes_width || conversion.takes_precision || used == arguments.size())
                return std::nullopt;
            if (std::string_view("diuxXps").find(conversion.letter) == std::string_view::npos)
                return std::nullopt;
            // Only plain addresses: "%pS" is the name of a function.
            if (!conversion.pointer.empty() && conversion.pointer != "x") return std::nullopt;
            if (!form.add_argument(format, conversion.letter, arguments[used++]))
                return std::nullopt;
        }
    } catch (const Error&) {
        return std::nullopt;
    }
    if (used != arguments.size() || form.shown_.empty()) return std::nullopt;
    return form;
}

// What is behind a task that leaves its CPU: __trace_sched_switch_state() in
// include/trace/events/sched.h, since Linux 4.14. libtraceevent, to 1.7 at least, prints the bits
// of older kernels.
bool TextForm::add_state(const EventFormat& format, std::string_view name, bool is_old) {
    Piece piece;
    piece.kind = Piece::Kind::flags;
    piece.literal = "|";
    piece.words = {{0x100, "R+"}, {0, "R"}, {0x1, "S"}, {0x2, "D"}, {0x4, "T"}, {0x8, "t"}};
    const std::vector<Word> since_414{{0x10, "X"}, {0x20, "Z"}, {0x40, "P"}, {0x80, "I"}};
    const std::vector<Word> before{{0x10, "Z"}, {0x20, "X"}, {0x40, "x"}, {0x80, "W"}};
    const std::vector<Word>& more = is_old ? before : since_414;
    piece.words.insert(piece.words.end(), more.begin(), more.end());
    return add_field(format, name, std::move(piece));
}

std::optional<TextForm> TextForm::of_template(const EventFormat& format, std::string_view text) {
    TextForm form;
    while (!text.empty()) {
        const auto open = std::min(text.find('{'), text.size());
        form.add_literal(text.substr(0, open));
        text.remove_prefix(open);
        if (text.empty()) break;
        const auto close = text.find('}');
        if (close == text.npos) return std::nullopt;
        const std::string_view inside = text.substr(1, close - 1);
        const std::string_view name = inside.substr(0, inside.find('|'));
        text.remove_prefix(close + 1);
        Piece piece;
        const Field* const field = format.find(name);
        if (!field) return std::nullopt;
        piece.kind = field->holds_text() ? Piece::Kind::text : Piece::Kind::number;
        const bool is_old = inside.ends_with("|old state");
        const bool is_added = is_old || inside.ends_with("|state")
                                  ? form.add_state(format, name, is_old)
                                  : form.add_field(format, name, piece);
        if (!is_added) return std::nullopt;
    }
    return form;
}

// One attempt to read a text.
struct TextForm::Reading {
    const TextForm& form;
    std::vector<Value>& values;
    int tries = 0;

    bool set(std::size_t shown, std::uint64_t number, std::string_view text, bool is_again) {
        Value& value = values[shown];
        if (!is_again) value.number = number;
        value.text = text;
        return !is_again || value.number == number;
    }

    bool number(const Piece& piece, std::string_view& rest) {
        while (rest.starts_with(' ')) rest.remove_prefix(1);
        const bool is_negative = rest.starts_with('-');
        if (is_negative) rest.remove_prefix(1);
        int base = piece.kind == Piece::Kind::address ? 16 : 10;
        if (rest.starts_with("0x")) {
            base = 16;
            rest.remove_prefix(2);
        } else if (rest.starts_with("(nil)")) {
            rest.remove_prefix(5);
            return set(piece.shown, 0, {}, false);
        }
        std::uint64_t value = 0;
        const auto [end, failed] =
            std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
        if (failed != std::errc()) return false;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return set(piece.shown, is_negative ? 0 - value : value, {}, false);
    }

    // The longest word that is there.
    bool word(const Piece& piece, std::string_view& rest, std::uint64_t& value) {
        const Word* best = nullptr;
        for (const Word& word : piece.words)
            if (rest.starts_with(word.name) && (!best || word.name.size() > best->name.size()))
                best = &word;
        if (best) {
            rest.remove_prefix(best->name.size());
            value = best->value;
            return true;
        }
        // What has no name is shown in hex.
        if (!rest.starts_with("0x")) return false;
        const auto [end, failed] =
            std::from_chars(rest.data() + 2, rest.data() + rest.size(), value, 16);
        if (failed != std::errc()) return false;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return true;
    }

    bool words(const Piece& piece, std::string_view& rest) {
        std::uint64_t all = 0, one = 0;
        // No flag at all is shown as nothing.
        if (!word(piece, rest, all))
            return piece.kind == Piece::Kind::flags && set(piece.shown, 0, {}, false);
        while (piece.kind == Piece::Kind::flags && !piece.literal.empty() &&
               rest.starts_with(piece.literal)) {
            std::string_view behind = rest.substr(piece.literal.size());
            if (!word(piece, behind, one)) break;
            all |= one;
            rest = behind;
        }
        // "S+": it was preempted.
        if (piece.words.front().name == "R+" && rest.starts_with('+')) {
            all |= piece.words.front().value;
            rest.remove_prefix(1);
        }
        return set(piece.shown, all, {}, piece.kind == Piece::Kind::again);
    }

    // A text ends where what follows fits.
    bool text(std::size_t at, std::string_view rest) {
        const Piece& piece = form.pieces_[at];
        if (at + 1 == form.pieces_.size()) {
            set(piece.shown, 0, rest, false);
            return true;
        }
        const std::string& stop = form.pieces_[at + 1].literal;
        for (std::size_t end = rest.find(stop); end != rest.npos; end = rest.find(stop, end + 1)) {
            if (++tries > kMostTries) return false;
            if (from(at + 1, rest.substr(end))) {
                set(piece.shown, 0, rest.substr(0, end), false);
                return true;
            }
        }
        return false;
    }

    bool from(std::size_t at, std::string_view rest) {
        for (; at < form.pieces_.size(); ++at) {
            const Piece& piece = form.pieces_[at];
            switch (piece.kind) {
                case Piece::Kind::literal:
                    if (rest.empty() && trim(piece.literal).empty()) break;  // cut with its line
                    if (!rest.starts_with(piece.literal)) return false;
                    rest.remove_prefix(piece.literal.size());
                    break;
                case Piece::Kind::number:
                case Piece::Kind::address:
                    if (!number(piece, rest)) return false;
                    break;
                case Piece::Kind::words:
                case Piece::Kind::flags:
                case Piece::Kind::again:
                    if (!words(piece, rest)) return false;
                    break;
                case Piece::Kind::text:
                    return text(at, rest);
            }
        }
        return rest.empty();
    }
};

std::vector<const Field*> TextForm::fields() const {
    std::vector<const Field*> fields;
    for (const Shown& shown : shown_)
        if (std::ranges::find(fields, shown.field) == fields.end()) fields.push_back(shown.field);
    return fields;
}

bool TextForm::read(std::string_view text, std::vector<Value>& values) const {
    values.clear();
    for (const Shown& shown : shown_) values.push_back({shown.field, shown.element, 0, {}});
    while (text.ends_with(' ')) text.remove_suffix(1);
    return Reading{*this, values}.from(0, text);
}

}  // namespace gpufs
