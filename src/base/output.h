#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// Buffered text to a descriptor that it does not own. Throws every failure as SysError: a full disk
// is a failed command, a closed pipe (EPIPE) ends it.
class Output {
public:
    Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    void write(std::string_view text) {
        buffer_ += text;
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
    std::string buffer_;
};

}  // namespace gpufs
