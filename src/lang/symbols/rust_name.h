#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// The path that a Rust symbol of the v0 mangling (RFC 2603, "_R...") names, without the hashes of
// crates: "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt". An identifier that is not ASCII stays
// in its encoded form: "punycode{grn-jka}". Absent where the symbol is not of this form, or its
// text would be longer than 4 KiB.
std::optional<std::string> rust_name(std::string_view symbol);

}  // namespace gpufs
