#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

// A dynamic probe as the user writes it, in the kernel's syntax: "p:open do_sys_open file=$arg2",
// "r:done /bin/bash:readline text=+0($retval):string". Short forms: "p:FUNCTION ARGUMENTS…" and
// "PLACE ARGUMENTS…".
struct ProbeDefinition {
    bool is_return = false;
    std::string most_active;  // of a return probe: how many calls at a time, as written; or empty
    std::optional<std::string> name;  // of the event
    Span name_at;
    // Without "%return" behind it.
    std::string place;
    Span place_at;
    std::vector<Span> arguments;
};

// Throws SourceError if it is none, or if it names a group: the session gives it.
ProbeDefinition parse_probe_definition(const SourceText& source);

// What such a place names.
struct ProbePlace {
    enum class Kind {
        function,      // [MODULE:]FUNCTION[+OFFSET] of the kernel, or 0xADDRESS
        in_file,       // FILE:FUNCTION[+OFFSET], FILE:0xOFFSET, FILE:0xOFFSET(0xCOUNTER)
        source_line,   // FILE:SOURCE:LINE, FILE:FUNCTION:LINE
        static_probe,  // usdt:FILE:[PROVIDER:]NAME
    };
    Kind kind = Kind::function;
    std::string file;        // or the module; may be empty
    std::string provider;    // of a static probe; "*" where none is named
    std::string name;        // of the function, or a pattern, or a source file; empty for a number
    std::uint64_t line = 0;  // of the source
    std::uint64_t offset = 0;   // in the function, or the number: in the file, or the address
    std::uint64_t counter = 0;  // offset of a reference counter in the file; 0: none
};
// A word before a ':' without a '/' is a file if `is_file` says so, else a module. With a `file`
// given, the place is in it and does not name it. Throws SourceError, located at `at`.
ProbePlace parse_probe_place(const SourceText& source, Span at, std::string_view place,
                             bool (*is_file)(const std::string& word),
                             const std::string& file = {});

// The name of the event where none is given: the function's, "FUNCTION__return" at its return, of
// a number "at_0x1139"; a C identifier of at most 63 characters.
std::string event_name_for(std::string_view function, bool is_return);

}  // namespace gpufs
