#include "view/pictures/flame_svg.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/cat.h"
#include "view/monitor/value_text.h"
#include "view/pictures/svg.h"

namespace gpufs {
namespace {

using Compared = FlamePanel::Compared;

// In pixels; the script has the same.
constexpr double kWidth = 1200, kPad = 10, kRow = 16, kHead = 54, kHeading = 24, kFoot = 46;
constexpr double kCharacter = 7.25, kLeastWidth = 0.1;
constexpr std::size_t kLeastText = 3;

struct Kind {
    std::string_view style, legend;
};
constexpr std::array<Kind, kFrameKinds> kKinds = {{{"key", "key"},
                                                   {"user", "user"},
                                                   {"kernel", "kernel"},
                                                   {"gpu", "GPU driver and library"},
                                                   {"jit", "JIT"},
                                                   {"inlined", "inlined"}}};

std::string number_text(std::uint64_t weight, const std::string& unit) {
    if (unit.empty()) return cat(grouped(weight), weight == 1 ? " sample" : " samples");
    return quantity_text(weight, false, unit);
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// One of the shades of a kind's colour, the same for a name in every picture.
std::size_t shade_of(std::string_view name) {
    std::uint32_t hash = 2166136261;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
    return (hash >> 16) % 4;
}

class Panel {
public:
    Panel(const FlamePanel& panel, const FlameLook& look, double top)
        : panel_(panel), look_(look), top_(top), total_(panel.tree.weight()) {
        const auto least = static_cast<std::uint64_t>(
            std::ceil(static_cast<double>(total_) * kLeastWidth / (kWidth - 2 * kPad)));
        boxes_ = panel.tree.boxes(least);
        for (const FlameBox& box : boxes_) {
            rows_ = std::max(rows_, box.depth + 1);
            most_change_ = std::max(most_change_, std::abs(change(box)));
        }
    }

    double height() const { return static_cast<double>(rows_) * kRow; }

    std::string text() const {
        std::string out = cat("<g class=\"panel\" data-top=\"", pixels(top_), "\" data-total=\"",
                              total_, "\" data-rows=\"", rows_, "\">\n");
        for (const FlameBox& box : boxes_) append(out, box);
        if (boxes_.empty())
            out += cat("<text class=\"note\" x=\"", pixels(kPad), "\" y=\"", pixels(top_ + 12),
                       "\">nothing was counted</text>\n");
        return out + "</g>\n";
    }

    void note_kinds(std::bitset<kFrameKinds>& seen) const {
        for (const FlameBox& box : boxes_)
            if (box.frame) seen.set(static_cast<std::size_t>(box.frame->kind));
    }

private:
    std::string name(const FlameBox& box) const { return box.frame ? box.frame->name : "all"; }

    // How much the frame's share of all grew from before to now.
    double change(const FlameBox& box) const {
        if (panel_.compared == Compared::no) return 0;
        const double shown = share(box.weight, total_);
        const double other = share(box.old_weight, panel_.tree.old_weight());
        return panel_.compared == Compared::now ? shown - other : other - shown;
    }

    std::string style(const FlameBox& box) const {
        if (!box.frame) return "whole";
        if (panel_.compared == Compared::no)
            return cat(kKinds[static_cast<std::size_t>(box.frame->kind)].style, " s",
                       shade_of(box.frame->name));
        const double grown = change(box);
        if (std::abs(grown) < 0.0005) return "same";
        // The square root tells small changes apart, too.
        const auto step =
            std::min(3, static_cast<int>(4 * std::sqrt(std::abs(grown) / most_change_)));
        return cat(grown > 0 ? "grew" : "shrank", " s", 3 - step);
    }

    std::string title(const FlameBox& box) const {
        std::string text = cat(name(box), " (", number_text(box.weight, panel_.unit), ", ",
                               percent_text(box.weight, total_));
        if (panel_.compared != Compared::no)
            text += cat("; ", panel_.compared == Compared::now ? "before " : "now ",
                        number_text(box.old_weight, panel_.unit), ", ",
                        percent_text(box.old_weight, panel_.tree.old_weight()));
        return text + ')';
    }

    void append(std::string& out, const FlameBox& box) const {
        const double scale = (kWidth - 2 * kPad) / static_cast<double>(total_);
        const double x = kPad + static_cast<double>(box.left) * scale;
        const double width = static_cast<double>(box.weight) * scale;
        const std::size_t row = look_.is_icicle ? box.depth : rows_ - 1 - box.depth;
        const double y = top_ + static_cast<double>(row) * kRow;
        out += cat("<g class=\"frame ", style(box), "\" data-x=\"", box.left, "\" data-w=\"",
                   box.weight, "\" data-d=\"", box.depth, "\"><title>", xml_text(title(box)),
                   "</title><rect x=\"", pixels(x), "\" y=\"", pixels(y), "\" width=\"",
                   pixels(width), "\" height=\"", pixels(kRow - 1), "\"/>");
        const std::string shown = fitting(name(box), width);
        if (!shown.empty())
            out += cat("<text x=\"", pixels(x + 3), "\" y=\"", pixels(y + 11.5), "\">",
                       xml_text(shown), "</text>");
        out += "</g>\n";
    }

    // As much of a name as there is room for.
    static std::string fitting(const std::string& name, double width) {
        const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
        if (room < kLeastText) return {};
        if (count_characters(name) <= room) return name;
        return cat(first_characters(name, room - 2), "..");
    }

    const FlamePanel& panel_;
    const FlameLook& look_;
    double top_;
    std::uint64_t total_;
    std::vector<FlameBox> boxes_;
    std::size_t rows_ = 1;
    double most_change_ = 0;
};

std::string legend_entry(double& x, double y, std::string_view style, std::string_view word) {
    std::string text = cat("<g class=\"", style, "\"><rect x=\"", pixels(x), "\" y=\"",
                           pixels(y - 9), "\" width=\"12\" height=\"10\"/><text x=\"",
                           pixels(x + 17), "\" y=\"", pixels(y), "\">", word, "</text></g>\n");
    x += 17 + kCharacter * static_cast<double>(word.size()) + 18;
    return text;
}

std::string legend(const std::bitset<kFrameKinds>& kinds, bool is_comparison, double y) {
    std::string text = "<g class=\"legend\">\n";
    double x = kPad;
    if (is_comparison) {
        text += legend_entry(x, y, "grew s0", "grew");
        text += legend_entry(x, y, "shrank s0", "shrank");
    } else {
        for (std::size_t i = 0; i < kFrameKinds; ++i)
            if (kinds.test(i))
                text += legend_entry(x, y, cat(kKinds[i].style, " s0"), kKinds[i].legend);
    }
    return text + "</g>\n";
}

std::string button(std::string_view name, double x, std::string_view word,
                   std::string_view anchor = {}) {
    return cat("<text class=\"button ", name, "\" role=\"button\" tabindex=\"0\" x=\"", pixels(x),
               "\" y=\"", pixels(24), '"', anchor, ">", word, "</text>\n");
}

}  // namespace

std::string flame_svg(const std::vector<FlamePanel>& panels, const FlameLook& look) {
    std::string body = cat("<text class=\"title\" x=\"", pixels(kWidth / 2), "\" y=\"24\">",
                           xml_text(look.title), "</text>\n");
    body += button("reset", kPad, "Reset zoom") + button("flip", kPad + 90, "Flip");
    body += button("search", kWidth - kPad, "Search", " text-anchor=\"end\"");
    double top = kHead;
    std::bitset<kFrameKinds> kinds;
    bool is_comparison = false;
    for (const FlamePanel& panel : panels) {
        if (panels.size() > 1) {
            top += kHeading;
            body += cat("<text class=\"heading\" x=\"", pixels(kPad), "\" y=\"", pixels(top - 8),
                        "\">", xml_text(panel.title), "</text>\n");
        }
        const Panel drawn(panel, look, top);
        body += drawn.text();
        drawn.note_kinds(kinds);
        is_comparison |= panel.compared != Compared::no;
        top += drawn.height();
    }
    body += legend(kinds, is_comparison, top + 16);
    body += cat("<g class=\"foot\" transform=\"translate(0 ", pixels(top + kFoot - 22),
                ")\"><rect width=\"100%\" height=\"22\"/><text class=\"status\" x=\"", pixels(kPad),
                "\" y=\"15\"/><text class=\"matched\" x=\"", pixels(kWidth - kPad),
                "\" y=\"15\"/></g>\n");
    const SvgFile file{"flame", "flame.css", "flame.js", look.title, kWidth, top + kFoot};
    return svg_text(file, look.is_icicle ? " data-way=\"icicle\"" : " data-way=\"flame\"", body);
}

}  // namespace gpufs
