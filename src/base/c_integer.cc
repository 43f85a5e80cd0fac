#include "base/c_integer.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/text.h"

namespace gpufs {
namespace {

struct NamedInteger {
    std::string_view name;
    CInteger type;
};
constexpr NamedInteger kTypedefs[] = {
    {"bool", {1, false, true}}, {"_Bool", {1, false, true}}, {"u8", {1, false}},
    {"s8", {1, true}},          {"u16", {2, false}},         {"s16", {2, true}},
    {"u32", {4, false}},        {"s32", {4, true}},          {"u64", {8, false}},
    {"s64", {8, true}},         {"uint8_t", {1, false}},     {"int8_t", {1, true}},
    {"uint16_t", {2, false}},   {"int16_t", {2, true}},      {"uint32_t", {4, false}},
    {"int32_t", {4, true}},     {"uint64_t", {8, false}},    {"int64_t", {8, true}},
    {"uint", {4, false}},       {"ulong", {8, false}},       {"ushort", {2, false}},
    {"size_t", {8, false}},     {"ssize_t", {8, true}},      {"uintptr_t", {8, false}},
    {"loff_t", {8, true}},      {"sector_t", {8, false}},    {"blkcnt_t", {8, false}},
    {"dma_addr_t", {8, false}}, {"phys_addr_t", {8, false}}, {"resource_size_t", {8, false}},
    {"pgoff_t", {8, false}},    {"ino_t", {8, false}},       {"ktime_t", {8, true}},
    {"time64_t", {8, true}},    {"gfp_t", {4, false}},       {"dev_t", {4, false}},
    {"fmode_t", {4, false}},    {"umode_t", {2, false}},     {"uid_t", {4, false}},
    {"gid_t", {4, false}},      {"pid_t", {4, true}},        {"blk_opf_t", {4, false}},
    {"vm_fault_t", {4, false}}, {"be16", {2, false}},        {"le16", {2, false}},
    {"be32", {4, false}},       {"le32", {4, false}},        {"be64", {8, false}},
    {"le64", {8, false}},       {"sum16", {2, false}},       {"wsum", {4, false}},
    {"off_t", {8, true}},       {"mode_t", {4, false}},      {"time_t", {8, true}},
    {"intptr_t", {8, true}},    {"ptrdiff_t", {8, true}},    {"clockid_t", {4, true}},
    {"key_t", {4, true}},       {"in_addr_t", {4, false}},   {"in_port_t", {2, false}},
    {"socklen_t", {4, false}},  {"sa_family_t", {2, false}},
};

}  // namespace

std::optional<CInteger> find_integer_typedef(std::string_view name) {
    if (name.starts_with("__")) name.remove_prefix(2);
    const auto* const it = std::ranges::find(kTypedefs, name, &NamedInteger::name);
    return it == std::end(kTypedefs) ? std::nullopt : std::optional(it->type);
}

std::optional<CInteger> find_c_integer(std::string_view words) {
    if (const auto named = find_integer_typedef(words)) return named;
    std::optional<bool> is_signed;
    std::uint8_t bytes = 0;
    bool is_int = false, is_char = false;
    for (const std::string& word : split(words, ' ')) {
        if (word == "const" || word == "volatile") continue;
        if (word == "unsigned" || word == "signed") {
            is_signed = word == "signed";
        } else if (word == "long" && (bytes == 0 || bytes == sizeof(long))) {
            bytes = sizeof(long);
        } else if (word == "short" && bytes == 0) {
            bytes = sizeof(short);
        } else if (word == "char" && bytes == 0) {
            bytes = 1;
            is_char = true;
        } else if (word == "int" && !is_int && !is_char) {
            is_int = true;
        } else if (const auto named = find_integer_typedef(word);
                   named && bytes == 0 && !is_signed && !is_int) {
            return named;  // "const u32"
        } else {
            return std::nullopt;
        }
    }
    if (bytes == 0 && !is_int && !is_signed) return std::nullopt;
    // Plain char is signed, as the kernel's and x86's compilers have it.
    return CInteger{bytes ? bytes : std::uint8_t{sizeof(int)}, is_signed.value_or(true), false,
                    is_char && !is_signed};
}

std::vector<std::string> integer_typedef_names() {
    std::vector<std::string> names;
    for (const NamedInteger& one : kTypedefs) names.emplace_back(one.name);
    return names;
}

BitPlace bit_place(std::size_t first_bit, unsigned bits, std::size_t unit_bytes) {
    const std::size_t unit_bits = unit_bytes * 8;
    const auto first = static_cast<unsigned>(first_bit % unit_bits);
    const auto width = static_cast<unsigned>(unit_bits);
    if (first + bits > width) return {first_bit / 8, static_cast<unsigned>(first_bit % 8)};
    return {first_bit / unit_bits * unit_bytes,
            std::endian::native == std::endian::little ? first : width - first - bits};
}

}  // namespace gpufs
