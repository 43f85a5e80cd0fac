#include "kernel/host/program_path.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

namespace gpufs {

std::optional<std::string> find_program_in_path(const std::string& name) {
    const char* const path = std::getenv("PATH");
    for (const std::string& folder : split(path ? path : "/usr/sbin:/usr/bin", ':')) {
        std::string whole = path_from(folder.empty() ? "." : folder, name);
        if (is_regular_file(whole) && ::access(whole.c_str(), X_OK) == 0) return whole;
    }
    return std::nullopt;
}

}  // namespace gpufs
