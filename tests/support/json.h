#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::test {

// A JSON value, read strictly: what a program would make of a line that gpufs prints.
struct Json {
    enum class Kind { null, boolean, number, text, array, object };
    Kind kind = Kind::null;
    // Of a number its digits, of a text its characters, escapes undone; "true" or "false".
    std::string text;
    std::vector<Json> items;
    std::map<std::string, Json> members;

    // The member of that name. Throws std::out_of_range.
    const Json& operator[](const std::string& name) const { return members.at(name); }
    // Throws when it is no number.
    long long number() const;
};

// Throws std::runtime_error, saying where, for what is not JSON.
Json parse_json(std::string_view line);
// One value a line.
std::vector<Json> parse_json_lines(std::string_view text);

}  // namespace gpufs::test
