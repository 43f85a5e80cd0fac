#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "gpufs/lang/program_types.h"

namespace gpufs {

// What programs keep and send, member by member as it lies in memory. `bytes` is the whole key,
// value or record; members that it is too short for are left out.

// `comm="bash" pid=4711 file="/etc/passwd"`; a lone value without a name is just the value.
// Addresses and raw bytes are in hex. `skip` names a member that is not shown.
std::string values_text(const Layout& layout, std::span<const std::byte> bytes,
                        std::string_view skip = {});

// The same as one JSON object. Numbers as numbers; addresses and raw bytes as text in hex.
std::string values_json(const Layout& layout, std::span<const std::byte> bytes,
                        std::string_view skip = {});

}  // namespace gpufs
