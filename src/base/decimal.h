#pragma once

#include <string>

namespace gpufs {

// The number with so many digits behind the point, rounded: "12.30".
std::string decimal(double number, int digits);

}  // namespace gpufs
