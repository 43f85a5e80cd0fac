#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gpufs {

// Text written by the user and its name: a path, or "--if" for an argument.
struct SourceText {
    std::string name;
    std::string text;

    // Line `n`, counted from 1, without its newline; empty past the end.
    std::string_view line(std::size_t n) const;
};

// A byte range [begin, end) of a source text. Lines and columns are computed only for messages.
struct Span {
    std::size_t begin = 0, end = 0;
    bool operator==(const Span&) const = default;
};

// Both counted from 1, as in editors.
struct SourcePos {
    std::size_t line = 1, column = 1;
    bool operator==(const SourcePos&) const = default;
};
SourcePos position_of(const SourceText& source, std::size_t offset);

// A message about a place in a text, with all that showing it takes.
struct PlacedMessage {
    std::string name;      // of the text
    SourcePos begin, end;  // `end` is behind the last character
    std::string line;      // the one that the place begins in
    std::string message, hint;
    bool operator==(const PlacedMessage&) const = default;
};
PlacedMessage place_message(const SourceText& source, Span at, std::string_view message,
                            std::string_view hint = {});

// A mistake in three lines: "name:line:col: error: message", the source line, the caret. Of a long
// line what is around the caret is shown, with "..." where more is left out. Without the hint.
//
//   watch.bpf:7:23: error: dma_fence:dma_fence_init has no field 'seqn'
//   w6 = *(u32 *)(r1 + @seqn)
//                      ^~~~~
std::string pointed_at(const PlacedMessage& mistake);
std::string point_at(const SourceText& source, Span at, std::string_view message);

// What an error that is about places in texts has besides what(), for those who show it in another
// form.
class Placed {
public:
    virtual ~Placed() = default;
    const std::vector<PlacedMessage>& messages() const noexcept { return messages_; }

protected:
    explicit Placed(std::vector<PlacedMessage> messages) : messages_(std::move(messages)) {}

private:
    std::vector<PlacedMessage> messages_;
};

// A mistake in a text, shown with its source line. Exit status 2.
class SourceError : public UsageError, public Placed {
public:
    SourceError(const SourceText& source, Span at, std::string_view message,
                std::string_view hint = {});
    Span at() const noexcept { return at_; }
    // The message without its position, for callers that know the text under another name.
    const std::string& message() const noexcept { return messages().front().message; }

private:
    Span at_;
};

}  // namespace gpufs
