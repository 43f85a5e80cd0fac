#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "bt/types/compiled.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_part.h"
#include "view/bt/value_text.h"

namespace gpufs::bt {

// The maps of a script beside other programs, where they are shown as the maps of those are: as
// reports. Maps are called by their names in the whole program: "slow.@start".
class ScriptTables {
public:
    // Borrows all but `controls`: what becomes of control characters in pictures' texts, not in
    // JSON.
    ScriptTables(const Compiled& script, const RunningPart& part, const ValueWriter& writer,
                 Controls controls)
        : script_(script), part_(part), writer_(writer), controls_(controls) {}

    // What the script keeps data in, and time series: their contents stay when an interval ends.
    std::vector<std::string> kept_maps() const;
    // Null: it is not of this script.
    const ScriptMap* find(std::string_view map) const;
    // Whether the script wants its maps shown when nothing asks for them.
    bool shows_maps() const { return script_.output.prints_maps_on_exit; }

    // Contents as a report has them: each part of the key in a column of its own, and what is
    // counted, or the data. Of a histogram the row of the histogram that each percentile is in.
    // `map` is good until the next call for the same map.
    struct Table {
        const MapDeclaration* map = nullptr;
        Report report;
        MapEntries entries;
    };
    Table table(const ScriptMap& map, MapEntries entries);

    // As a script prints it, as text or as a line of JSON. Empty where there is nothing to show.
    std::string picture(const ScriptMap& map, const MapEntries& entries, bool is_json) const;

private:
    MapEntries united(const ScriptMap& map, MapEntries entries) const;

    const Compiled& script_;
    const RunningPart& part_;
    const ValueWriter& writer_;
    Controls controls_;
    std::map<std::string, MapDeclaration, std::less<>> made_;  // by the script's name
};

}  // namespace gpufs::bt
