#include "lang/event/printed_label.h"

#include "base/cat.h"
#include "base/scan.h"

namespace gpufs {
namespace {

// The argument of that number behind the format's closing quote.
std::string_view argument_of(std::string_view print_format, std::size_t quote, std::size_t number) {
    int depth = 0;
    std::size_t begin = print_format.find(',', quote), seen = 0;
    if (begin == print_format.npos) return {};
    for (std::size_t at = ++begin; at <= print_format.size(); ++at) {
        const char c = at < print_format.size() ? print_format[at] : ',';
        depth += (c == '(') - (c == ')');
        if (c != ',' || (depth > 0 && at < print_format.size())) continue;
        if (seen++ == number) return print_format.substr(begin, at - begin);
        begin = at + 1;
    }
    return {};
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !is_word_char(text[at - 1]);
        if (begins && (end == text.size() || !is_word_char(text[end]))) return true;
    }
    return false;
}

}  // namespace

std::string field_printed_as(const EventFormat& event, std::string_view label) {
    const std::string_view text = event.print_format;
    const std::string shown = cat(label, "=%");
    std::size_t conversions = 0;
    for (std::size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
        if (text.substr(at).starts_with(shown) && !is_word_char(text[at - 1])) {
            const auto quote = text.find('"', at);
            const std::string_view argument = argument_of(text, quote, conversions);
            for (const std::string& field : event.field_names())
                if (has_word(argument, field)) return field;
            return {};
        }
        if (text[at] != '%') continue;
        if (text.substr(at).starts_with("%%"))
            ++at;
        else
            ++conversions;
    }
    return {};
}

}  // namespace gpufs
