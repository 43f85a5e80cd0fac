#include "view/bt/time_text.h"

#include <ctime>

#include "base/bytes.h"
#include "base/cat.h"

namespace gpufs::bt {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Puts the number in the place of each %f.
std::string with_fractions(std::string_view format, std::uint64_t ns) {
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const std::string_view two = format.substr(i, 2);
        if (two == "%f")
            out += fraction_text(ns, 6);
        else
            out += format[i] == '%' ? two : two.substr(0, 1);
        if (format[i] == '%') ++i;
    }
    return out;
}

}  // namespace

std::string fraction_text(std::uint64_t ns, std::size_t digits) {
    return cat(kSecond + ns % kSecond).substr(1, digits);
}

std::string time_text(std::string_view format, std::uint64_t wall_ns) {
    const auto second = static_cast<std::time_t>(wall_ns / kSecond);
    std::tm local{};
    ::localtime_r(&second, &local);
    // A text that is empty and one that does not fit both have the length 0: this one is never
    // empty.
    const std::string pattern = with_fractions(up_to_nul(format), wall_ns) + ' ';
    std::string out(pattern.size() + 64, '\0');
    std::size_t length = 0;
    while ((length = ::strftime(out.data(), out.size(), pattern.c_str(), &local)) == 0)
        out.resize(out.size() * 2);
    out.resize(length - 1);
    return out;
}

}  // namespace gpufs::bt
