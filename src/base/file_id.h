#pragma once

#include <sys/stat.h>

#include <compare>
#include <optional>
#include <string>

namespace gpufs {

// What tells files apart: all names and descriptors of one file have the same.
struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    auto operator<=>(const FileId&) const = default;
};

inline FileId file_id(const struct stat& facts) {
    return {facts.st_dev, facts.st_ino};
}
// Absent where there is no such file, or it may not be looked at.
inline std::optional<FileId> file_id(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? std::optional(file_id(facts)) : std::nullopt;
}
inline std::optional<FileId> file_id(int fd) {
    struct stat facts {};
    return ::fstat(fd, &facts) == 0 ? std::optional(file_id(facts)) : std::nullopt;
}

}  // namespace gpufs
