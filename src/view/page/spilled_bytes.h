#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// Bytes that are written once and then read in order, once or again. Many of them lie in a file
// without a name, so that they take no memory.
class SpilledBytes {
public:
    // Throws SysError.
    void add(std::string_view bytes);
    std::uint64_t size() const { return in_file_ + piece_.size(); }

    // From now on it is read: from the first byte. Throws SysError.
    void rewind();
    // What follows, as much as is at hand; empty behind the last byte. Valid until the next call.
    // Throws SysError.
    std::string_view next_piece();

private:
    void spill();

    std::string piece_;          // what is not in the file; or, where there is one, what was read
    std::uint64_t in_file_ = 0;  // written to it
    std::uint64_t read_ = 0;     // bytes that next_piece() gave
    bool is_written_ = false;
    Fd file_;
};

}  // namespace gpufs
