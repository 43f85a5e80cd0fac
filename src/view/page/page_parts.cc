#include <algorithm>
#include <array>

#include "base/cat.h"
#include "view/page/page_writer.h"
#include "view/pictures/svg.h"

namespace gpufs {
namespace {

// What also runs in a worker.
constexpr std::array<std::string_view, 7> kReader = {
    "page_data.js",     "page_levels.js",   "page_jobs.js",  "page_lanes.js",
    "page_overview.js", "page_segments.js", "page_reader.js"};
constexpr std::array<std::string_view, 8> kScripts = {
    "page_view.js", "page_pixels.js", "page_draw.js",   "page_panel.js",
    "page_find.js", "page_input.js",  "page_window.js", "page_start.js"};

// The text without its first lines up to a mark, which is put between: what is before it.
std::string_view cut_at(std::string_view& text, std::string_view mark) {
    const std::size_t at = std::min(text.find(mark), text.size());
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(std::min(at + mark.size(), text.size()));
    return before;
}

// In a <script> nothing may look like its end, or like a comment.
std::string script_safe(std::string_view json) {
    std::string safe;
    for (const char c : json) {
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    }
    return safe;
}

}  // namespace

std::string page_head(std::string_view title) {
    const std::string page = picture_part("page.html");
    std::string_view rest = page;
    std::string text(cut_at(rest, "@title@"));
    text += xml_text(title);
    text += cut_at(rest, "@style@");
    text += picture_part("page.css");
    text += cut_at(rest, "@facts@");
    return text;
}

std::string page_scripts(std::string_view facts_json) {
    const std::string page = picture_part("page.html");
    std::string_view rest = page;
    cut_at(rest, "@facts@");
    std::string text = script_safe(facts_json);
    text += cut_at(rest, "@reader@");
    for (const std::string_view name : kReader) text += picture_part(name);
    text += cut_at(rest, "@script@");
    for (const std::string_view name : kScripts) text += picture_part(name);
    text += cut_at(rest, "@details@");
    return text;
}

std::string page_tail() {
    const std::string page = picture_part("page.html");
    std::string_view rest = page;
    cut_at(rest, "@details@");
    return std::string(rest);
}

}  // namespace gpufs
