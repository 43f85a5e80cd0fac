#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lang/trace_dat/header.h"

namespace gpufs::trace_dat {

// Functions that append to the bytes of a trace.dat, in this machine's byte order.

template <class Number>
void put(std::string& out, Number n) {
    char bytes[sizeof n];
    std::memcpy(bytes, &n, sizeof n);
    out.append(bytes, sizeof n);
}

// Appends the word and a NUL.
inline void put_word(std::string& out, std::string_view word) {
    out += word;
    out += '\0';
}

inline void put_option(std::string& out, Option id, std::string_view data) {
    put(out, static_cast<std::uint16_t>(id));
    put(out, static_cast<std::uint32_t>(data.size()));
    out += data;
}

}  // namespace gpufs::trace_dat
