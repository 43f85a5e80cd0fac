#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// Text that is written now and read later, once. Much of it lies in a file without a name, so that
// it takes no memory.
class SpilledText {
public:
    // Throws SysError.
    void add(std::string_view text);
    std::uint64_t bytes() const { return in_file_ + piece_.size(); }
    // All of it, in pieces and in order. Throws SysError.
    void read(const std::function<void(std::string_view)>& take);

private:
    std::string piece_;  // what is not in the file
    std::uint64_t in_file_ = 0;
    Fd file_;
};

}  // namespace gpufs
