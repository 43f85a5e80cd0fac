#pragma once

#include <termios.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// A key that was pressed: its character, or one of these, which are beyond all characters.
using Key = char32_t;
namespace key {
inline constexpr Key kEscape = 0x1b, kUp = 0x110000, kDown = 0x110001, kPageUp = 0x110002,
                     kPageDown = 0x110003, kHome = 0x110004, kEnd = 0x110005;
}

// Finds the keys in what a terminal sends: characters, and the sequences that xterm and its kin
// send for arrows and their neighbours. Unknown sequences are left out. A sequence that is cut
// waits for its rest.
class KeyReader {
public:
    void feed(std::string_view bytes);
    std::optional<Key> next();

private:
    std::string rest_;
    std::deque<Key> keys_;
};

// Holds a terminal for a full-screen display: the alternate screen, no cursor, keys as they are
// pressed and not shown; Ctrl-C is still a signal, Ctrl-Z is none. Gives everything back as it was.
class FullScreen {
public:
    // Keys come from `in`, where that is a terminal; `out` is one. Throws SysError.
    FullScreen(int in, int out);
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    // To wait for; -1 where there are no keys.
    int key_fd() const noexcept { return has_keys_ ? in_ : -1; }
    // The next key that was pressed, without waiting for one.
    std::optional<Key> next_key();
    // Shows these lines in the place of what is there.
    void show(std::string_view lines);

private:
    void write(std::string_view text) const;

    int in_, out_;
    bool has_keys_ = false;
    termios before_{};
    KeyReader keys_;
};

}  // namespace gpufs
