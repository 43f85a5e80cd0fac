#include "support/skip.h"

#include <utility>

namespace gpufs::test {
namespace {

std::string skip_reason;

}  // namespace

void skip(const std::string& reason) {
    skip_reason = reason;
}

std::string take_skip_reason() {
    return std::exchange(skip_reason, {});
}

}  // namespace gpufs::test
