#pragma once

#include <string>
#include <string_view>

#include "base/symbol.h"
#include "lang/event/field_value.h"

namespace gpufs {

// A trace_printk() record: the format string, and its arguments packed as the kernel's vbin_printf
// packs them. Arguments that are cut off print as 0 and as empty strings.
void append_binary_printf(std::string& out, std::string_view format, RecordBytes arguments,
                          const AddressNames& names);

}  // namespace gpufs
