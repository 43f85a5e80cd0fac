#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
};
SourcePos position_of(const SourceText& source, std::size_t offset);

// A mistake in three lines: "name:line:col: error: message", the source line, the caret. Of a long
// line what is around the caret is shown, with "..." where more is left out.
//
//   watch.bpf:7:23: error: dma_fence:dma_fence_init has no field 'seqn'
//   w6 = *(u32 *)(r1 + @seqn)
//                      ^~~~~
std::string point_at(const SourceText& source, Span at, std::string_view message);

// A mistake in a text, shown with its source line. Exit status 2.
class SourceError : public UsageError {
public:
    SourceError(const SourceText& source, Span at, std::string_view message, std::string hint = {})
        : UsageError(point_at(source, at, message), std::move(hint)), at_(at), message_(message) {}
    Span at() const noexcept { return at_; }
    // The message without its position, for callers that know the text under another name.
    const std::string& message() const noexcept { return message_; }

private:
    Span at_;
    std::string message_;
};

}  // namespace gpufs
