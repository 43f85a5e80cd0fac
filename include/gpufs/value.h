#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpufs::api {

// The functions of a stack, the innermost first: "vfs_read", "main (worker)".
using Stack = std::vector<std::string>;

// What an event's field, a map's key or a record's member holds. Numbers that stand for something
// else (addresses, system calls, devices, IP addresses, errors) are the text that names it.
using Value = std::variant<std::uint64_t, std::int64_t, std::string, Stack>;

// A value with its name, in the order its event, key or record declares.
using Member = std::pair<std::string, Value>;
using Members = std::vector<Member>;

// The value as one line of text; the frames of a stack are separated by ';', the outermost first,
// as flamegraph.pl reads them.
std::string to_text(const Value& value);

}  // namespace gpufs::api
