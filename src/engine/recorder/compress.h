#pragma once

#include <string>

namespace gpufs {

// Replaces a finished trace.dat of version 6 with one buffer by a trace.dat of version 7 with the
// same content, compressed with zstd. Writes a temporary file and renames it, so that the recording
// is complete at any moment. Throws SysError, and Error if the file is not such a trace.dat; the
// file is then unchanged.
void compress_recording(const std::string& path);

}  // namespace gpufs
