#pragma once

#include <filesystem>
#include <string>

namespace gpufs::test {

// A directory of this test's own, gone with it and all that is in it.
class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::filesystem::path& name) const {
        return path_ / name;
    }
    std::string file(const std::string& name) const { return path_ / name; }
    // A shell command, run in it, which $D names; $B is where make puts things, $EXE this program.
    bool run(const std::string& command) const;

private:
    std::filesystem::path path_;
};

}  // namespace gpufs::test
