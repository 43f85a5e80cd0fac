#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// The strings in the kernel's memory that records point at: printk_formats of the top tracefs
// directory. `text` is called at the first question.
class PrintkFormats {
public:
    explicit PrintkFormats(std::function<std::string()> text) : text_(std::move(text)) {}

    // Borrowed for as long as this lives.
    std::optional<std::string_view> find(std::uint64_t address);

private:
    std::function<std::string()> text_;
    bool is_loaded_ = false;
    std::map<std::uint64_t, std::string> texts_;
};

// Parses the file's text: lines of `0xffffffff8281942f : "text\n"`, C escapes inside.
std::map<std::uint64_t, std::string> parse_printk_formats(std::string_view text);

}  // namespace gpufs
