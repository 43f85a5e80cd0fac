#include "support/json.h"

#include <cctype>
#include <stdexcept>

#include "base/text.h"

namespace gpufs::test {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Json whole() {
        Json value = any();
        if (at_ != text_.size()) fail("more behind it");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("no JSON at " + std::to_string(at_) + ": " + what + " in " +
                                 std::string(text_));
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool accept(std::string_view what) {
        if (text_.substr(at_, what.size()) != what) return false;
        at_ += what.size();
        return true;
    }
    void expect(std::string_view what) {
        if (!accept(what)) fail("expected " + std::string(what));
    }

    // Scripts have a blank behind it, as bpftrace has.
    bool goes_on() {
        if (!accept(",")) return false;
        accept(" ");
        return true;
    }

    Json any() {
        Json value;
        if (peek() == '{') return object();
        if (peek() == '[') return array();
        if (peek() == '"') {
            value.kind = Json::Kind::text;
            value.text = text();
        } else if (const bool is_true = accept("true"); is_true || accept("false")) {
            value.kind = Json::Kind::boolean;
            value.text = is_true ? "true" : "false";
        } else if (!accept("null")) {
            value.kind = Json::Kind::number;
            value.text = digits();
        }
        return value;
    }
    Json object() {
        Json value;
        value.kind = Json::Kind::object;
        expect("{");
        if (accept("}")) return value;
        do {
            const std::string name = text();
            expect(":");
            accept(" ");
            if (!value.members.emplace(name, any()).second) fail("a second " + name);
        } while (goes_on());
        expect("}");
        return value;
    }
    Json array() {
        Json value;
        value.kind = Json::Kind::array;
        expect("[");
        if (accept("]")) return value;
        do value.items.push_back(any());
        while (goes_on());
        expect("]");
        return value;
    }
    std::string digits() {
        const std::size_t start = at_;
        accept("-");
        while (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '.') ++at_;
        if (at_ == start) fail("expected a value");
        return std::string(text_.substr(start, at_ - start));
    }
    std::string text() {
        std::string made;
        expect("\"");
        while (!accept("\"")) {
            if (at_ == text_.size() || static_cast<unsigned char>(peek()) < 0x20) fail("open text");
            if (peek() != '\\') {
                made += text_[at_++];
                continue;
            }
            const char escaped = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
            at_ += escaped == 'u' ? 6 : 2;
            made += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'u' ? '?' : escaped;
        }
        return made;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

long long Json::number() const {
    if (kind != Kind::number) throw std::runtime_error("no number: " + text);
    return std::stoll(text);
}

Json parse_json(std::string_view line) {
    return Parser(line).whole();
}

std::vector<Json> parse_json_lines(std::string_view text) {
    std::vector<Json> values;
    for (const std::string_view line : lines_of(text)) values.push_back(parse_json(line));
    return values;
}

}  // namespace gpufs::test
