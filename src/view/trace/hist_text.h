#pragma once

#include <string>

#include "base/printable.h"
#include "lang/trigger/hist_listing.h"
#include "view/columns.h"

namespace gpufs {

// What a hist trigger has counted. A line with the event, the trigger and how often it fired; then
// a table with a row for each entry, and a stack below the row whose key it is. Where the last key
// is in ranges, a histogram for each of the other keys instead, the one with the most first.
std::string hist_text(const std::string& event, const HistListing& listing, Controls controls,
                      const Screen& screen);

// The same as one object, without a newline; man/gpufs-json.5.
std::string hist_json(const std::string& event, const HistListing& listing);

}  // namespace gpufs
