#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace gpufs {

// The "name=value" in the text of an event, in order. A value reaches up to the next name, as the
// names of tasks may have spaces in them, without what ends a value ("," "]" ")").
void for_each_pair(std::string_view text,
                   const std::function<void(std::string_view name, std::string_view value)>& take);

// A value as a number, as far as its first word is one: "120", "-5", "0x1f".
struct TextNumber {
    bool is_negative = false, is_hex = false;
    unsigned long long magnitude = 0;
};
std::optional<TextNumber> number_of(std::string_view value);

}  // namespace gpufs
