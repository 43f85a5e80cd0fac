#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace gpufs::test {

// The bytes of this trace.dat with other times in the first pages of these CPUs, as a recording has
// whose pages are damaged. A CPU without records must not be among them.
std::string with_page_times(const std::string& recording,
                            const std::map<std::size_t, std::uint64_t>& times);

}  // namespace gpufs::test
