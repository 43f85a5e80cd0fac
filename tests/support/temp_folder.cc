#include "support/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/path.h"
#include "support/nest.h"

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

bool TempFolder::run(const std::string& command) const {
    const std::string whole = "D=" + path_.string() + " B=" + Nest::build_file("") +
                              " EXE=" + link_target("/proc/self/exe") + "; cd $D && { " + command +
                              "; } >/dev/null 2>&1";
    return std::system(whole.c_str()) == 0;
}

}  // namespace gpufs::test
