#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/probe/planned_event.h"
#include "lang/probe/definition.h"

namespace gpufs {

// The events for the static probes that a definition means: "usdt:FILE:PROVIDER:NAME", whose names
// may be patterns. Without arguments in the definition the event has those of the note, arg0,
// arg1, …; an argument there may name one of them: "file=arg0:string". Places whose notes say
// different sizes are events of their own, NAME_2 and so on, because the fields of an event have
// one type. Throws SourceError if there is no such probe. Adds what cannot be read to `notes`.
std::vector<PlannedEvent> find_static_events(const SourceText& source,
                                             const ProbeDefinition& definition,
                                             const ProbePlace& place,
                                             std::vector<std::string>& notes);

// A static probe of a program or library, as `gpufs probe usdt` lists it.
struct ListedStaticProbe {
    std::string file, provider, name;
    std::size_t places = 0;
    bool has_semaphore = false;  // it is passed only while somebody listens
    struct Argument {
        std::string type;         // "s32", "u64"
        std::string note;         // "-4@%edi"
        bool is_readable = true;  // by tracefs
    };
    std::vector<Argument> arguments;  // of the first place
};
// All of a file, in its order. Throws SysError, and Error if the file is no program or library.
std::vector<ListedStaticProbe> list_static_probes(const std::string& file);

}  // namespace gpufs
