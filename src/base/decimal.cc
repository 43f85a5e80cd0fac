#include "base/decimal.h"

#include <cstdio>

namespace gpufs {

std::string decimal(double number, int digits) {
    char text[400];  // DBL_MAX has 309 digits
    const int length = std::snprintf(text, sizeof text, "%.*f", digits, number);
    return {text, static_cast<std::size_t>(length)};
}

}  // namespace gpufs
