#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::test {

// tests/programs/variables.c, which prints what its variables are.

// The program as it is compiled in one of several ways: "gcc-O2-pie".
std::string variant(const std::string& name);

// The number of the line with this comment in it, or in another source of tests/programs.
std::uint64_t line_with(const std::string& comment, const std::string& source = "variables.c");

// "work n=1 text=\"odd sock\"" by names: values may have blanks in quotes.
std::map<std::string, std::string> named_values(std::string_view line);

// What it printed at a line, time by time.
using Records = std::vector<std::map<std::string, std::string>>;
Records printed_at(const std::string& output, const std::string& line_name);

// Whether the compiler lets a line begin before the variable has the value that is printed there:
// clang's optimizer does so on arm64, where it takes instructions of the line "later" ahead.
bool is_ahead(const std::string& program, std::string_view variable);

}  // namespace gpufs::test
