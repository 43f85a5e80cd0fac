#pragma once

#include <span>
#include <string>

#include "gpufs/engine/map_contents.h"
#include "gpufs/lang/program.h"

namespace gpufs {

// A map below its name, a line an entry: `comm="bash" count=12`; powers of two as a histogram.
// Empty where there is no entry. Names what the aggregation keeps: count, sum, min, max, avg.
std::string map_text(const MapDeclaration& map, std::span<const MapEntry> entries);

// {"map":"calls","entries":[{"key":{...},"count":12}]}
std::string map_json(const MapDeclaration& map, std::span<const MapEntry> entries);

}  // namespace gpufs
