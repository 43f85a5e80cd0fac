#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// Reads a file line by line; holds some 256 KiB of it.
class LineReader {
public:
    // The descriptor must stay open.
    explicit LineReader(int file) : file_(file) {}

    // The next line without its newline, valid until the next call; absent at the end. A line of
    // more than a mebibyte comes in pieces. Throws SysError.
    std::optional<std::string_view> next();
    void rewind();
    // Of the file.
    std::uint64_t bytes_read() const { return at_ - (held_.size() - used_); }
    std::uint64_t line() const { return line_; }  // number of the last line, from 1 on
    // The last line ended with a newline.
    bool is_whole() const { return is_whole_; }

private:
    int file_;
    std::uint64_t at_ = 0, line_ = 0;
    std::string held_;
    std::size_t used_ = 0;
    bool has_ended_ = false, is_whole_ = true;
};

}  // namespace gpufs
