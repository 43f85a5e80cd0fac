#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/printable.h"

namespace gpufs {

// Buffered text to a descriptor that it does not own, or to a file. Throws every failure as
// SysError: a full disk is a failed command, a closed pipe (EPIPE) ends it.
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
    // From now on the text goes to this file, which is made, or emptied at the first flush. Throws
    // SysError.
    void write_to(const std::string& path);
    int fd() const noexcept { return fd_; }
    // The file of write_to(); absent where there is none.
    std::optional<std::string> file() const {
        return file_ ? std::optional<std::string>(name_) : std::nullopt;
    }

private:
    static constexpr std::size_t kFlushAt = 64 << 10;
    int fd_;
    Fd file_;               // of write_to()
    bool is_begun_ = true;  // what the file had is gone
    std::string name_;
    Controls controls_;
    std::string buffer_;
};

}  // namespace gpufs
