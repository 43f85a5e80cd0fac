#pragma once

#include <string>

#include "engine/symbols/symbols.h"

namespace gpufs {

// A place in code, in the format of perf and bcc: "puts+0x1c (libc.so.6)", "schedule+0x2b",
// "amdgpu_job_run+0x40 [amdgpu]", "main+0x7 (demo) at main.cc:42". Without a function, the address
// in the module, as addr2line takes it: "libc.so.6+0x2a1f3". Outside of any module, the address:
// "0x7ffc00c01000".
std::string to_text(const Frame& frame);

}  // namespace gpufs
