#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "view/export/protobuf.h"
#include "view/page/spilled_bytes.h"

namespace gpufs {

// Numbers that are written once and then read in order, once or again; many take no memory. All
// functions throw SysError.
class NumberFile {
public:
    void add(std::uint64_t number);
    void add_signed(std::int64_t number) { add(zigzag(number)); }

    // From now on it is read: from the first number.
    void rewind();
    // Not behind the last.
    std::uint64_t next();
    std::int64_t next_signed();

private:
    SpilledBytes bytes_;
    std::string number_;      // the bytes of one
    std::string_view piece_;  // what was read and is not taken yet
};

}  // namespace gpufs
