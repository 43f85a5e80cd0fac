#include "lang/symbols/rust_name.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/cat.h"
#include "base/scan.h"

namespace gpufs {
namespace {

// References back can repeat a part again and again.
constexpr std::size_t kMostText = 4096;
constexpr int kMostDepth = 200;

std::string_view basic_type(char tag) {
    switch (tag) {
        // clang-format off
        case 'a': return "i8";
        case 'b': return "bool";
        case 'c': return "char";
        case 'd': return "f64";
        case 'e': return "str";
        case 'f': return "f32";
        case 'h': return "u8";
        case 'i': return "isize";
        case 'j': return "usize";
        case 'l': return "i32";
        case 'm': return "u32";
        case 'n': return "i128";
        case 'o': return "u128";
        case 'p': return "_";
        case 's': return "i16";
        case 't': return "u16";
        case 'u': return "()";
        case 'v': return "...";
        case 'x': return "i64";
        case 'y': return "u64";
        case 'z': return "!";
        default: return {};
            // clang-format on
    }
}

struct NoRustName {};

// Reads the symbol behind its "_R" and writes the name. Throws NoRustName.
class RustName {
public:
    explicit RustName(std::string_view symbol) : symbol_(symbol) {}

    std::string read() {
        if (is_digit(peek())) fail();  // a version that is not known
        path(Generics::in_code);
        if (const char next = peek(); next >= 'A' && next <= 'Z') {
            is_silent_ = true;
            path(Generics::in_code);  // the crate that instantiated it
        }
        const std::string_view suffix = symbol_.substr(at_);
        if (!suffix.empty() && suffix.front() != '.' && suffix.front() != '$') fail();
        if (!suffix.empty() && !suffix.starts_with(".llvm.")) text_ += cat(" [clone ", suffix, ']');
        return std::move(text_);
    }

private:
    // Code writes "f::<T>", a type "Vec<T>".
    enum class Generics { in_code, in_type };

    class Level {
    public:
        explicit Level(RustName& name) : name_(name) {
            if (++name_.depth_ > kMostDepth) fail();
        }
        ~Level() { --name_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        RustName& name_;
    };

    [[noreturn]] static void fail() { throw NoRustName(); }

