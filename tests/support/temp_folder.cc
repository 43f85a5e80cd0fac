#include "support/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace gpufs::test {

TempFolder::TempFolder() {
    std::string name = "/tmp/gpufs-test-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace gpufs::test
