#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/cat.h"

namespace gpufs {

// The text as a JSON string with its quotes. Bytes that are not UTF-8 (a comm may contain any)
// become U+FFFD, so that the output is always valid JSON.
std::string json_quote(std::string_view text);
// The same, appended.
void append_json_quoted(std::string& out, std::string_view text);

// Builds a JSON object; keys keep the order of the calls.
class JsonObject {
public:
    JsonObject& text(std::string_view key, std::string_view value) {
        return raw(key, json_quote(value));
    }
    template <std::integral T>
    JsonObject& number(std::string_view key, T value) {
        return raw(key, cat(value));
    }
    JsonObject& boolean(std::string_view key, bool value) {
        return raw(key, value ? "true" : "false");
    }
    // `json` is a complete JSON value.
    JsonObject& raw(std::string_view key, std::string_view json);

    std::string done() const { return body_.empty() ? "{}" : body_ + '}'; }

private:
    std::string body_;
};

// Builds a JSON array of complete values.
class JsonArray {
public:
    JsonArray& add(std::string_view json);
    JsonArray& add_text(std::string_view value) { return add(json_quote(value)); }
    std::string done() const { return body_.empty() ? "[]" : body_ + ']'; }

private:
    std::string body_;
};

}  // namespace gpufs
