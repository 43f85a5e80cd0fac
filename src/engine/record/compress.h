#pragma once

#include <string>

namespace gpufs {

// Replaces a finished trace.dat of version 6, which has one buffer, by one of version 7 with the
// same content, compressed with zstd. It is written beside it first: the file is whole at any
// moment. Throws SysError, and Error where the file is no such trace.dat; it is as it was then.
void compress_recording(const std::string& path);

}  // namespace gpufs
