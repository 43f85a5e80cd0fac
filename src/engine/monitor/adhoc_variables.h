#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "engine/probe/source_events.h"
#include "lang/adhoc/adhoc.h"

namespace gpufs {

// A name in a question that may be a variable's.
struct AskedName {
    SourceText source;
    Span at;
    bool is_required = true;  // else another event of the question may have it

    std::string text() const { return source.text.substr(at.begin, at.end - at.begin); }
};

// What a search for the events of a question knows of the question, and what it finds out besides.
struct AdhocLookup {
    bool tells_functions = false;  // the functions of a pattern are asked for
    bool tells_probes = false;     // its static probes are
    std::vector<AskedName> names;

    std::vector<std::string> notes;
    std::vector<ArgumentWay> ways;  // of the variables
};

// The places in code of an event at a function, a line or an address of a file, each with the
// variables that are asked for as its fields; the event as it is where it is at no line and no
// variable is asked for. Places at which one cannot be read are left out, which is noted. Throws
// SourceError if there is no place, or a variable that can be read at none.
std::vector<AdhocEvent> find_variables(AdhocEvent event, const SourceText& source,
                                       AdhocLookup& lookup);

}  // namespace gpufs
