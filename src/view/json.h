#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    // null where there is no value.
    template <std::integral T>
    JsonObject& number_or_null(std::string_view key, const std::optional<T>& value) {
        return value ? number(key, *value) : null(key);
    }
    JsonObject& boolean(std::string_view key, bool value) {
        return raw(key, value ? "true" : "false");
    }
    JsonObject& null(std::string_view key) { return raw(key, "null"); }
    JsonObject& text_or_null(std::string_view key, std::string_view value) {
        return value.empty() ? null(key) : text(key, value);
    }
    // `json` is a complete JSON value.
    JsonObject& raw(std::string_view key, std::string_view json);

    std::string done() const { return body_.empty() ? "{}" : body_ + '}'; }

private:
    std::string body_;
};

// An array of texts; null where there is none, which is how a stack is told that is not there.
std::string json_texts_or_null(const std::vector<std::string>& texts);

// Builds a JSON array of complete values.
class JsonArray {
public:
    JsonArray& add(std::string_view json);
    JsonArray& add_text(std::string_view value) { return add(json_quote(value)); }
    template <std::integral T>
    JsonArray& add_number(T value) {
        return add(cat(value));
    }
    std::string done() const { return body_.empty() ? "[]" : body_ + ']'; }

private:
    std::string body_;
};

}  // namespace gpufs
