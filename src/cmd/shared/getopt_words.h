#pragma once

#include <getopt.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/shared/command.h"

namespace gpufs {

// The words of a command line for getopt_long(3), which keeps its place in variables of its own:
// only one object may be in use at a time.
class GetoptWords {
public:
    static constexpr int kWord = 1;

    explicit GetoptWords(Args args);

    struct Found {
        int code;   // as getopt_long() returns it; kWord: no option, but a word
        int about;  // where the code is '?' or ':': of the wrong option; 0: its name is unknown
        std::string_view word;      // where the option is
        const char* text;           // the option's, or the word; null: none
        bool is_text_next = false;  // the text is the word behind it
    };
    // The next option or word, in their order. `letters` and `names` are getopt_long()'s; nothing
    // is printed. Absent at the end, or at "--".
    std::optional<Found> next(const std::string& letters, const option* names);
    // What stands behind "--", once next() is absent.
    std::vector<std::string> rest() const;

private:
    std::vector<std::string> words_;
    std::vector<char*> argv_;
};

}  // namespace gpufs
