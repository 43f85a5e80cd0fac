#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "engine/results/map_contents.h"
#include "lang/program/program.h"
#include "view/monitor/value_text.h"
#include "view/pictures/flame_svg.h"

namespace gpufs {

class Options;

// What is drawn of a run.
struct PictureChoices {
    std::optional<std::string> flame, title;
    bool is_reversed = false, is_icicle = false;

    bool has_any() const { return flame.has_value(); }
};

// Declares the options that fill it.
void add_picture_options(Options& options, PictureChoices& choices);
// Throws UsageError if an option lacks another.
void check_pictures(const PictureChoices& choices);

// Collects what maps counted during a run, and draws it when that is over.
class Pictures {
public:
    // Throws SysError if a file cannot be written. Keeps a reference to the choices. `name`: of
    // what runs, for the title where none was chosen.
    Pictures(const PictureChoices& choices, std::string name);

    // What a map held at the end of an interval, or of the run; one after the other is added up.
    void add(const MapDeclaration& map, const std::vector<Report>& reports,
             const std::vector<MapEntry>& entries, ValueWriter& values);
    // Writes the files. Throws SysError; what had their names before is then unchanged.
    void write();

private:
    FlamePanel& panel_of(const MapDeclaration& map, const Report& report);

    const PictureChoices& choices_;
    std::string name_;
    std::optional<WholeFile> flame_;
    std::vector<std::string> maps_;  // whose panels these are
    std::vector<FlamePanel> panels_;
};

}  // namespace gpufs
