#include "lang/program/function_fields.h"

#include <span>

#include "base/cat.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

// Offsets in struct pt_regs of the kernel's uapi headers (arch/*/include/uapi/asm/ptrace.h).
#if defined __x86_64__
constexpr std::size_t kArguments[] = {112, 104, 96, 88, 72, 64};  // rdi rsi rdx rcx r8 r9
constexpr std::size_t kResult[] = {80};                           // rax
#elif defined __aarch64__
constexpr std::size_t kArguments[] = {0, 8, 16, 24, 32, 40};  // x0 to x5
constexpr std::size_t kResult[] = {0};
#else
constexpr std::span<const std::size_t> kArguments, kResult;
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

}  // namespace gpufs
