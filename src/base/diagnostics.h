#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"

namespace gpufs {

// Several mistakes at once: the messages are the first 20, in the order of Diagnostics::to_text().
class Mistakes : public UsageError, public Placed {
public:
    Mistakes(const std::string& text, std::vector<PlacedMessage> messages, std::string rest)
        : UsageError(text), Placed(std::move(messages)), rest_(std::move(rest)) {}
    // "and 3 more mistakes", where not all are shown; else empty.
    const std::string& rest() const noexcept { return rest_; }

private:
    std::string rest_;
};

// Mistakes found in one or more texts, collected so that one run shows all of them.
class Diagnostics {
public:
    // What was told of the same place already is not told again.
    void error(const SourceText& source, Span at, std::string_view message,
               std::string_view hint = {});
    // Adds a mistake that a parser threw about `source`.
    void error(const SourceText& source, const SourceError& mistake);

    // Adds the mistakes of others that are not in this list yet.
    void add(const Diagnostics& others);

    bool empty() const noexcept { return entries_.empty(); }
    std::size_t size() const noexcept { return entries_.size(); }

    // So many that whoever looks for mistakes may stop: nobody mends them one by one.
    bool is_full() const noexcept { return entries_.size() >= kEnough; }

    // The first 20 mistakes, each with its three lines and its hint, and how many more there are,
    // without a final newline. Texts are ordered by their first mistake, and mistakes within a text
    // by position.
    std::string to_text() const;

    // Throws Mistakes with to_text() if there is a mistake.
    void throw_if_any() const;

private:
    static constexpr std::size_t kEnough = 1000;
    struct Entry {
        std::size_t source;  // index into names_
        Span at;
        PlacedMessage message;
    };
    void add(const SourceText& source, Span at, PlacedMessage message);
    std::vector<PlacedMessage> shown() const;
    std::string rest() const;

    std::vector<std::string> names_;
    std::vector<Entry> entries_;
};

}  // namespace gpufs
