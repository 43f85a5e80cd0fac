#include "view/monitor/syscall_line.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/cat.h"
#include "base/quoted.h"
#include "engine/symbols/number_names.h"
#include "lang/program/syscall_record.h"
#include "view/exact_number.h"
#include "view/json.h"

namespace gpufs {
namespace {

SyscallRecord syscall_record(std::span<const std::byte> bytes) {
    SyscallRecord record;
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
}

std::string name_of(const SyscallRecord& call) {
    if (call.state & SyscallRecord::compat) return syscall_text(call.number | kCompatCall);
    const std::string number = cat(call.number), name = syscall_text(call.number);
    return name == number ? cat("syscall ", number) : name;
}

bool is_error(const SyscallRecord& call) {
    return (call.state & SyscallRecord::returned) && is_error_result(call.result);
}

struct ArgumentText {
    std::string_view text;
    bool is_cut = false;
};
// What an argument points to, if it was read.
std::optional<ArgumentText> text_of(const SyscallRecord& call, std::size_t argument) {
    const auto& texts = call.signature.texts;
    const auto found = std::ranges::find(texts, static_cast<std::uint8_t>(argument));
    if (found == texts.end()) return std::nullopt;
    const auto at = static_cast<std::size_t>(found - texts.begin());
    if (call.text_bytes[at] < 0) return std::nullopt;
    const auto bytes = static_cast<std::size_t>(call.text_bytes[at]);
    constexpr std::size_t kMost = SyscallRecord::kTextBytes;
    return ArgumentText{{call.texts[at], std::min(bytes, kMost)}, bytes > kMost};
}

// Calls visit(i) for each argument that the call has.
template <class Visit>
void for_arguments(const SyscallRecord& call, Visit&& visit) {
    const auto& kinds = call.signature.kinds;
    for (std::size_t i = 0; i < kinds.size() && kinds[i] != SyscallArgument::none; ++i) visit(i);
}

}  // namespace

void append_syscall_line(std::string& out, std::span<const std::byte> record, Controls controls) {
    const SyscallRecord call = syscall_record(record);
    out += name_of(call);
    out += '(';
    for_arguments(call, [&](std::size_t i) {
        if (i != 0) out += ", ";
        const auto text = text_of(call, i);
        if (!text) {
            out += syscall_argument_text(call.signature.kinds[i], call.arguments[i]);
            return;
        }
        // Of data people want to see the begin.
        constexpr std::size_t kShown = 32;
        const bool is_data = call.signature.kinds[i] != SyscallArgument::text;
        const std::string_view shown = text->text.substr(0, is_data ? kShown : text->text.npos);
        append_quoted(out, shown, controls);
        if (text->is_cut || shown.size() < text->text.size()) out += "...";
    });
    out += ") = ";
    if (!(call.state & SyscallRecord::returned))
        out += '?';
    else if (is_error(call))
        out += cat("-1 ", errno_text(call.result));
    else
        out +=
            syscall_argument_text(SyscallArgument::wide, static_cast<std::uint64_t>(call.result));
}

void append_syscall_json(std::string& out, std::span<const std::byte> record, LargeNumbers large) {
    const SyscallRecord call = syscall_record(record);
    const auto number = [&](SyscallArgument kind, std::uint64_t value) {
        std::string text;
        const bool is_negative = is_negative_argument(kind, value);
        const std::uint64_t own = syscall_argument_value(kind, value);
        if (large == LargeNumbers::texts)
            append_exact_json(text, own, is_negative);
        else
            text = is_negative ? cat(static_cast<std::int64_t>(own)) : cat(own);
        return text;
    };
    JsonArray arguments;
    bool is_cut = false;
    for_arguments(call, [&](std::size_t i) {
        const auto text = text_of(call, i);
        if (text)
            arguments.add_text(text->text);
        else
            arguments.add(number(call.signature.kinds[i], call.arguments[i]));
        is_cut = is_cut || (text && text->is_cut);
    });
    JsonObject told;
    told.text("name", name_of(call)).raw("arguments", arguments.done());
    if (is_cut) told.boolean("cut", true);
    if (call.state & SyscallRecord::returned)
        told.raw("result", number(SyscallArgument::wide, static_cast<std::uint64_t>(call.result)));
    else
        told.null("result");
    if (is_error(call)) told.text("error", errno_text(call.result));
    out += told.done();
}

}  // namespace gpufs
