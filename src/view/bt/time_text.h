#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs::bt {

// The first digits of what a time, in ns, has beyond a whole second.
std::string fraction_text(std::uint64_t ns, std::size_t digits);

// Formats a time, in ns since 1970, as strftime(3) does in the local time zone. %f, which it does
// not have, is the microseconds within the second, six digits.
std::string time_text(std::string_view format, std::uint64_t wall_ns);

}  // namespace gpufs::bt
