#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace gpufs {

inline void append(std::string& out, std::string_view text) {
    out += text;
}
inline void append(std::string& out, char c) {
    out += c;
}
template <std::integral T>
void append(std::string& out, T number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

// One thing that cat() puts together. Borrows a text.
class CatPart {
public:
    CatPart(std::string_view text) : text_(text.data()), number_(text.size()), kind_(Kind::text) {}
    CatPart(const std::string& text) : CatPart(std::string_view(text)) {}
    CatPart(const char* text) : CatPart(std::string_view(text)) {}
    CatPart(char c) : number_(static_cast<unsigned char>(c)), kind_(Kind::character) {}
    template <std::integral T>
    CatPart(T number)
        : number_(static_cast<std::uint64_t>(number)),
          kind_(std::is_signed_v<T> ? Kind::negatable : Kind::number) {
        static_assert(!std::is_same_v<T, bool> && sizeof number <= sizeof number_);
    }

    std::size_t bytes() const;
    void append_to(std::string& out) const;

private:
    enum class Kind : unsigned char { text, character, number, negatable };

    const char* text_ = nullptr;
    std::uint64_t number_;  // of a text, its size
    Kind kind_;
};
std::string cat_parts(std::span<const CatPart> parts);

// How a part is handed on: literals of all lengths are one type, so that they take one function.
template <class T>
using CatArgument = std::conditional_t<std::is_class_v<T> && !std::is_same_v<T, std::string_view>,
                                       const T&, std::decay_t<const T>>;
template <class... Ts>
std::string cat_arguments(Ts... parts) {
    const CatPart list[] = {CatPart(parts)...};
    return cat_parts(list);
}

// Concatenates text, characters and integers (in decimal).
template <class... Ts>
[[gnu::always_inline]] inline std::string cat(const Ts&... parts) {
    return cat_arguments<CatArgument<Ts>...>(parts...);
}

}  // namespace gpufs
