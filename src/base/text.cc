#include "base/text.h"

#include "base/cat.h"

namespace gpufs {

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const auto first = text.find_first_not_of(kSpace);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view chosen_word(std::string_view words) {
    const auto open = words.find('[');
    if (open == words.npos) return trim(words);
    return words.substr(open + 1, words.find(']', open) - open - 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> pieces;
    while (!text.empty()) {
        const auto end = text.find(separator);
        if (const auto piece = text.substr(0, end); !piece.empty()) pieces.emplace_back(piece);
        if (end == text.npos) break;
        text.remove_prefix(end + 1);
    }
    return pieces;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == text.npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (const std::string& part : parts) {
        if (!out.empty()) out += separator;
        out += part;
    }
    return out;
}

std::string listed_names(std::vector<std::string> names) {
    constexpr std::size_t kNamesShown = 12;
    const std::size_t all = names.size();
    if (all <= kNamesShown) return join(names, ", ");
    names.resize(kNamesShown);
    return cat(join(names, ", "), ", … ", all - kNamesShown, " more");
}

std::vector<std::string> expand_braces(std::string_view name) {
    const auto open = name.find('{');
    const auto close = open == name.npos ? open : name.find('}', open);
    if (close == name.npos) return {std::string(name)};
    const std::vector<std::string> ends = expand_braces(name.substr(close + 1));
    std::vector<std::string> names;
    std::string_view words = name.substr(open + 1, close - open - 1);
    for (bool is_last = false; !is_last;) {
        const auto comma = words.find(',');
        is_last = comma == words.npos;
        for (const std::string& end : ends)
            names.push_back(cat(name.substr(0, open), words.substr(0, comma), end));
        if (!is_last) words.remove_prefix(comma + 1);
    }
    return names;
}

std::size_t past_brackets(std::string_view text, std::size_t at) {
    constexpr std::string_view kOperator = "operator";
    if (at >= text.size() || (text[at] != '(' && text[at] != '<')) return at;
    const char open = text[at], close = open == '(' ? ')' : '>';
    if (open == '<' && text.substr(0, at).ends_with(kOperator)) return at;
    int depth = 0;
    for (std::size_t end = at; end < text.size(); ++end) {
        if (text[end] == open) ++depth;
        if (text[end] == close && --depth == 0) return end + 1;
    }
    return at;
}

std::string shell_quote(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+";
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out += '\'';
}

std::string upper_case(std::string_view text) {
    std::string big(text);
    for (char& c : big)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return big;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string with_sign(std::int64_t number) {
    return number < 0 ? cat(number) : cat('+', number);
}

std::string counted(std::size_t n, std::string_view singular) {
    return cat(n, ' ', singular, n == 1 ? "" : "s");
}

}  // namespace gpufs
