#include "gpufs/view/value_text.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "gpufs/view/json.h"
#include "gpufs/view/name_text.h"

namespace gpufs {
namespace {

using Kind = ValueType::Kind;

std::uint64_t unsigned_of(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

std::int64_t signed_of(std::span<const std::byte> bytes) {
    const std::uint64_t value = unsigned_of(bytes);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 8));
    return static_cast<std::int64_t>(value << unused) >> unused;
}

std::string number_text(const ValueType& type, std::span<const std::byte> bytes) {
    const bool is_signed =
        type.is_signed || type.kind == Kind::kernel_stack || type.kind == Kind::user_stack;
    return is_signed ? cat(signed_of(bytes)) : cat(unsigned_of(bytes));
}

std::string hex_text(std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
    return digits;
}

std::string bytes_text(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte b : bytes) {
        char two[4];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(b));
        text += two;
    }
    return text;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    const auto end = std::ranges::find(bytes, std::byte{0});
    return {reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::size_t>(end - bytes.begin())};
}

// The word that an integer stands for.
std::optional<std::string> word_of(const ValueType& type, std::span<const std::byte> bytes) {
    const std::int64_t number =
        type.is_signed ? signed_of(bytes) : static_cast<std::int64_t>(unsigned_of(bytes));
    const auto word = std::ranges::find(type.words, number, &EnumWords::value_type::first);
    if (word == type.words.end()) return std::nullopt;
    return word->second;
}

// What users call the thing that is meant.
std::string name_text(Kind kind, std::span<const std::byte> bytes) {
    switch (kind) {
        case Kind::syscall:
            return syscall_text(signed_of(bytes));
        case Kind::error:
            return error_text(signed_of(bytes));
        case Kind::signal:
            return signal_text(signed_of(bytes));
        case Kind::device:
            return device_text(static_cast<std::uint32_t>(unsigned_of(bytes)));
        default:
            return ip_text(bytes);
    }
}

std::string value_json(const ValueType& type, std::span<const std::byte> bytes) {
    switch (type.kind) {
        case Kind::text:
            return json_quote(text_of(bytes));
        case Kind::raw_bytes:
            return json_quote(bytes_text(bytes));
        case Kind::kernel_address:
        case Kind::user_address:
            return json_quote(hex_text(unsigned_of(bytes)));
        case Kind::integer:
        case Kind::kernel_stack:
        case Kind::user_stack:
        case Kind::time:
        case Kind::process:
            break;
        case Kind::syscall:
        case Kind::error:
        case Kind::signal:
        case Kind::device:
        case Kind::ip_address:
            return json_quote(name_text(type.kind, bytes));
    }
    if (const auto word = word_of(type, bytes)) return json_quote(*word);
    return number_text(type, bytes);
}

std::string value_text(const ValueType& type, std::span<const std::byte> bytes) {
    switch (type.kind) {
        case Kind::raw_bytes:
            return bytes_text(bytes);
        case Kind::kernel_address:
        case Kind::user_address:
            return hex_text(unsigned_of(bytes));
        case Kind::syscall:
        case Kind::error:
        case Kind::signal:
        case Kind::device:
        case Kind::ip_address:
            return name_text(type.kind, bytes);
        default:
            return word_of(type, bytes).value_or(value_json(type, bytes));
    }
}

template <class Visit>
void for_each_member(const Layout& layout, std::span<const std::byte> bytes, std::string_view skip,
                     Visit&& visit) {
    for (const Member& member : layout.members)
        if ((skip.empty() || member.name != skip) &&
            member.offset + member.type.bytes <= bytes.size())
            visit(member, bytes.subspan(member.offset, member.type.bytes));
}

}  // namespace

std::string values_text(const Layout& layout, std::span<const std::byte> bytes,
                        std::string_view skip) {
    std::string text;
    for_each_member(layout, bytes, skip, [&](const Member& member, auto value) {
        const bool is_lone = layout.members.size() == 1;
        text += cat(text.empty() ? "" : " ", is_lone ? "" : member.name, is_lone ? "" : "=",
                    value_text(member.type, value));
    });
    return text;
}

std::string values_json(const Layout& layout, std::span<const std::byte> bytes,
                        std::string_view skip) {
    JsonObject object;
    for_each_member(layout, bytes, skip, [&](const Member& member, auto value) {
        object.raw(member.name.empty() ? "value" : std::string_view(member.name),
                   value_json(member.type, value));
    });
    return object.done();
}

}  // namespace gpufs
