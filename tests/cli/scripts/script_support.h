#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Scripts that are run as 'gpufs bt' runs them, and what they print.
namespace gpufs::test {

struct ScriptOutcome {
    const char* script;
    const char* out;  // without the empty lines in front of the maps
};

// Each must end with status 0 and print what is there.
void check_outcomes(std::span<const ScriptOutcome> cases);
template <std::size_t n>
void check_outcomes(const ScriptOutcome (&cases)[n]) {
    check_outcomes(std::span<const ScriptOutcome>(cases));
}

// What a script that is refused is told, without the line and the mark under it; all else is a
// failure.
std::string script_refusal(const std::string& script, const std::vector<std::string>& options = {});

}  // namespace gpufs::test
