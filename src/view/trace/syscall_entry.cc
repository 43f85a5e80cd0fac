#include "view/trace/syscall_entry.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/cat.h"
#include "lang/print_fmt/kernel_printf.h"
#include "view/trace/record_bytes.h"

namespace gpufs {
namespace {

constexpr std::string_view kEnter = "sys_enter_";

// How openat's print fmt begins, and how the kernel prints it.
constexpr std::string_view kOpenFormat =
    R"("dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: %s%s, mode: 0%03o")";
constexpr std::string_view kOpenText = R"("dfd: %lu, filename: %lu \"%s\", flags: %s%s)";
constexpr std::string_view kOpenMode = R"(, mode: 0%03o)";
// The list of the flags' names in it.
constexpr std::string_view kOpenFlags = R"(__print_flags(REC->flags, "|", )";
// What makes O_TMPFILE of O_DIRECTORY (asm-generic/fcntl.h).
constexpr std::uint64_t kTemporary = 0x400000;

bool is_printable(std::byte byte) {
    return byte >= std::byte{' '} && byte <= std::byte{'~'};
}

// The number in front of the name in `{ 0x40, "O_CREAT" }`.
std::optional<std::uint64_t> value_of(std::string_view names, std::string_view name) {
    const auto end = names.find(cat(", \"", name, '"'));
    const auto begin = end == names.npos ? end : names.rfind("0x", end);
    if (begin == names.npos) return std::nullopt;
    std::uint64_t value = 0;
    const auto [at, error] =
        std::from_chars(names.data() + begin + 2, names.data() + end, value, 16);
    if (error != std::errc{} || at != names.data() + end) return std::nullopt;
    return value;
}

}  // namespace

// The kernel's text differs from the print fmt: it has O_TMPFILE, takes the flags for an int and
// leaves the mode out where nothing is made.
std::optional<SyscallEntryText::Open> SyscallEntryText::find_open(const EventFormat& format) {
    std::string text = format.print_format;
    const Field* const flags = format.find("flags");
    const auto list = text.find(kOpenFlags);
    const auto create = value_of(text, "O_CREAT"), directory = value_of(text, "O_DIRECTORY");
    if (!flags || !text.starts_with(kOpenFormat) || list == text.npos || !create || !directory)
        return std::nullopt;
    const std::uint64_t temporary = kTemporary | *directory;
    std::string name = "{ ";
    append_number(name, temporary, {.base = 16, .special = true});
    text.insert(list + kOpenFlags.size(), name + ", \"O_TMPFILE\" }, ");
    constexpr std::string_view kFlags = "REC->flags", kInt = "((int)(REC->flags))";
    for (auto at = text.find(kFlags); at != text.npos; at = text.find(kFlags, at + kInt.size()))
        text.replace(at, kFlags.size(), kInt);
    const auto printed_as = [&](std::string_view mode) {
        EventFormat changed = format;
        changed.print_format = text;
        changed.print_format.replace(0, kOpenFormat.size(), cat(kOpenText, mode, '"'));
        return PrintFormat(changed);
    };
    return Open{printed_as(kOpenMode), printed_as(""), flags, *create | temporary};
}

SyscallEntryText::SyscallEntryText(const EventFormat& format)
    : name_(cat("sys_", std::string_view(format.name).substr(kEnter.size()))),
      open_(find_open(format)) {
    for (const Field& f : format.fields) {
        if (f.is_common || f.is_dynamic() || f.name == "__syscall_nr") continue;
        const std::string target = cat("__", f.name, "_val");
        const bool is_bytes = format.print_format.find(
                                  cat("__print_dynamic_array(", target, ',')) != std::string::npos;
        arguments_.push_back({&f, format.find(target), !is_bytes});
    }
}

void SyscallEntryText::print(RecordBytes record, bool prefix, std::string& out) const {
    out += name_;
    out += '(';
    if (open_) {
        const bool makes = (integer_of(*open_->flags, record) & open_->creates) != 0;
        (makes ? open_->with_mode : open_->without_mode).print(record, {}, out);
    } else {
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            const std::uint64_t value = integer_of(*arguments_[i].field, record);
            if (i) out += ", ";
            out += arguments_[i].field->name;
            out += prefix && value >= 10 ? ": 0x" : ": ";
            append_number(out, value, {.base = 16});
            if (arguments_[i].target) print_target(i, record, out);
        }
    }
    out += ')';
}

// "..." where there was more than the record has.
void SyscallEntryText::print_target(std::size_t argument, RecordBytes record,
                                    std::string& out) const {
    const RecordBytes target = bytes_of(*arguments_[argument].target, record);
    if (arguments_[argument].is_text) {
        out += " \"";
        out += up_to_nul(target);
        out += '"';
        return;
    }
    const bool is_counted = argument + 1 < arguments_.size();
    const auto count = is_counted ? integer_of(*arguments_[argument + 1].field, record) : 0;
    // The kernel compares them as int.
    const bool is_cut = static_cast<std::int64_t>(target.size()) < static_cast<std::int32_t>(count);
    out += " (";
    append_hex_bytes(out, target, ':');
    out += is_cut ? ", ...)" : ")";
    if (std::ranges::none_of(target, is_printable)) return;
    out += " \"";
    for (const std::byte byte : target)
        out += is_printable(byte) ? std::to_integer<char>(byte) : '.';
    out += is_cut ? "\"..." : "\"";
}

}  // namespace gpufs
