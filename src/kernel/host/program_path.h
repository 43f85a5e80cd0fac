#pragma once

#include <optional>
#include <string>

namespace gpufs {

// The file that a shell runs for a name without a '/': the first one in the folders of $PATH that
// may be run. Absent if there is none.
std::optional<std::string> find_program_in_path(const std::string& name);

}  // namespace gpufs
