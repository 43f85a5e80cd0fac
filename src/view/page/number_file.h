#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "view/page/spilled_bytes.h"

namespace gpufs {

// Numbers that are written once and then read in order, once or again; many take no memory. All
// functions but zigzag() throw SysError.
class NumberFile {
public:
    void add(std::uint64_t number);
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
    SpilledBytes bytes_;
    std::string number_;      // the bytes of one
    std::string_view piece_;  // what was read and is not taken yet
};

}  // namespace gpufs
