#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "view/json.h"

// JSON as bpftrace writes it: a blank behind ':' and between an object's members, none between an
// array's elements.
namespace gpufs::bt {

// A number that a double cannot hold is a string, because many readers of JSON have doubles only.
void append_json_number(std::string& out, std::uint64_t number, bool is_signed);

// Appends a member's name, and the comma behind the one before it. `is_first` is false afterwards.
inline void append_json_name(std::string& out, std::string_view name, bool& is_first) {
    if (!is_first) out += ", ";
    is_first = false;
    append_json_quoted(out, name);
    out += ": ";
}

}  // namespace gpufs::bt
