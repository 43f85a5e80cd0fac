#include "lang/program/function_fields.h"

#include <iterator>
#include <span>
#include <string_view>

#include "base/cat.h"
#include "lang/program/probe_kinds.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

// A name here, and the register's own.
struct NamedRegister {
    std::string_view name, in;
};

// Of the C calling conventions.
#if defined __x86_64__
constexpr std::string_view kArguments[] = {"di", "si", "dx", "cx", "r8", "r9"};
constexpr std::string_view kResult = "ax";
constexpr std::span<const NamedRegister> kOthersAtEntry;
#else
constexpr std::string_view kArguments[] = {"x0", "x1", "x2", "x3", "x4", "x5"};
constexpr std::string_view kResult = "x0";
constexpr NamedRegister kOthersAtEntry[] = {{"arg6", "x6"}, {"arg7", "x7"}, {"lr", "lr"}};
#endif
constexpr NamedRegister kOthers[] = {{"ip", "ip"}, {"sp", "sp"}};

// Adds nothing on an architecture whose registers are not known.
void add_register(std::vector<Field>& fields, std::string name, std::string_view in,
                  bool is_signed) {
    const auto offset = register_offset(in);
    if (!offset) return;
    Field field;
    field.name = std::move(name);
    field.type = is_signed ? "s64" : "u64";
    field.offset = *offset;
    field.size = field.element_size = sizeof(std::uint64_t);
    field.is_signed = is_signed;
    fields.push_back(std::move(field));
}

}  // namespace

std::vector<Field> function_fields(ProbeTarget::Kind kind) {
    std::vector<Field> fields;
    const ProbeKind& row = probe_kind(kind);
    if (!row.has_registers || !row.is_at_function()) return fields;
    if (row.at_return) {
        add_register(fields, std::string(kResultField), kResult, true);
        return fields;
    }
    for (std::size_t i = 0; i < std::size(kArguments); ++i)
        add_register(fields, cat("arg", i), kArguments[i], false);
    return fields;
}

namespace {

EventFormat make_registers(ProbeTarget::Kind kind) {
    EventFormat format;
    format.name = probe_kind(kind).name;
    format.fields = function_fields(kind);
    if (!probe_kind(kind).has_registers) return format;
    for (const NamedRegister& one : kOthers)
        add_register(format.fields, std::string(one.name), one.in, false);
    if (probe_kind(kind).is_at_function() && !probe_kind(kind).at_return)
        for (const NamedRegister& one : kOthersAtEntry)
            add_register(format.fields, std::string(one.name), one.in, false);
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
