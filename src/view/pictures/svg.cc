#include "view/pictures/svg.h"

#include <algorithm>

#include "base/cat.h"
#include "base/decimal.h"
#include "base/embedded.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace gpufs {
namespace {

// How long the next character of a text is, which is not empty.
std::size_t character_at(std::string_view text) {
    return std::max<std::size_t>(1, utf8_length(text));
}

// U+FFFE and U+FFFF are valid UTF-8, and no characters of XML.
bool is_no_character(std::string_view sequence) {
    return sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf";
}

// A phone shows a page that does not say this as if it were 980 pixels wide, in letters too small
// to read.
constexpr std::string_view kViewport =
    "<metadata><meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\"/></metadata>\n";

}  // namespace

std::string xml_text(std::string_view text) {
    const std::string clean = printable(text);
    std::string out;
    for (std::string_view rest = clean; !rest.empty();) {
        const std::string_view one = rest.substr(0, character_at(rest));
        rest.remove_prefix(one.size());
        if (one == "&")
            out += "&amp;";
        else if (one == "<")
            out += "&lt;";
        else if (one == ">")
            out += "&gt;";
        else if (one == "\"")
            out += "&quot;";
        else if (is_no_character(one))
            out += "\xef\xbf\xbd";
        else
            out += one;
    }
    return out;
}

std::string pixels(double number) {
    std::string text = decimal(number, 1);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

std::string grouped(std::uint64_t number) {
    std::string text = cat(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    const double share =
        whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole) * 100;
    return decimal(share, 2) + '%';
}

std::string picture_part(std::string_view name) {
    for (const EmbeddedFile& file : embedded_pictures())
        if (file.name.ends_with(cat('/', name))) return std::string(file.text());
    return {};
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(character_at(text));
    return count;
}

std::string_view first_characters(std::string_view text, std::size_t count) {
    std::size_t bytes = 0;
    for (; count != 0 && bytes < text.size(); --count) bytes += character_at(text.substr(bytes));
    return text.substr(0, bytes);
}

std::string svg_text(const SvgFile& file, std::string_view attributes, std::string_view body) {
    const std::string width = pixels(file.width), height = pixels(file.height);
    return cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"", file.kind, "\" width=\"",
               width, "\" height=\"", height, "\" viewBox=\"0 0 ", width, ' ', height, '"',
               attributes, ">\n<title>", xml_text(file.title), "</title>\n", kViewport,
               "<style><![CDATA[\n", picture_part(file.style), "]]></style>\n",
               "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n", body,
               "<script><![CDATA[\n", picture_part(file.script), "]]></script>\n</svg>\n");
}

}  // namespace gpufs
