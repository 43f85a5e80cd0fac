#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpufs {

// Paths as texts: nothing is looked up.

// Behind the last slash: "b.c" of "/a/b.c" and of "b.c", "" of "/a/".
std::string_view file_name(std::string_view path);
// The name without what stands behind its last dot: "b" of "/a/b.c", ".c" of "/a/.c".
std::string_view file_stem(std::string_view path);
// Where the file lies: "/a" of "/a/b", "/" of "/b", "." of "b".
std::string parent_directory(std::string_view path);
// `path` as seen from a directory: itself where it is absolute or the directory is "." or "".
std::string path_from(std::string_view directory, std::string_view path);
// Without ".", "..", and doubled slashes; a ".." that a symbolic link stands before leads
// elsewhere.
std::string normal_path(std::string_view path);

// What the file system says.

// The absolute path without symbolic links, of realpath(3); absent if nothing is there.
std::optional<std::string> real_path(const std::string& path);
// As seen from the working directory, which throws SysError where it has no path.
std::string absolute_path(const std::string& path);
// Where a symbolic link leads to, of readlink(2); "" where it is none or may not be read.
std::string link_target(const std::string& path);

// Makes a directory and those it lies in, where they are missing. Throws SysError with its path.
void make_directories(const std::string& path);

}  // namespace gpufs
