#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace gpufs {

// Classes of ASCII characters, whatever the locale; bytes from 0x80 on are in none.
constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
// A letter, a digit or '_': what names in C are made of. They begin with anything of it but a
// digit.
constexpr bool is_word_char(char c) {
    return is_letter(c) || is_digit(c) || c == '_';
}
constexpr bool is_word_start(char c) {
    return is_letter(c) || c == '_';
}
// As isspace(3) in the C locale.
constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The text as one number and nothing else; absent for what is none, and for what does not fit.
template <std::integral T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

// Takes a text apart from its left end. What takes something steps over it only if it is there.
class Scan {
public:
    explicit Scan(std::string_view text) : rest_(text) {}

    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    // The characters up to the first that is not of the class; may be none.
    template <std::predicate<char> Class>
    std::string_view take_all(Class&& is_of_class) {
        const auto stop = std::ranges::find_if_not(rest_, is_of_class);
        return cut(static_cast<std::size_t>(stop - rest_.begin()));
    }
    // What is before `end`, which is taken, too. Absent when there is no such character.
    std::optional<std::string_view> take_until(char end) {
        const auto at = rest_.find(end);
        if (at == rest_.npos) return std::nullopt;
        const std::string_view text = cut(at);
        rest_.remove_prefix(1);
        return text;
    }
    // Absent when there is no number, and when it does not fit.
    template <std::integral T>
    std::optional<T> take_number(int base = 10) {
        T number = 0;
        const auto [end, failed] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
        if (failed != std::errc()) return std::nullopt;
        cut(static_cast<std::size_t>(end - rest_.data()));
        return number;
    }
    std::string_view rest() const { return rest_; }
    bool at_end() const { return rest_.empty(); }

private:
    std::string_view cut(std::size_t length) {
        const std::string_view text = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return text;
    }

    std::string_view rest_;
};

}  // namespace gpufs
