#include "cmd/shared/source_input.h"

#include <unistd.h>

#include "base/file.h"

namespace gpufs {

SourceText read_source(const std::string& path) {
    if (path != "-") return {path, read_file(path)};
    return {std::string(kStandardInput), read_all(STDIN_FILENO, kStandardInput)};
}

}  // namespace gpufs
