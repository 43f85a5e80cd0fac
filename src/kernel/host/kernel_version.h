#pragma once

#include <string>

#include "base/kernel_version.h"

namespace gpufs {

// The version of the source this kernel was built from, out of the vDSO's ELF note: a
// distribution's uname(2) may tell another (Debian's 4.19.0-27 is 4.19.316). Where there is no
// vDSO, from uname(2).
KernelVersion running_kernel();

// What the kernel calls itself, uname(2)'s release: "6.17.0-rc3", "6.1.0-56-amd64".
std::string running_release();
// System, node, release and machine of uname(2), as recordings have them: "Linux host 6.12.41
// x86_64".
std::string running_uname();

}  // namespace gpufs
