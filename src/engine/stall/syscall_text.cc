#include "engine/stall/syscall_text.h"

#include <algorithm>

#include "base/cat.h"
#include "base/hex.h"
#include "base/quoted.h"
#include "kernel/host/syscall_names.h"
#include "lang/event/syscall_arguments.h"

namespace gpufs {
namespace {

// Whoever prints it takes care of control characters.
std::string quoted(const ProcessText& text) {
    std::string out;
    append_quoted(out, text.text, Controls::raw);
    return text.is_cut ? out + "..." : out;
}

}  // namespace

std::string SyscallText::name(long nr) const {
    const std::string_view known = syscall_name(nr);
    return known.empty() ? cat("syscall ", nr) : std::string(known);
}

const EventFormat* SyscallText::format(long nr) {
    const std::string_view known = syscall_event_name(nr);
    return known.empty() ? nullptr : events_.find_format(cat("syscalls:sys_enter_", known));
}

std::string SyscallText::arguments(const SyscallRef& call, const CallTexts& texts) {
    const EventFormat* known = format(call.nr);
    std::string text;
    if (!known) {
        for (const std::uint64_t arg : call.args) text += cat(text.empty() ? "" : ", ", hex(arg));
        return text;
    }
    const auto fields = syscall_arguments(*known);
    const SyscallSignature signature = syscall_signature(*known);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto own = texts.find(i);
        text += cat(text.empty() ? "" : ", ", fields[i]->name, "=",
                    own == texts.end() ? syscall_argument_text(signature.kinds[i], call.args[i])
                                       : quoted(own->second));
    }
    return text;
}

CallTexts SyscallText::read_texts(int tid, const SyscallRef& call) {
    constexpr std::size_t kMostBytes = 256;
    CallTexts texts;
    const EventFormat* known = format(call.nr);
    if (!known) return texts;
    const SyscallSignature signature = syscall_signature(*known);
    for (std::size_t i = 0; i < call.args.size(); ++i)
        if (signature.kinds[i] == SyscallArgument::text)
            if (auto text = read_process_text(tid, call.args[i], kMostBytes))
                texts.emplace(i, std::move(*text));
    return texts;
}

std::optional<int> SyscallText::descriptor(const SyscallRef& call) {
    const EventFormat* known = format(call.nr);
    if (!known) return std::nullopt;
    const SyscallSignature signature = syscall_signature(*known);
    const auto found = std::ranges::find(signature.kinds, SyscallArgument::descriptor);
    if (found == signature.kinds.end()) return std::nullopt;
    const auto fd = static_cast<std::int32_t>(
        call.args[static_cast<std::size_t>(found - signature.kinds.begin())]);
    return fd >= 0 ? std::optional(fd) : std::nullopt;
}

}  // namespace gpufs
