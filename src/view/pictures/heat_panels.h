#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/results/map_entries.h"
#include "lang/program/program.h"
#include "view/pictures/heat_svg.h"

namespace gpufs {

// Collects the heat maps of a run. A map's histograms are one picture; where its first report goes
// by words for numbers, such as the steps of a job, there is one for each word: these are times of
// different kinds. All that came of one map have the same times.
class HeatPanels {
public:
    // The run begins.
    void begin(std::uint64_t now_ns) { begin_ns_ = now_ns; }

    // What the histograms of a map counted from a time to another.
    void add(const MapDeclaration& map, std::span<const Report> reports, const MapEntries& entries,
             std::uint64_t from_ns, std::uint64_t to_ns);
    // What they have counted since the begin; what is new came since the last sample.
    void sample(const MapDeclaration& map, std::span<const Report> reports,
                const MapEntries& entries, std::uint64_t now_ns);
    // Nothing was counted since the last samples until now.
    void pass_time(std::uint64_t now_ns);
    // Samples are due as often as there are to be columns.
    bool wants_sample(std::uint64_t now_ns) const;

    // Those where something was counted, with the titles of the reports: by map, then by the number
    // that the word stands for.
    std::vector<HeatPanel> panels() const;

private:
    using Kind = std::vector<std::uint64_t>;  // the numbers of the words
    using Counts = std::map<Kind, HeatMap::Counts>;
    struct OfKind {
        std::string words;
        HeatMap map;
        HeatMap::Counts sampled;  // at the last sample
    };
    struct OfMap {
        std::string name, title, unit;
        std::uint64_t begin_ns = 0;
        std::optional<std::uint64_t> sampled_ns;
        std::map<Kind, OfKind> kinds;
    };

    OfMap& found(const MapDeclaration& map, std::span<const Report> reports, std::uint64_t from_ns);
    static Counts counts_of(const MapDeclaration& map, std::span<const Report> reports,
                            const MapEntries& entries, OfMap& heats);

    std::deque<OfMap> maps_;
    std::uint64_t begin_ns_ = 0;
};

}  // namespace gpufs
