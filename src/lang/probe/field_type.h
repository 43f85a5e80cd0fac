#pragma once

#include <optional>
#include <string_view>

#include "base/source.h"
#include "lang/event/event_format.h"
#include "lang/ir/ir.h"

namespace gpufs {

// The field that an argument of this type becomes in records: "u32", "x64", "string", "b4@4/32" (a
// bit field), "u8[16]"; the types of kernel/trace/trace_probe.c. Its name is empty, its offset
// means nothing. Throws SourceError, located at `at`, for a type that no kernel has.
Field field_of_type(std::string_view type, const SourceText& source, Span at);

// A number's: "s32", "x64"; absent for other types.
std::optional<ir::Type> find_number_type(std::string_view type);

// The types that take only what a fetch reads from memory, or $comm: string, ustring, symstr.
bool is_text_type(std::string_view type);

}  // namespace gpufs
