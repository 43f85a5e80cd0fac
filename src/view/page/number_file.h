#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/fd.h"

namespace gpufs {

// Numbers that are written once and then read in order, once or again. Many of them lie in a file
// without a name, so that they take no memory.
class NumberFile {
public:
    void add(std::uint64_t number);
    // Throws SysError.
    void add_signed(std::int64_t number) { add(zigzag(number)); }

    // From now on it is read: from the first number.
    void rewind();
    // Not behind the last.
    std::uint64_t next();
    std::int64_t next_signed();

    // Small numbers of both signs as small ones: 0, -1, 1, -2.
    static std::uint64_t zigzag(std::int64_t number) {
        return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
    }

private:
    void spill();
    unsigned char next_byte();

    std::string piece_;        // what is not in the file yet, or what was read of it
    std::size_t at_ = 0;       // where the next number is in the piece
    std::uint64_t bytes_ = 0;  // of the file: written, then read
    bool is_read_ = false;
    Fd file_;
};

}  // namespace gpufs
