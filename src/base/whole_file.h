#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// A file that is written at the end of long work, as a whole or not at all: what had its name stays
// until then, and where writing fails. Devices and pipes are written as they are.
class WholeFile {
public:
    // Throws SysError where the file could not be made or may not be replaced.
    explicit WholeFile(std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    // More of the text. Throws SysError.
    void add(std::string_view text);
    // In place of what was added there. Throws SysError.
    void replace(std::uint64_t at, std::string_view text);
    // That was all: the file is there from now on. Once. Throws SysError.
    void commit();
    // Both.
    void write(std::string_view text);

private:
    void look_at_old();
    void open_new();

    std::string path_, part_;  // `part_`: where the text is until it is whole
    Fd file_;
    unsigned mode_ = 0666;
    bool is_device_ = false, has_name_ = false;  // `has_name_`: part_ is a file
};

}  // namespace gpufs
