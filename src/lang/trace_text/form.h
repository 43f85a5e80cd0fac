#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"

namespace gpufs {

// Reads the text of an event back into values: the inverse of its print fmt. Only what the text
// tells exactly: numbers, texts, words from a list.
class TextForm {
public:
    // A value of one field, as the text has it.
    struct Value {
        const Field* field = nullptr;
        std::size_t element = 0;  // of an array of numbers
        std::uint64_t number = 0;
        std::string_view text;  // of a field that holds text
    };

    // From the event's print fmt; absent where it shows something that cannot be read back.
    // `format` must outlive the form.
    static std::optional<TextForm> of_print_format(const EventFormat& format);
    // From a text with the fields' names in braces: "{comm}:{pid} [{prio}] CPU:{target_cpu}".
    // Behind a '|' is how it is printed: "state", as sched_switch has it, or "old state". Absent
    // where the event has no such field.
    static std::optional<TextForm> of_template(const EventFormat& format, std::string_view text);

    // The values; false where the text has not this form.
    bool read(std::string_view text, std::vector<Value>& values) const;
    // The fields that the text shows, each once.
    std::vector<const Field*> fields() const;

private:
    struct Word {
        std::uint64_t value;
        std::string name;
    };
    struct Piece {
        enum class Kind { literal, number, address, text, words, flags, again };
        Kind kind = Kind::literal;
        std::string literal;    // also what is between flags
        std::size_t shown = 0;  // index of shown_
        std::vector<Word> words;
    };
    struct Reading;
    struct Shown {
        const Field* field;
        std::size_t element;
        bool operator==(const Shown&) const = default;
    };

    bool add_literal(std::string_view text);
    bool add_argument(const EventFormat& format, char conversion, std::string_view argument);
    bool add_field(const EventFormat& format, std::string_view name, Piece piece);
    bool add_state(const EventFormat& format, std::string_view name, bool is_old);
    static bool take_words(std::string_view list, std::vector<Word>& words);

    std::vector<Piece> pieces_;
    std::vector<Shown> shown_;
};

}  // namespace gpufs
