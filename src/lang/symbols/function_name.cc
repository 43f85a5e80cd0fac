#include "lang/symbols/function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/cat.h"
#include "base/scan.h"
#include "lang/symbols/rust_name.h"

// What abi::__cxa_demangle() is made of, in libstdc++.a, which gpufs has in itself; libstdc++.so
// does not export it. Hands the text on in pieces.
extern "C" int __gcclibcxx_demangle_callback(const char* symbol,
                                             void (*take)(const char*, std::size_t, void*),
                                             void* into) __attribute__((weak));

namespace gpufs {
namespace {

// A symbol may name parts of itself again and again: one of 400 characters then has a name of
// gigabytes, and a traced process chooses what its symbols are.
constexpr std::size_t kLongestName = std::size_t{64} << 10;

struct TooLong {};

std::optional<std::string> demangled(const std::string& symbol) {
    if (!__gcclibcxx_demangle_callback) {
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> text{
            abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
        return text ? std::optional<std::string>(text.get()) : std::nullopt;
    }
    std::string text;
    const auto take = [](const char* piece, std::size_t size, void* into) {
        std::string& all = *static_cast<std::string*>(into);
        if (all.size() + size > kLongestName) throw TooLong();
        all.append(piece, size);
    };
    try {
        if (__gcclibcxx_demangle_callback(symbol.c_str(), take, &text) != 0) return std::nullopt;
    } catch (const TooLong&) {
        return std::nullopt;
    }
    return text;
}

// Operators whose names have brackets, longer ones first.
constexpr std::array<std::string_view, 12> kBracketOperators = {
    "<<=", ">>=", "<=>", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"};
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kClone = " [clone ";

// The length of "operator<<" where one stands at `at`; 0 where none does.
std::size_t operator_length(std::string_view text, std::size_t at) {
    if (!text.substr(at).starts_with(kOperator) || (at > 0 && is_word_char(text[at - 1]))) return 0;
    const std::string_view rest = text.substr(at + kOperator.size());
    if (!rest.empty() && is_word_char(rest.front())) return 0;
    for (const std::string_view op : kBracketOperators)
        if (rest.starts_with(op)) return kOperator.size() + op.size();
    return kOperator.size();
}

// Where the parts of a demangled name are that no bracket encloses.
struct Parts {
    std::optional<std::size_t> parameters;  // the last "(" outside
    std::size_t after = 0;                  // behind its ")"
    std::size_t name = 0;                   // behind the last space in front of the name
    bool is_sound = false;                  // every bracket is closed
};

Parts parts_of(std::string_view text) {
    Parts parts;
    int depth = 0;
    std::size_t space = 0, open = 0;
    bool has_operator = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const std::size_t length = operator_length(text, i)) {
            has_operator = has_operator || depth == 0;  // "operator new": its space is its own
            i += length - 1;
            continue;
        }
        switch (text[i]) {
            case '(':
            case '<':
            case '{':
            case '[':
                if (depth++ == 0) open = i;
                break;
            case ')':
            case '>':
            case '}':
            case ']':
                if (--depth < 0) return parts;
                if (depth == 0 && text[i] == ')') {
                    parts.parameters = open;
                    parts.after = i + 1;
                    parts.name = space;
                }
                break;
            case ' ':
                if (depth == 0 && !has_operator) space = i + 1;
                break;
        }
    }
    parts.is_sound = depth == 0;
    return parts;
}

// "core::fmt::write::h0123456789abcdef"
std::string_view without_hash(std::string_view name) {
    constexpr std::size_t kDigits = 16;
    constexpr std::string_view kMark = "::h";
    if (name.size() <= kDigits + kMark.size()) return name;
    const std::size_t at = name.size() - kDigits - kMark.size();
    const std::string_view digits = name.substr(at + kMark.size());
    return name.substr(at, kMark.size()) == kMark && std::ranges::all_of(digits, is_hex_digit)
               ? name.substr(0, at)
               : name;
}

}  // namespace

BareName without_types(std::string_view demangled) {
    const auto clone_at = std::min(demangled.find(kClone), demangled.size());
    const std::string_view text = demangled.substr(0, clone_at);
    const BareName whole{text, demangled.substr(clone_at)};
    const Parts parts = parts_of(text);
    if (!parts.is_sound || !parts.parameters || *parts.parameters <= parts.name) return whole;
    for (const char c : text.substr(parts.after))  // " const", " volatile &&"
        if (!is_word_char(c) && c != ' ' && c != '&') return whole;
    const std::string_view name = text.substr(parts.name, *parts.parameters - parts.name);
    // A function that returns a pointer to a function: "void (*f(int))(char)".
    if (name.starts_with("(*") || name.starts_with("(&")) return whole;
    return {name, whole.clone};
}

std::string function_signature(const std::string& symbol) {
    if (symbol.starts_with("_R")) return rust_name(symbol).value_or(symbol);
    if (!symbol.starts_with("_Z")) return symbol;
    const auto text = demangled(symbol);
    if (!text) return symbol;
    const std::string_view name = without_types(*text).name;
    return text->substr(static_cast<std::size_t>(name.data() - text->data()));
}

std::string function_name(const std::string& symbol) {
    std::string signature = function_signature(symbol);
    if (signature == symbol || symbol.starts_with("_R")) return signature;
    const BareName bare = without_types(signature);
    return cat(without_hash(bare.name), bare.clone);
}

}  // namespace gpufs
