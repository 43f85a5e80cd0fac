#pragma once

#include <termios.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// A pressed key: its character, or one of these codes beyond Unicode.
using Key = char32_t;
namespace key {
inline constexpr Key kEscape = 0x1b, kUp = 0x110000, kDown = 0x110001, kPageUp = 0x110002,
                     kPageDown = 0x110003, kHome = 0x110004, kEnd = 0x110005;
}

// Decodes a terminal's input: characters, and the sequences of xterm and compatible terminals for
// arrow and navigation keys. Ignores unknown sequences. An incomplete sequence waits for its rest.
class KeyReader {
public:
    void feed(std::string_view bytes);
    std::optional<Key> next();

private:
    std::string rest_;
    std::deque<Key> keys_;
};

// Puts a terminal into full-screen mode: alternate screen, no cursor, keys without echo or line
// buffering; Ctrl-C still sends a signal, Ctrl-Z does not. The destructor restores the terminal.
class FullScreen {
public:
    // Reads keys from `in` if that is a terminal; `out` must be one. Throws SysError.
    FullScreen(int in, int out);
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    // For poll(2); -1 if there are no keys.
    int key_fd() const noexcept { return has_keys_ ? in_ : -1; }
    // The next pressed key, without waiting.
    std::optional<Key> next_key();
    // Replaces the screen's content by these lines.
    void show(std::string_view lines);

private:
    void write(std::string_view text) const;

    int in_, out_;
    bool has_keys_ = false;
    termios before_{};
    KeyReader keys_;
};

}  // namespace gpufs
