#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/trigger/trigger.h"

namespace gpufs {

// A key or a value of an entry, as the kernel prints it by the key's modifier.
struct HistCell {
    enum class Kind {
        number,    // an unsigned 64-bit word: a negative field's is its two's complement
        text,      // a string, a function's name, a word in hexadecimal, a percentage
        numbered,  // a name and its number: of common_pid.execname, of a .syscall
        range,     // of .log2 and .buckets
        stack,
    };
    Kind kind = Kind::number;
    std::string text;  // text, the name of numbered, and number as it stands there: a task's name
                       // may be one
    std::uint64_t number = 0;  // number, and the one of numbered
    std::uint64_t from = 0;    // range: `from` up to and with `to`
    std::uint64_t to = 0;
    std::vector<std::string> stack;  // functions, the innermost first
};

// A key's or a value's name, without its modifier: a field, or a variable's "$lat".
struct HistColumn {
    std::string name, modifier;
    bool is_signed = false;  // numbers are an int64's bits: the event's field says so
};

struct HistEntry {
    std::vector<HistCell> keys, values;  // as in HistListing
    std::vector<std::string> notes;      // what handlers kept of it: "max: 12  next_comm: cat"
};

// What one hist trigger of an event has counted.
struct HistListing {
    Trigger trigger;
    std::vector<HistColumn> keys, values;  // the values begin with hitcount
    std::vector<HistEntry> entries;        // in the trigger's order
    // How often the trigger fired, and how often there was no room for a new entry.
    std::uint64_t hits = 0, dropped = 0;
};

// The text of an event's `hist` file: a listing for each of its hist triggers. Names that tasks
// chose may hold anything; what is no entry is left out. Nothing is known of signs.
std::vector<HistListing> parse_hist_listings(std::string_view text);

}  // namespace gpufs
