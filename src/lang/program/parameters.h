#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "lang/program/program.h"

namespace gpufs {

// What the user gave for a program's parameters; missing ones have their default.
struct ParameterValues {
    std::map<std::string, std::int64_t, std::less<>> numbers;
    std::map<std::string, std::string, std::less<>> texts;  // Parameter::Type::text

    // What was given for a parameter that is a number, or its default.
    std::int64_t number_of(const Parameter& parameter) const {
        const auto given = numbers.find(parameter.name);
        return given == numbers.end() ? parameter.value : given->second;
    }
    const std::string& text_of(const Parameter& parameter) const {
        const auto given = texts.find(parameter.name);
        return given == texts.end() ? parameter.text : given->second;
    }
};

// Parses "name=value" words for a program's parameters. A plain number is in the parameter's unit;
// times and sizes may carry their own unit: min=10ms for a parameter in "us". Throws UsageError,
// with a "did you mean", for an unknown name or an invalid value.
ParameterValues parse_program_arguments(const Program& program, std::span<const std::string> words);

// False for those that gpufs sets itself, by its options: kFollowing, kFreezing.
bool is_for_users(const Parameter& parameter);

// One line per parameter for users: "  min_us=10000  us  print waits of this length and more".
// Empty without parameters.
std::string parameters_text(const Program& program);

}  // namespace gpufs
