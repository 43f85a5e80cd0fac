#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The number of a helper function, named with or without "bpf_".
std::optional<int> find_helper(std::string_view name);

// The name of a helper without "bpf_"; empty for a number that no helper has.
std::string_view helper_name(int number);

// The number of arguments that a helper takes. Absent for trace_printk, which takes 2 to 5, and
// where no helper has the number.
std::optional<int> helper_arguments(int number);

// All helpers' names, in ascending order of their numbers, for hints.
std::vector<std::string> helper_names();

}  // namespace gpufs