    char peek() const { return at_ < symbol_.size() ? symbol_[at_] : '\0'; }
    char next() {
        if (at_ == symbol_.size()) fail();
        return symbol_[at_++];
    }
    bool accept(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void put(std::string_view text) {
        if (is_silent_) return;
        text_ += text;
        if (text_.size() > kMostText) fail();
    }

    // "_" is 0, "0_" is 1, digits of base 62.
    std::uint64_t base_62() {
        constexpr std::uint64_t kBase = 62;
        if (accept('_')) return 0;
        std::uint64_t number = 0;
        while (!accept('_')) {
            const char c = next();
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'z' ? c - 'a' + 10
                              : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                                     : -1;
            if (digit < 0 || number > std::numeric_limits<std::uint64_t>::max() / kBase - 1) fail();
            number = number * kBase + static_cast<std::uint64_t>(digit);
        }
        return number + 1;
    }
    std::uint64_t tagged(char tag) { return accept(tag) ? base_62() + 1 : 0; }

    std::string identifier() {
        const bool is_encoded = accept('u');
        if (!is_digit(peek())) fail();
        std::size_t bytes = 0;
        if (!accept('0')) {
            const char* const begin = symbol_.data() + at_;
            const auto [end, error] =
                std::from_chars(begin, symbol_.data() + symbol_.size(), bytes);
            if (error != std::errc()) fail();
            at_ += static_cast<std::size_t>(end - begin);
        }
        accept('_');
        if (bytes > symbol_.size() - at_) fail();
        const std::string_view name = symbol_.substr(at_, bytes);
        at_ += bytes;
        return is_encoded ? cat("punycode{", name, '}') : std::string(name);
    }

    // Reads at an earlier place what is there, then goes on here.
    template <class Read>
    void back(std::size_t tag_at, Read read) {
        const std::uint64_t to = base_62();
        if (to >= tag_at) fail();
        if (is_silent_) return;
        const std::size_t here = at_;
        at_ = static_cast<std::size_t>(to);
        read();
        at_ = here;
    }

    void path(Generics generics) {
        const Level level(*this);
        const std::size_t tag_at = at_;
        switch (next()) {
            case 'C':
                tagged('s');
                return put(identifier());
            case 'M':
                implementation();
                put("<");
                type();
                return put(">");
            case 'X':
                implementation();
                return qualified();
            case 'Y':
                return qualified();
            case 'N':
                return nested(generics);
            case 'I':
                path(generics);
                if (generics == Generics::in_code) put("::");
                put("<");
                list([this] { argument(); });
                return put(">");
            case 'B':
                return back(tag_at, [&] { path(generics); });
            default:
                fail();
        }
    }

    // Where an impl is says nothing that its type does not say.
    void implementation() {
        tagged('s');
        const bool was_silent = std::exchange(is_silent_, true);
        path(Generics::in_type);
        is_silent_ = was_silent;
    }

    void qualified() {
        put("<");
        type();
        put(" as ");
        path(Generics::in_type);
        put(">");
    }

    void nested(Generics generics) {
        const char space = next();
        path(generics);
        const std::uint64_t number = tagged('s');
        const std::string name = identifier();
        if (space >= 'A' && space <= 'Z') {
            put("::{");
            put(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string(1, space));
            if (!name.empty()) put(cat(':', name));
            return put(cat('#', number, '}'));
        }
        if (space < 'a' || space > 'z') fail();
        if (!name.empty()) put(cat("::", name));
    }

    // Items up to an 'E'; returns how many.
    template <class Read>
    std::size_t list(Read read, std::string_view between = ", ") {
        std::size_t count = 0;
        for (; !accept('E'); ++count) {
            if (count != 0) put(between);
            read();
        }
        return count;
    }

    void argument() {
        if (accept('L')) return lifetime(base_62());
        if (accept('K')) return constant();
        type();
    }

    // 0 is '_, the others count from the innermost binder outwards.
    void lifetime(std::uint64_t index) {
        if (index == 0) return put("'_");
        if (index > lifetimes_) fail();
        constexpr std::uint64_t kLetters = 26;
        const std::uint64_t number = lifetimes_ - index;
        put(number < kLetters ? cat('\'', static_cast<char>('a' + number)) : cat("'_", number));
    }

    // The lifetimes that a "for<'a, 'b>" binds are known within what `read` reads.
    template <class Read>
    void bound(Read read) {
        const std::uint64_t count = tagged('G');
        if (count > kMostText) fail();
        for (std::uint64_t i = 0; i < count; ++i) {
            put(i == 0 ? "for<" : ", ");
            ++lifetimes_;
            lifetime(1);
        }
        if (count != 0) put("> ");
        read();
        lifetimes_ -= count;
    }

    void type() {
        const Level level(*this);
        const std::size_t tag_at = at_;
        const char tag = next();
        if (const std::string_view basic = basic_type(tag); !basic.empty()) return put(basic);
        switch (tag) {
            case 'A':
                put("[");
                type();
                put("; ");
                constant();
                return put("]");
            case 'S':
                put("[");
                type();
                return put("]");
            case 'T':
                put("(");
                if (list([this] { type(); }) == 1) put(",");
                return put(")");
            case 'R':
            case 'Q':
                put("&");
                if (accept('L'))
                    if (const std::uint64_t index = base_62(); index != 0) {
                        lifetime(index);
                        put(" ");
                    }
                if (tag == 'Q') put("mut ");
                return type();
            case 'P':
            case 'O':
                put(tag == 'P' ? "*const " : "*mut ");
                return type();
            case 'F':
                return bound([this] { signature(); });
            case 'D':
                put("dyn ");
                bound([this] { list([this] { trait(); }, " + "); });
                if (!accept('L')) fail();
                if (const std::uint64_t index = base_62(); index != 0) {
                    put(" + ");
                    lifetime(index);
                }
                return;
            case 'B':
                return back(tag_at, [this] { type(); });
            default:
                at_ = tag_at;
                return path(Generics::in_type);
        }
    }

    void signature() {
        if (accept('U')) put("unsafe ");
        if (accept('K')) {
            std::string abi = accept('C') ? "C" : identifier();
            for (char& c : abi)
                if (c == '_') c = '-';
            put(cat("extern \"", abi, "\" "));
        }
        put("fn(");
        list([this] { type(); });
        put(")");
        if (accept('u')) return;  // returns ()
        put(" -> ");
        type();
    }

    // "Iterator<Item = u8>": what is bound belongs into the brackets of the path.
    void trait() {
        const std::size_t begin = text_.size();
        path(Generics::in_type);
        bool is_open = false;
        while (accept('p')) {
            if (!is_open && text_.size() > begin && text_.back() == '>') {
                text_.pop_back();
                put(", ");
            } else {
                put(is_open ? ", " : "<");
            }
            is_open = true;
            put(identifier());
            put(" = ");
            type();
        }
        if (is_open) put(">");
    }

    void constant() {
        const Level level(*this);
        const std::size_t tag_at = at_;
        const char tag = next();
        if (tag == 'p') return put("_");
        if (tag == 'B') return back(tag_at, [this] { constant(); });
        constexpr std::string_view kNumbers = "ahxyslitjmno";
        const bool is_number = kNumbers.find(tag) != kNumbers.npos;
        if (!is_number && tag != 'b' && tag != 'c') fail();
        const bool is_negative = accept('n');
        const std::size_t begin = at_;
        while (is_hex_digit(peek())) ++at_;
        const std::string_view digits = symbol_.substr(begin, at_ - begin);
        if (next() != '_') fail();
        std::uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        const bool fits = digits.empty() || error == std::errc();
        if (tag == 'b') return put(value != 0 ? "true" : "false");
        if (is_negative) put("-");
        if (tag == 'c' && value >= ' ' && value < 0x7f)
            return put(cat('\'', static_cast<char>(value), '\''));
        if (tag == 'c') return put(cat("'\\u{", digits, "}'"));
        put(fits ? cat(value) : cat("0x", digits));
    }

    std::string_view symbol_;
    std::size_t at_ = 0;
    std::string text_;
    int depth_ = 0;
    std::uint64_t lifetimes_ = 0;
    bool is_silent_ = false;
};

}  // namespace

std::optional<std::string> rust_name(std::string_view symbol) {
    constexpr std::string_view kBegin = "_R";
    if (!symbol.starts_with(kBegin)) return std::nullopt;
    try {
        return RustName(symbol.substr(kBegin.size())).read();
    } catch (const NoRustName&) {
        return std::nullopt;
    }
}

}  // namespace gpufs
