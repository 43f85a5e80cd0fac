#include "lang/event/syscall_arguments.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/cat.h"
#include "base/hex.h"

namespace gpufs {
namespace {

using Kind = SyscallArgument;

// Their values are sets of bits or codes, not numbers.
constexpr std::string_view kBits[] = {"mode", "cmd", "request", "prot"};
constexpr std::string_view kFlags[] = {"flag", "flg"};  // parts of names
constexpr std::string_view kInts[] = {"int",   "pid_t", "uid_t",        "gid_t", "clockid_t",
                                      "key_t", "mqd_t", "key_serial_t", "rwf_t", "__s32"};
constexpr std::string_view kUnsignedInts[] = {"unsigned int", "unsigned", "u32", "__u32"};
// Parts of the names of lengths, of texts, and of what a call fills.
constexpr std::string_view kLengths[] = {"len", "siz", "count"};
constexpr std::string_view kTexts[] = {"name", "path", "type"};
constexpr std::string_view kBuffers[] = {"buf", "list", "msg"};

bool is_among(std::span<const std::string_view> words, std::string_view word) {
    return std::ranges::count(words, word) > 0;
}

bool has_one_of(std::span<const std::string_view> parts, std::string_view name) {
    return std::ranges::any_of(parts,
                               [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool is_pointer(const Field& field) {
    return field.is_pointer || field.type.find('*') != field.type.npos;
}

// fd, olddfd, pidfd, fd_in
bool is_descriptor(std::string_view name) {
    return name.starts_with("fd") || name.ends_with("fd") || name == "fildes" || name == "mqdes";
}

// `next`: the argument behind it; null: there is none.
Kind kind_of(const Field& field, const Field* next) {
    std::string_view type = field.type;
    const bool is_const = type.starts_with("const ");
    if (is_const) type.remove_prefix(sizeof "const " - 1);
    if (is_pointer(field)) {
        const bool is_counted = next && !is_pointer(*next) && has_one_of(kLengths, next->name);
        if (is_const && is_counted && type == "void *") return Kind::bytes;
        if (type != "char *") return Kind::pointer;
        const bool is_named_text = has_one_of(kTexts, field.name);
        if (is_counted && is_const != is_named_text) return Kind::bytes;
        if (is_const || is_named_text) return Kind::text;
        return is_counted && has_one_of(kBuffers, field.name) ? Kind::filled : Kind::pointer;
    }
    if (type == "umode_t") return Kind::mode;
    if (is_descriptor(field.name)) return Kind::descriptor;  // mmap's is an unsigned long
    const bool is_unsigned = is_among(kUnsignedInts, type);
    const bool is_int = is_unsigned || is_among(kInts, type);
    if (is_among(kBits, field.name) || has_one_of(kFlags, field.name))
        return is_int ? Kind::bits : Kind::wide_bits;
    return is_unsigned ? Kind::unsigned_number : is_int ? Kind::number : Kind::wide;
}

}  // namespace

std::vector<const Field*> syscall_arguments(const EventFormat& format) {
    std::vector<const Field*> fields;
    for (const Field& field : format.fields)
        if (!field.is_common && field.name != "__syscall_nr" && field.name != "nr" &&
            !field.is_dynamic() && fields.size() < SyscallSignature::kMost)
            fields.push_back(&field);
    return fields;
}

SyscallSignature syscall_signature(const EventFormat& format) {
    SyscallSignature made;
    const auto fields = syscall_arguments(format);
    std::size_t texts = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        made.kinds[i] = kind_of(*fields[i], i + 1 < fields.size() ? fields[i + 1] : nullptr);
        if (made.kinds[i] >= Kind::text && texts < made.texts.size())
            made.texts[texts++] = static_cast<std::uint8_t>(i);
    }
    return made;
}

SyscallSignature unknown_signature() {
    SyscallSignature made;
    made.kinds.fill(Kind::wide_bits);
    return made;
}

bool is_negative_argument(SyscallArgument kind, std::uint64_t value) {
    if (kind == Kind::number || kind == Kind::descriptor)
        return static_cast<std::int32_t>(value) < 0;
    const auto n = static_cast<std::int64_t>(value);
    return kind == Kind::wide && n < 0 && n > -4096;
}

std::uint64_t syscall_argument_value(SyscallArgument kind, std::uint64_t value) {
    switch (kind) {
        case Kind::number:
        case Kind::descriptor:
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)});
        case Kind::unsigned_number:
        case Kind::bits:
            return static_cast<std::uint32_t>(value);
        case Kind::mode:
            return static_cast<std::uint16_t>(value);
        default:
            return value;
    }
}

std::string syscall_argument_text(SyscallArgument kind, std::uint64_t value) {
    constexpr std::int64_t kAtFdcwd = -100;
    // Addresses and handles come as unsigned long, too.
    constexpr std::uint64_t kLooksLikeACount = std::uint64_t{1} << 32;
    const std::uint64_t own = syscall_argument_value(kind, value);
    const auto n = static_cast<std::int64_t>(own);
    if (kind == Kind::descriptor && n == kAtFdcwd) return "AT_FDCWD";
    if (is_negative_argument(kind, value)) return cat(n);
    if (kind >= Kind::pointer) return own == 0 ? "NULL" : hex(own);
    if (own == 0) return "0";
    if (kind == Kind::mode) {
        std::string digits;
        for (std::uint64_t rest = own; rest != 0; rest >>= 3)
            digits.insert(digits.begin(), static_cast<char>('0' + (rest & 7)));
        return '0' + digits;
    }
    const bool is_hex = kind == Kind::bits || kind == Kind::wide_bits ||
                        (kind == Kind::wide && own >= kLooksLikeACount);
    return is_hex ? hex(own) : cat(own);
}

}  // namespace gpufs
