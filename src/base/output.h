#pragma once

#include <string>
#include <string_view>

#include "base/printable.h"

namespace gpufs {

// Buffered text to a descriptor that it does not own. Throws every failure as SysError: a full disk
// is a failed command, a closed pipe (EPIPE) ends it.
class Output {
public:
    // `controls` escaped: for messages, in which there is nothing but lines of text.
    Output(int fd, std::string name, Controls controls = Controls::raw)
        : fd_(fd), name_(std::move(name)), controls_(controls) {}

    void write(std::string_view text) {
        if (controls_ == Controls::raw)
            buffer_ += text;
        else
            buffer_ += printable_lines(text);
        if (buffer_.size() >= kFlushAt) flush();
    }
    void line(std::string_view text) {
        write(text);
        write("\n");
    }
    void flush();
    int fd() const noexcept { return fd_; }

private:
    static constexpr std::size_t kFlushAt = 64 << 10;
    int fd_;
    std::string name_;
    Controls controls_;
    std::string buffer_;
};

}  // namespace gpufs
