#pragma once

#include <string>
#include <string_view>

#include "base/symbol.h"
#include "lang/event/field_value.h"

namespace gpufs {

// Appends the text of a trace_printk() record: `arguments` are packed as by the kernel's
// vbin_printf(). Missing arguments print as 0 and as empty strings.
void append_binary_printf(std::string& out, std::string_view format, RecordBytes arguments,
                          const AddressNames& names);

}  // namespace gpufs
