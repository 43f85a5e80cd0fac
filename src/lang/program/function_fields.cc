#include "lang/program/function_fields.h"

#include <span>

#include "base/cat.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

struct NamedRegister {
    const char* name;
    std::size_t offset;
};

// Offsets in struct pt_regs of the kernel's uapi headers (arch/*/include/uapi/asm/ptrace.h).
#if defined __x86_64__
constexpr std::size_t kArguments[] = {112, 104, 96, 88, 72, 64};  // rdi rsi rdx rcx r8 r9
constexpr std::size_t kResult[] = {80};                           // rax
constexpr NamedRegister kOthers[] = {{"ip", 128}, {"sp", 152}};
constexpr std::span<const NamedRegister> kOthersAtEntry;
#elif defined __aarch64__
constexpr std::size_t kArguments[] = {0, 8, 16, 24, 32, 40};  // x0 to x5
constexpr std::size_t kResult[] = {0};
constexpr NamedRegister kOthers[] = {{"ip", 256}, {"sp", 248}};
constexpr NamedRegister kOthersAtEntry[] = {{"arg6", 48}, {"arg7", 56}, {"lr", 240}};
#else
constexpr std::span<const std::size_t> kArguments, kResult;
constexpr std::span<const NamedRegister> kOthers, kOthersAtEntry;
#endif

void add_register(std::vector<Field>& fields, std::string name, std::size_t offset,
                  bool is_signed) {
    Field field;
    field.name = std::move(name);
    field.type = is_signed ? "s64" : "u64";
    field.offset = offset;
    field.size = field.element_size = sizeof(std::uint64_t);
    field.is_signed = is_signed;
    fields.push_back(std::move(field));
}

}  // namespace

std::vector<Field> function_fields(ProbeTarget::Kind kind) {
    std::vector<Field> fields;
    const ProbeKind& row = probe_kind(kind);
    if (!row.has_registers) return fields;
    if (!row.at_return)
        for (std::size_t i = 0; i < std::size(kArguments); ++i)
            add_register(fields, cat("arg", i), kArguments[i], false);
    if (row.at_return)
        for (const std::size_t offset : kResult) add_register(fields, "retval", offset, true);
    return fields;
}

namespace {

EventFormat make_registers(ProbeTarget::Kind kind) {
    EventFormat format;
    format.name = probe_kind(kind).name;
    format.fields = function_fields(kind);
    if (!probe_kind(kind).has_registers) return format;
    for (const NamedRegister& one : kOthers)
        add_register(format.fields, one.name, one.offset, false);
    if (!probe_kind(kind).at_return)
        for (const NamedRegister& one : kOthersAtEntry)
            add_register(format.fields, one.name, one.offset, false);
    return format;
}

}  // namespace

const EventFormat& function_registers(ProbeTarget::Kind kind) {
    static const std::vector<EventFormat> formats = [] {
        std::vector<EventFormat> all;
        for (const ProbeKind& row : kProbeKinds) all.push_back(make_registers(row.kind));
        return all;
    }();
    return formats[static_cast<std::size_t>(kind)];
}

}  // namespace gpufs
