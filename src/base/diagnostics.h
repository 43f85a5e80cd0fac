#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace gpufs {

// The mistakes found in one or more texts, collected so that one run shows them all.
class Diagnostics {
public:
    void error(const SourceText& source, Span at, std::string_view message,
               const std::string& hint = {});
    // A mistake that a parser threw about `source`.
    void error(const SourceText& source, const SourceError& mistake);

    // What others found, but for what is here already.
    void add(const Diagnostics& others);

    bool empty() const noexcept { return entries_.empty(); }
    std::size_t size() const noexcept { return entries_.size(); }

    // Every mistake as its three lines and its hint, without a last newline. Texts come in the
    // order of their first mistake, the mistakes of one text in its own order.
    std::string to_text() const;

    // Throws UsageError with to_text() when there is a mistake.
    void throw_if_any() const;

private:
    struct Entry {
        std::size_t source;  // index into names_
        Span at;
        std::string text;
    };
    void add(const SourceText& source, Span at, std::string text);

    std::vector<std::string> names_;
    std::vector<Entry> entries_;
};

}  // namespace gpufs
