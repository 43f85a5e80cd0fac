#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// "2", "-1", "0x1f". `magnitude` is at most 2^63 if the number is negative. Absent if the text is
// not a whole number.
struct WholeNumber {
    std::uint64_t magnitude = 0;
    bool is_negative = false;
};
std::optional<WholeNumber> parse_whole_number(std::string_view text);
// A number from 1 on, in decimal. Throws UsageError, which begins with `what`.
unsigned long parse_positive(std::string_view what, std::string_view text);

// Nanoseconds per unit of time (ns us ms s), bytes per unit of size (bytes, pages of this machine);
// 1 if the unit is neither.
std::uint64_t unit_size(std::string_view unit);

// "64M", "4k", "1G", "1048576": bytes; k, M, G are powers of 1024 and may be followed by B. Throws
// UsageError with `what`.
std::uint64_t parse_size(std::string_view what, std::string_view text);
// The shortest exact text of that form: "4M", "1410k".
std::string size_to_text(std::uint64_t bytes);

// "1ms", "30s", "1.5s", "200us", "10m", "1h", "5ns"; a number without unit is seconds. Throws
// UsageError with `what`.
std::chrono::nanoseconds parse_duration(std::string_view what, std::string_view text);

// The shortest exact text of that form: "200ms", "90s", "5m".
std::string duration_to_text(std::chrono::nanoseconds time);

// "0-3,7" -> {0,1,2,3,7}. Throws UsageError with `what`.
std::vector<unsigned> parse_cpu_list(std::string_view what, std::string_view text);
std::string cpu_list_to_text(const std::vector<unsigned>& cpus);
// The kernel's hexadecimal mask, "f,ffffffff", and back.
std::string cpu_mask(const std::vector<unsigned>& cpus);
std::vector<unsigned> parse_cpu_mask(std::string_view mask);

}  // namespace gpufs
