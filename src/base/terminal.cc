#include "base/terminal.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace gpufs {
namespace {

// ECMA-48: ESC [ parameters, then one final byte from 0x40 to 0x7e. Terminals in application mode
// send ESC O and a byte instead.
constexpr std::string_view kSequence = "\x1b[", kShortSequence = "\x1bO";

constexpr std::pair<std::string_view, Key> kKnown[] = {
    {"A", key::kUp},      {"B", key::kDown},      {"H", key::kHome},  {"F", key::kEnd},
    {"5~", key::kPageUp}, {"6~", key::kPageDown}, {"1~", key::kHome}, {"4~", key::kEnd},
};

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l", kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H", kClearLine = "\x1b[K", kClearBelow = "\x1b[J";

}  // namespace

void KeyReader::feed(std::string_view bytes) {
    rest_ += bytes;
    std::size_t at = 0;
    while (at < rest_.size()) {
        const std::string_view left = std::string_view(rest_).substr(at);
        if (!left.starts_with(kSequence) && !left.starts_with(kShortSequence)) {
            keys_.push_back(static_cast<unsigned char>(left[0]));
            ++at;
            continue;
        }
        const auto last = std::ranges::find_if(left.begin() + 2, left.end(),
                                               [](char c) { return c >= 0x40 && c <= 0x7e; });
        if (last == left.end()) break;
        const std::string_view body(left.begin() + 2, last + 1);
        if (const auto known =
                std::ranges::find(kKnown, body, [](const auto& k) { return k.first; });
            known != std::end(kKnown))
            keys_.push_back(known->second);
        at += body.size() + 2;
    }
    rest_.erase(0, at);
}

std::optional<Key> KeyReader::next() {
    if (keys_.empty()) return std::nullopt;
    const Key first = keys_.front();
    keys_.pop_front();
    return first;
}

FullScreen::FullScreen(int in, int out) : in_(in), out_(out) {
    has_keys_ = ::tcgetattr(in_, &before_) == 0;
    if (has_keys_) {
        termios now = before_;
        now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        now.c_cc[VMIN] = 0;
        now.c_cc[VTIME] = 0;
        now.c_cc[VSUSP] = _POSIX_VDISABLE;
        check(::tcsetattr(in_, TCSANOW, &now), [] { return std::string("set up the terminal"); });
    }
    write(kEnter);
}

FullScreen::~FullScreen() {
    if (has_keys_) ::tcsetattr(in_, TCSANOW, &before_);
    try {
        write(kLeave);
    } catch (const SysError&) {
        // The terminal is gone.
    }
}

std::optional<Key> FullScreen::next_key() {
    if (!has_keys_) return std::nullopt;
    std::array<char, 256> bytes;
    pollfd ready{in_, POLLIN, 0};
    while (::poll(&ready, 1, 0) == 1) {
        const ssize_t count = ::read(in_, bytes.data(), bytes.size());
        if (count <= 0) {
            has_keys_ = count < 0 && (errno == EAGAIN || errno == EINTR);
            break;
        }
        keys_.feed({bytes.data(), static_cast<std::size_t>(count)});
    }
    return keys_.next();
}

void FullScreen::show(std::string_view lines) {
    std::string text(kHome);
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        text += lines.substr(0, end);
        text += kClearLine;
        lines.remove_prefix(std::min(end + 1, lines.size()));
        if (!lines.empty()) text += "\r\n";
    }
    text += kClearBelow;
    write(text);
}

void FullScreen::write(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t count = ::write(out_, text.data(), text.size());
        if (count == -1 && errno == EINTR) continue;
        check(count, [] { return std::string("write to the terminal"); });
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace gpufs
