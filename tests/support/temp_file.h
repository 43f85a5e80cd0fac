#pragma once

#include <string>
#include <string_view>

namespace gpufs::test {

// A file below /tmp under a name of its own, removed at the end.
class TempFile {
public:
    explicit TempFile(std::string_view text = "", const std::string& suffix = "");
    ~TempFile();
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace gpufs::test
