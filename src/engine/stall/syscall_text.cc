#include "engine/stall/syscall_text.h"

#include <algorithm>

#include "base/cat.h"
#include "base/hex.h"
#include "kernel/host/syscall_names.h"

namespace gpufs {
namespace {

constexpr std::string_view kDescriptors[] = {"fd",   "epfd",  "fildes", "ufd",    "mqdes", "fd_in",
                                             "fdin", "in_fd", "dfd",    "sockfd", "pidfd"};
// Their values are sets of bits or codes, not numbers.
constexpr std::string_view kBits[] = {"flags",   "flag", "mode",       "cmd",
                                      "request", "prot", "clone_flags"};

// The arguments of an event sys_enter_NAME: what stands behind __syscall_nr. Newer kernels add the
// text that an argument points to, as dynamic fields behind them.
std::vector<const Field*> arguments_of(const EventFormat& format) {
    std::vector<const Field*> fields;
    for (const Field& field : format.fields)
        if (!field.is_common && field.name != "__syscall_nr" && field.name != "nr" &&
            !field.is_dynamic())
            fields.push_back(&field);
    return fields;
}

// A register holds more than the argument's type does: what is above is left over from somebody.
std::string value_text(const Field& field, std::uint64_t value) {
    const bool is_pointer = field.is_pointer || field.type.find('*') != field.type.npos;
    if (is_pointer) return value == 0 ? "NULL" : hex(value);
    const bool is_int = field.type == "int" || field.type == "pid_t" ||
                        field.type == "unsigned int" || field.type == "clockid_t" ||
                        field.type == "key_t" || field.type == "umode_t" || field.type == "mqd_t" ||
                        field.type == "u32";
    if (std::ranges::count(kBits, field.name) > 0) return hex(is_int ? value & 0xffffffff : value);
    if (is_int) {
        const bool is_fd = std::ranges::count(kDescriptors, field.name) > 0;
        if (field.type.starts_with('u') && !is_fd) return cat(value & 0xffffffff);
        const auto n = static_cast<std::int32_t>(value);
        return is_fd && n == -100 ? "AT_FDCWD" : cat(n);
    }
    // Addresses and handles come as unsigned long, too.
    constexpr std::uint64_t kLooksLikeACount = std::uint64_t{1} << 32;
    if (value < kLooksLikeACount) return cat(value);
    const auto n = static_cast<std::int64_t>(value);
    return n < 0 && n > -4096 ? cat(n) : hex(value);
}

}  // namespace

std::string SyscallText::name(long nr) const {
    const std::string_view known = syscall_name(nr);
    return known.empty() ? cat("syscall ", nr) : std::string(known);
}

const EventFormat* SyscallText::format(long nr) {
    const std::string_view known = syscall_name(nr);
    if (known.empty()) return nullptr;
    // The event is named for the kernel's function, which for some is another.
    for (const std::string_view prefix : {"sys_enter_", "sys_enter_new"})
        if (const TraceEvent* event = events_.find(cat("syscalls:", prefix, known)))
            return &event->format;
    return nullptr;
}

std::string SyscallText::arguments(const SyscallRef& call) {
    const EventFormat* known = format(call.nr);
    std::string text;
    if (!known) {
        for (const std::uint64_t arg : call.args) text += cat(text.empty() ? "" : ", ", hex(arg));
        return text;
    }
    const auto fields = arguments_of(*known);
    for (std::size_t i = 0; i < std::min(fields.size(), call.args.size()); ++i)
        text += cat(text.empty() ? "" : ", ", fields[i]->name, "=",
                    value_text(*fields[i], call.args[i]));
    return text;
}

std::optional<int> SyscallText::descriptor(const SyscallRef& call) {
    const EventFormat* known = format(call.nr);
    if (!known) return std::nullopt;
    const auto fields = arguments_of(*known);
    for (std::size_t i = 0; i < std::min(fields.size(), call.args.size()); ++i) {
        if (std::ranges::count(kDescriptors, fields[i]->name) == 0) continue;
        const auto fd = static_cast<std::int32_t>(call.args[i]);
        return fd >= 0 ? std::optional(fd) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace gpufs
